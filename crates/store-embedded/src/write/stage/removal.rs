//! Removing streams for good, and letting a new stream take the place of an old one in the lists.

use std::sync::Arc;

use everstep_model::{RecordNumber, StreamNumber, Term};
use everstep_store::{Head, Outcome, RemoveCommit, Row, StoreError, judge_removal};

use super::batch::Stage;
use super::sets::Moves;
use crate::encoding::keys;
use crate::encoding::values;

/// A stream whose place another one takes, and the lists it leaves.
pub(super) struct Superseded {
    old: StreamNumber,
    moves: Option<Moves>,
}

/// What is left of a stream to remove.
struct Removal {
    /// The first records of its frames.
    frames: Vec<RecordNumber>,
    /// Its rows and its name.
    lookups: Vec<Vec<u8>>,
    /// The lists it leaves.
    moves: Moves,
}

impl Stage<'_> {
    /// Judges a removal and stages it.
    pub(super) fn remove(&mut self, commit: &RemoveCommit) -> Result<Outcome, StoreError> {
        let mut heads = Vec::new();
        for number in &commit.streams {
            heads.push(self.head(*number)?);
        }
        let judged: Vec<Option<&Head>> = heads.iter().map(Option::as_deref).collect();
        let context = self.context(commit.streams.first().copied().unwrap_or_default());
        let refusal = judge_removal(&judged, commit, &context);
        context.check()?;
        if let Some(refusal) = refusal {
            return Ok(Outcome::Refused(refusal));
        }
        let latest = heads.first().and_then(Option::as_ref);
        let outcome = Outcome::Committed {
            stream: latest.map(|head| head.number).unwrap_or_default(),
            first: latest.map(|head| head.next).unwrap_or_default(),
            before: Vec::new(),
            taken: None,
        };
        let unchanged = self.unchanged(&commit.rows.delete_exact)?;
        // Reads come first, because they may fail.
        let mut removals = Vec::new();
        for head in heads.iter().flatten() {
            removals.push(self.plan_removal(head)?);
        }
        for key in commit.rows.delete.iter().chain(&unchanged) {
            self.stage_row(key, None);
        }
        for (head, removal) in heads.iter().flatten().zip(removals) {
            self.remove_stream(head, removal);
        }
        for row in &commit.rows.put {
            let mut row = row.clone();
            if let Row::Shared(row) = &mut row {
                row.fill_in(self.now);
            }
            self.stage_row(&row.key(), Some(&row));
        }
        let removed = values::encode_removed(self.next_stream, self.term);
        self.lookups.insert(keys::REMOVED.to_vec(), Some(removed));
        Ok(outcome)
    }

    fn plan_removal(&mut self, head: &Head) -> Result<Removal, StoreError> {
        let stream = head.number;
        let moves = self.plan_moves(head, None)?;
        let all = (RecordNumber(0), RecordNumber(u64::MAX));
        let frames = self.stored_frames(stream, all.0, all.1, all.1)?;
        let mut lookups = vec![keys::name(head.name.as_str())];
        for prefix in keys::rows_of_stream(stream) {
            lookups.extend(self.view().lookup_keys(&prefix)?);
        }
        Ok(Removal {
            frames: frames.into_iter().map(|frame| frame.first).collect(),
            lookups,
            moves,
        })
    }

    fn remove_stream(&mut self, head: &Head, removal: Removal) {
        let stream = head.number;
        for first in removal.frames {
            self.frames.insert((stream, first), None);
        }
        let prefixes = keys::rows_of_stream(stream);
        let is_of_stream = |key: &[u8]| prefixes.iter().any(|prefix| key.starts_with(prefix));
        for (_, value) in self.lookups.iter_mut().filter(|(key, _)| is_of_stream(key)) {
            *value = None;
        }
        let found = removal.lookups.into_iter();
        self.lookups.extend(found.map(|key| (key, None)));
        self.make_moves(removal.moves);
        if let Some(staged) = self.heads.get_mut(&stream.0) {
            staged.is_removed = true;
            staged.row_changed = true;
        }
        self.term = self.term.max(Term(head.term.0 + 1));
    }

    /// Another stream is to take the place of this one.
    pub(super) fn plan_superseding(&mut self, old: StreamNumber) -> Result<Superseded, StoreError> {
        let moves = match self.head(old)? {
            Some(head) => {
                let mut after = Head::clone(&head);
                after.superseded = true;
                Some(self.plan_moves(&head, Some(&after))?)
            }
            None => None,
        };
        Ok(Superseded { old, moves })
    }

    pub(super) fn supersede(&mut self, Superseded { old, moves }: Superseded) {
        if let Some(moves) = moves {
            self.make_moves(moves);
        }
        if let Some(staged) = self.heads.get_mut(&old.0) {
            Arc::make_mut(&mut staged.head).superseded = true;
            staged.row_changed = true;
        }
    }
}
