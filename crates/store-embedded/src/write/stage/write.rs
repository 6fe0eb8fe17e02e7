//! Judges commits and stages their changes, by kind of commit.

use std::sync::Arc;

use everstep_model::{Entry, Frame, RecordNumber, StreamNumber};
use everstep_store::{
    AppendCommit, Commit, CreateCommit, DeliverCommit, Head, Outcome, Refusal, Row, RowChanges,
    RowKey, RowsCommit, SharedRow, StoreError, Verdict, judge_append, judge_create, judge_deliver,
    judge_rows,
};

use super::batch::{Stage, Staged};
use crate::encoding::keys;
use crate::encoding::values;

impl Stage<'_> {
    pub(super) fn create(
        &mut self,
        create: &CreateCommit,
        commit: &Commit,
    ) -> Result<Outcome, Refusal> {
        let superseded = match create.supersedes {
            Some(old) => Some(self.plan_superseding(old)?),
            None => None,
        };
        let name = keys::name(create.name.as_str());
        if let Some(number) = self.lookup(&name, "a stream's name", values::decode_number)? {
            return Err(Refusal::Exists(StreamNumber(number)));
        }
        let stream = self.next_stream;
        let head = Head::new(stream, create.name.clone(), self.term);
        let verdict = self.judge(stream, |context| {
            judge_create(head.clone(), create, context)
        });
        let outcome = self.conclude(&head, verdict, None, commit)?;
        let number = values::encode_number(stream.0);
        self.lookups.insert(name, Some(number));
        self.next_stream = stream.next();
        if let Some(moves) = superseded {
            self.supersede(moves);
        }
        Ok(outcome)
    }

    pub(super) fn append(
        &mut self,
        append: &AppendCommit,
        commit: &Commit,
    ) -> Result<Outcome, Refusal> {
        let stream = append.stream;
        let head = self.head(stream)?.ok_or(Refusal::NoStream)?;
        let verdict = self.judge(stream, |context| judge_append(&head, append, context));
        self.conclude(&head, verdict, Some(append.executor.seen), commit)
    }

    pub(super) fn deliver(
        &mut self,
        deliver: &DeliverCommit,
        commit: &Commit,
    ) -> Result<Outcome, Refusal> {
        let stream = deliver.stream;
        let head = self.head(stream)?.ok_or(Refusal::NoStream)?;
        let verdict = self.judge(stream, |context| judge_deliver(&head, deliver, context));
        let outcome = self.conclude(&head, verdict, None, commit)?;
        if let (Some(id), Outcome::Committed { first, .. }) = (&deliver.dedup, &outcome) {
            let first = values::encode_number(first.0);
            self.lookups.insert(keys::dedup(stream, id), Some(first));
        }
        Ok(outcome)
    }

    pub(super) fn change_rows(&mut self, commit: &RowsCommit) -> Result<Outcome, Refusal> {
        let stream = commit.stream;
        let head = self.head(stream)?;
        self.judge(stream, |context| {
            judge_rows(head.as_deref(), commit, context)
        })?;
        let first = head.map(|head| head.next).unwrap_or_default();
        let unchanged = self.unchanged(&commit.rows.delete_exact)?;
        self.stage_rows(&commit.rows, &unchanged, stream, first);
        Ok(Outcome::committed(stream, first))
    }

    /// Turns a verdict into an outcome, and stages the commit accordingly. `seen` is the number of
    /// records that an executor has seen.
    fn conclude(
        &mut self,
        head: &Head,
        verdict: Result<Verdict, Refusal>,
        seen: Option<RecordNumber>,
        commit: &Commit,
    ) -> Result<Outcome, Refusal> {
        let stream = head.number;
        match verdict {
            Ok(Verdict::Apply {
                head: after,
                first,
                taken,
            }) => {
                let before = self.unseen(stream, seen, first)?;
                self.apply(head, *after, commit, first)?;
                Ok(Outcome::Committed {
                    stream,
                    first,
                    before,
                    taken,
                })
            }
            Ok(Verdict::Duplicate { first }) => Ok(Outcome::Duplicate {
                stream,
                first,
                before: self.unseen(stream, seen, first)?,
            }),
            Err(Refusal::InboxGrew { .. }) => Err(Refusal::InboxGrew {
                missed: self.unseen(stream, seen, head.next)?,
            }),
            Err(refusal) => Err(refusal),
        }
    }

    /// Returns the records before `end` that an executor has not seen; none for other authors.
    fn unseen(
        &self,
        stream: StreamNumber,
        seen: Option<RecordNumber>,
        end: RecordNumber,
    ) -> Result<Vec<Entry>, StoreError> {
        seen.map_or(Ok(Vec::new()), |seen| self.entries(stream, seen, end))
    }

    fn apply(
        &mut self,
        before: &Head,
        after: Head,
        commit: &Commit,
        first: RecordNumber,
    ) -> Result<(), StoreError> {
        let stream = after.number;
        // Reads come first, because they may fail.
        let moves = self.plan_moves(before, Some(&after))?;
        let unchanged = self.unchanged(&commit.rows().delete_exact)?;
        self.drop_records(stream, commit.dropped(), first)?;
        self.stage_rows(commit.rows(), &unchanged, stream, after.next);
        if !commit.records().is_empty() {
            let frame = Frame::encode(&after.frame, commit.records());
            self.frames.insert((stream, first), Some(frame));
        }
        self.make_moves(moves);
        let row_changed = needs_row(before, &after, commit);
        let after = Arc::new(after);
        let staged = self.heads.entry(stream).or_insert_with(|| Staged {
            before: None,
            head: after.clone(),
            row_changed: true,
            is_removed: false,
        });
        staged.head = after;
        staged.row_changed |= row_changed;
        Ok(())
    }

    /// Stages deletions, then rows of this stream, which ends at `end` after the commit.
    fn stage_rows(
        &mut self,
        rows: &RowChanges,
        unchanged: &[RowKey],
        stream: StreamNumber,
        end: RecordNumber,
    ) {
        for key in rows.delete.iter().chain(unchanged) {
            self.stage_row(key, None);
        }
        for row in &rows.put {
            let row = row.clone().filled_in(stream, end, self.now);
            self.stage_row(&row.key(), Some(&row));
        }
    }

    /// Returns the keys of the rows that equal the stored ones. A damaged row differs, so it stays
    /// and does not refuse the commit.
    pub(super) fn unchanged(&self, rows: &[SharedRow]) -> Result<Vec<RowKey>, StoreError> {
        let mut unchanged = Vec::new();
        for row in rows {
            let key = RowKey::Shared(row.key.clone());
            match self.row(&key) {
                Ok(Some(Row::Shared(stored))) if stored == *row => unchanged.push(key),
                Err(error) if !error.is_damage() => return Err(error),
                Ok(_) | Err(_) => {}
            }
        }
        Ok(unchanged)
    }
}

/// Returns whether the row of the head must be written. Frames contain the counts; everything else
/// is only in that row, and so are counts without a frame.
fn needs_row(before: &Head, after: &Head, commit: &Commit) -> bool {
    before.epoch != after.epoch
        || before.owner != after.owner
        || before.takeovers != after.takeovers
        || before.ready != after.ready
        || before.gate != after.gate
        || before.closed != after.closed
        || before.run != after.run
        || (commit.records().is_empty()
            && (before.frame != after.frame || !commit.dropped().is_empty()))
}
