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

impl Stage<'_> {
    /// Judges a removal and stages it.
    pub(super) fn remove(&mut self, commit: &RemoveCommit) -> Result<Outcome, StoreError> {
        let mut heads = Vec::new();
        for number in &commit.streams {
            heads.push(self.head(*number)?);
        }
        let judged: Vec<Option<&Head>> = heads.iter().map(Option::as_deref).collect();
        let world = self.world(commit.streams.first().copied().unwrap_or_default());
        let refusal = judge_removal(&judged, commit, &world);
        world.check()?;
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
        let unchanged = self.unchanged(&commit.delete_exact)?;
        let mut moves = Vec::new();
        for head in heads.iter().flatten() {
            moves.push(self.plan_moves(head, None)?);
        }
        for key in commit.delete.iter().chain(&unchanged) {
            self.stage_row(key, None);
        }
        for (head, moves) in heads.iter().flatten().zip(moves) {
            self.remove_stream(head)?;
            self.make_moves(moves);
        }
        for row in &commit.put {
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

    fn remove_stream(&mut self, head: &Head) -> Result<(), StoreError> {
        let stream = head.number;
        let all = (RecordNumber(0), RecordNumber(u64::MAX));
        for frame in self.stored_frames(stream, all.0, all.1, all.1)? {
            self.frames.insert((stream, frame.first), None);
        }
        for prefix in keys::rows_of_stream(stream) {
            let mut found = self.view().lookup_keys(&prefix)?;
            let staged = self.lookups.keys();
            found.extend(staged.filter(|key| key.starts_with(&prefix)).cloned());
            for key in found {
                self.lookups.insert(key, None);
            }
        }
        self.lookups.insert(keys::name(head.name.as_str()), None);
        if let Some(staged) = self.heads.get_mut(&stream.0) {
            staged.is_removed = true;
            staged.row_changed = true;
        }
        self.term = self.term.max(Term(head.term.0 + 1));
        Ok(())
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
