//! Judging a commit and staging what it does, by kind of commit.

use std::cell::RefCell;
use std::sync::Arc;

use everstep_model::{Entry, Frame, Record, RecordNumber, RecordRange, StreamNumber};
use everstep_store::{
    AppendCommit, CreateCommit, DeliverCommit, Head, Outcome, Refusal, Row, RowChanges, RowKey,
    RowsCommit, SharedRow, StoreError, Verdict, judge_append, judge_create, judge_deliver,
    judge_rows, judge_superseded,
};

use super::batch::{Stage, Staged};
use super::overlay::Context;
use crate::encoding::keys;
use crate::encoding::values;

/// What a commit changes besides the head of its stream.
struct Parts<'c> {
    records: &'c [Record],
    drop: &'c [RecordRange],
    rows: &'c RowChanges,
}

impl<'a> Stage<'a> {
    pub(super) fn create(&mut self, commit: &CreateCommit) -> Result<Outcome, StoreError> {
        let mut superseded = None;
        if let Some(old) = commit.supersedes {
            if let Some(refusal) = judge_superseded(self.head(old)?.as_deref()) {
                return Ok(Outcome::Refused(refusal));
            }
            superseded = Some(self.plan_superseding(old)?);
        }
        let name = keys::name(commit.name.as_str());
        if let Some(bytes) = self.lookup(&name)? {
            let number = values::decode_number(&bytes);
            let number = number.map_err(|e| self.view().unreadable("a stream's name", e))?;
            return Ok(Outcome::Refused(Refusal::Exists(StreamNumber(number))));
        }
        let stream = self.next_stream;
        let head = Head::new(stream, commit.name.clone(), self.term);
        let context = self.context(stream);
        let verdict = judge_create(head.clone(), commit, &context);
        context.check()?;
        let parts = Parts {
            records: &commit.records,
            drop: &[],
            rows: &commit.rows,
        };
        let outcome = self.conclude(&head, verdict, None, &parts)?;
        if let Outcome::Committed { .. } = outcome {
            let number = values::encode_number(stream.0);
            self.lookups.insert(name, Some(number));
            self.next_stream = stream.next();
            if let Some(superseded) = superseded {
                self.supersede(superseded);
            }
        }
        Ok(outcome)
    }

    pub(super) fn append(&mut self, commit: &AppendCommit) -> Result<Outcome, StoreError> {
        let stream = commit.stream;
        let Some(head) = self.head(stream)? else {
            return Ok(Outcome::Refused(Refusal::NoStream));
        };
        let context = self.context(stream);
        let verdict = judge_append(&head, commit, &context);
        context.check()?;
        let seen = Some(commit.executor.seen);
        let parts = Parts {
            records: &commit.records,
            drop: &commit.drop,
            rows: &commit.rows,
        };
        self.conclude(&head, verdict, seen, &parts)
    }

    pub(super) fn deliver(&mut self, commit: &DeliverCommit) -> Result<Outcome, StoreError> {
        let stream = commit.stream;
        let Some(head) = self.head(stream)? else {
            return Ok(Outcome::Refused(Refusal::NoStream));
        };
        let context = self.context(stream);
        let verdict = judge_deliver(&head, commit, &context);
        context.check()?;
        let parts = Parts {
            records: &commit.records,
            drop: &commit.drop,
            rows: &commit.rows,
        };
        let outcome = self.conclude(&head, verdict, None, &parts)?;
        if let (Some(id), Outcome::Committed { first, .. }) = (&commit.dedup, &outcome) {
            let place = values::encode_number(first.0);
            self.lookups.insert(keys::dedup(stream, id), Some(place));
        }
        Ok(outcome)
    }

    pub(super) fn change_rows(&mut self, commit: &RowsCommit) -> Result<Outcome, StoreError> {
        let stream = commit.stream;
        let head = self.head(stream)?;
        let context = self.context(stream);
        let refusal = judge_rows(head.as_deref(), commit, &context);
        context.check()?;
        if let Some(refusal) = refusal {
            return Ok(Outcome::Refused(refusal));
        }
        let first = head.map(|head| head.next).unwrap_or_default();
        let unchanged = self.unchanged(&commit.rows.delete_exact)?;
        self.stage_rows(&commit.rows, &unchanged, stream, first);
        Ok(Outcome::Committed {
            stream,
            first,
            before: Vec::new(),
            taken: None,
        })
    }

    pub(super) fn context(&self, stream: StreamNumber) -> Context<'_, 'a> {
        Context {
            stage: self,
            stream,
            failure: RefCell::new(None),
        }
    }

    /// Stages a commit if the verdict says so. `seen` is the number of records that an executor
    /// knows.
    fn conclude(
        &mut self,
        head: &Head,
        verdict: Verdict,
        seen: Option<RecordNumber>,
        parts: &Parts<'_>,
    ) -> Result<Outcome, StoreError> {
        let stream = head.number;
        match verdict {
            Verdict::Apply {
                head: after,
                first,
                taken,
            } => {
                let before = self.unseen(stream, seen, first)?;
                self.apply(head, *after, parts, first)?;
                Ok(Outcome::Committed {
                    stream,
                    first,
                    before,
                    taken,
                })
            }
            Verdict::Duplicate { first } => Ok(Outcome::Duplicate {
                stream,
                first,
                before: self.unseen(stream, seen, first)?,
            }),
            Verdict::InboxGrew { seen } => Ok(Outcome::Refused(Refusal::InboxGrew {
                missed: self.entries(stream, seen, head.next)?,
            })),
            Verdict::Refuse(refusal) => Ok(Outcome::Refused(refusal)),
        }
    }

    /// The records that an executor has not seen; an inbox commit reports none.
    fn unseen(
        &self,
        stream: StreamNumber,
        seen: Option<RecordNumber>,
        first: RecordNumber,
    ) -> Result<Vec<Entry>, StoreError> {
        seen.map_or(Ok(Vec::new()), |seen| self.entries(stream, seen, first))
    }

    fn apply(
        &mut self,
        before: &Head,
        after: Head,
        parts: &Parts<'_>,
        first: RecordNumber,
    ) -> Result<(), StoreError> {
        // Reads come first, because they may fail.
        let moves = self.plan_moves(before, Some(&after))?;
        self.stage_parts(parts, &after, first)?;
        self.make_moves(moves);
        let row_changed = needs_row(before, &after, parts);
        let after = Arc::new(after);
        let staged = self.heads.entry(after.number.0).or_insert_with(|| Staged {
            before: None,
            head: after.clone(),
            row_changed: true,
            is_removed: false,
        });
        staged.head = after;
        staged.row_changed |= row_changed;
        Ok(())
    }

    fn stage_parts(
        &mut self,
        parts: &Parts<'_>,
        after: &Head,
        first: RecordNumber,
    ) -> Result<(), StoreError> {
        let stream = after.number;
        let unchanged = self.unchanged(&parts.rows.delete_exact)?;
        self.drop_records(stream, parts.drop, first)?;
        self.stage_rows(parts.rows, &unchanged, stream, after.next);
        if !parts.records.is_empty() {
            let frame = Frame::encode(&after.frame, parts.records);
            self.frames.insert((stream, first), Some(frame));
        }
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

    /// The keys of those rows that are stored as they are given here. A damaged row differs, so it
    /// stays and does not refuse the commit.
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

/// Whether the row of the head must be written. Frames carry the counts; everything else is only in
/// that row, and so are counts that no frame carries.
fn needs_row(before: &Head, after: &Head, parts: &Parts<'_>) -> bool {
    before.epoch != after.epoch
        || before.owner != after.owner
        || before.takeovers != after.takeovers
        || before.ready != after.ready
        || before.gate != after.gate
        || before.closed != after.closed
        || before.run != after.run
        || (parts.records.is_empty() && before.frame != after.frame)
        || (parts.records.is_empty() && !parts.drop.is_empty())
}
