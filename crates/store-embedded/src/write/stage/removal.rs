//! Removing streams, and replacing an old stream by a new one in the lists.

use std::sync::Arc;

use everstep_model::{RecordNumber, StreamNumber, Term};
use everstep_store::{
    Head, Outcome, Refusal, RemoveCommit, StoreError, judge_removal, judge_superseded,
};

use super::batch::Stage;
use super::sets::Moves;
use crate::encoding::keys;
use crate::encoding::values;

/// The stored data of a stream that is removed.
struct Removal {
    /// The first records of its frames.
    frames: Vec<RecordNumber>,
    /// The keys of its rows and its name.
    lookups: Vec<Vec<u8>>,
    moves: Moves,
}

impl Stage<'_> {
    pub(super) fn remove(&mut self, commit: &RemoveCommit) -> Result<Outcome, Refusal> {
        let mut heads = Vec::new();
        for number in &commit.streams {
            heads.push(self.head(*number)?);
        }
        let judged: Vec<Option<&Head>> = heads.iter().map(Option::as_deref).collect();
        let stream = commit.streams.first().copied().unwrap_or_default();
        self.judge(stream, |context| judge_removal(&judged, commit, context))?;
        let latest = judged.first().copied().flatten();
        let first = latest.map(|head| head.next).unwrap_or_default();
        // Reads come first, because they may fail.
        let unchanged = self.unchanged(&commit.rows.delete_exact)?;
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
            let row = row.clone().stamped(self.now);
            self.stage_row(&row.key(), Some(&row));
        }
        let removed = values::encode_removed(self.next_stream, self.term);
        self.lookups.insert(keys::REMOVED.to_vec(), Some(removed));
        Ok(Outcome::committed(stream, first))
    }

    fn plan_removal(&mut self, head: &Head) -> Result<Removal, StoreError> {
        let stream = head.number;
        let moves = self.plan_moves(head, None)?;
        // Not the frames themselves, because a journal may be larger than the memory.
        let mut frames = self.view().frame_numbers(stream)?;
        let staged = (stream, RecordNumber(0))..=(stream, RecordNumber(u64::MAX));
        frames.extend(self.frames.range(staged).map(|((_, first), _)| *first));
        let mut lookups = vec![keys::name(head.name.as_str())];
        for prefix in keys::rows_of_stream(stream) {
            lookups.extend(self.view().lookup_keys(&prefix)?);
        }
        Ok(Removal {
            frames,
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
        if let Some(staged) = self.heads.get_mut(&stream) {
            staged.is_removed = true;
            staged.row_changed = true;
        }
        self.term = self.term.max(Term(head.term.0 + 1));
    }

    /// Judges whether a new stream may replace this one, and reads the pages that it leaves.
    pub(super) fn plan_superseding(&mut self, old: StreamNumber) -> Result<Moves, Refusal> {
        let head = self.head(old)?;
        judge_superseded(head.as_deref())?;
        let before = head.ok_or(Refusal::NoStream)?;
        let mut after = Head::clone(&before);
        after.superseded = true;
        Ok(self.plan_moves(&before, Some(&after))?)
    }

    pub(super) fn supersede(&mut self, moves: Moves) {
        if let Some(staged) = self.heads.get_mut(&moves.stream) {
            Arc::make_mut(&mut staged.head).superseded = true;
            staged.row_changed = true;
        }
        self.make_moves(moves);
    }
}
