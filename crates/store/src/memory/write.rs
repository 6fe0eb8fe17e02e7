//! Commits to a memory store.

use everstep_model::{
    Entry, NodeId, Record, RecordNumber, RecordRange, StreamNumber, Term, Timestamp,
};

use super::state::{State, Stream};
use crate::commit::{
    AppendCommit, Commit, CreateCommit, DeliverCommit, RemoveCommit, RowChanges, RowsCommit,
};
use crate::head::Head;
use crate::judge::{
    JudgeContext, Verdict, judge_append, judge_create, judge_deliver, judge_removal, judge_rows,
    judge_superseded,
};
use crate::outcome::{Outcome, Refusal};
use crate::row::{Row, RowKey};

/// The context of a judgement.
struct Context<'a> {
    state: &'a State,
    stream: Option<&'a Stream>,
    now: Timestamp,
}

impl JudgeContext for Context<'_> {
    fn now(&self) -> Timestamp {
        self.now
    }

    fn is_alive(&self, node: NodeId) -> bool {
        self.state.is_alive(node, self.now)
    }

    fn row(&self, key: &RowKey) -> Option<Row> {
        self.state.row(key)
    }

    fn dedup(&self, id: &str) -> Option<RecordNumber> {
        self.stream?.dedup.get(id).copied()
    }
}

impl State {
    pub(super) fn commit(&mut self, batch: &[Commit], now: Timestamp) -> Vec<Outcome> {
        self.answers.begin(batch);
        let batch = batch.iter();
        batch.map(|commit| self.commit_once(commit, now)).collect()
    }

    fn commit_once(&mut self, commit: &Commit, now: Timestamp) -> Outcome {
        let Some(id) = commit.id() else {
            return self.commit_one(commit, now);
        };
        if let Some(outcome) = self.answers.of(id) {
            return outcome;
        }
        let outcome = self.commit_one(commit, now);
        self.answers.keep(id, outcome.clone());
        outcome
    }

    fn commit_one(&mut self, commit: &Commit, now: Timestamp) -> Outcome {
        let result = match commit {
            Commit::Create(commit) => self.create(commit, now),
            Commit::Append(commit) => self.append(commit, now),
            Commit::Deliver(commit) => self.deliver(commit, now),
            Commit::ChangeRows(commit) => self.change_rows(commit, now),
            Commit::Remove(commit) => self.remove(commit, now),
        };
        result.unwrap_or_else(Outcome::Refused)
    }

    fn create(&mut self, commit: &CreateCommit, now: Timestamp) -> Result<Outcome, Refusal> {
        if let Some(old) = commit.supersedes {
            judge_superseded(self.streams.get(&old).map(|stream| &stream.head))?;
        }
        if let Some(number) = self.names.get(&commit.name) {
            return Err(Refusal::Exists(*number));
        }
        let number = self.last_number.next();
        let head = Head::new(number, commit.name.clone(), self.term);
        let verdict = judge_create(head, commit, &self.context(None, now));
        self.conclude(number, verdict, None, |state, head, first| {
            state.names.insert(commit.name.clone(), number);
            state.last_number = number;
            state.change(&commit.rows, &head, now);
            let superseded = commit.supersedes;
            if let Some(old) = superseded.and_then(|old| state.streams.get_mut(&old)) {
                old.head.superseded = true;
            }
            state.streams.insert(number, Stream::new(head.clone()));
            state.write(head, &commit.records, &[], first);
        })
    }

    fn append(&mut self, commit: &AppendCommit, now: Timestamp) -> Result<Outcome, Refusal> {
        let stream = self.streams.get(&commit.stream).ok_or(Refusal::NoStream)?;
        let verdict = judge_append(&stream.head, commit, &self.context(Some(stream), now));
        let seen = Some(commit.executor.seen);
        self.conclude(commit.stream, verdict, seen, |state, head, first| {
            state.change(&commit.rows, &head, now);
            state.write(head, &commit.records, &commit.drop, first);
        })
    }

    fn deliver(&mut self, commit: &DeliverCommit, now: Timestamp) -> Result<Outcome, Refusal> {
        let stream = self.streams.get(&commit.stream).ok_or(Refusal::NoStream)?;
        let verdict = judge_deliver(&stream.head, commit, &self.context(Some(stream), now));
        self.conclude(commit.stream, verdict, None, |state, head, first| {
            state.change(&commit.rows, &head, now);
            state.write(head, &commit.records, &commit.drop, first);
            let stream = state.streams.get_mut(&commit.stream);
            if let (Some(id), Some(stream)) = (&commit.dedup, stream) {
                stream.dedup.insert(id.clone(), first);
            }
        })
    }

    fn change_rows(&mut self, commit: &RowsCommit, now: Timestamp) -> Result<Outcome, Refusal> {
        let stream = self.streams.get(&commit.stream);
        let head = stream.map(|stream| stream.head.clone());
        judge_rows(head.as_ref(), commit, &self.context(stream, now))?;
        match &head {
            Some(head) => self.change(&commit.rows, head, now),
            None => self.delete(&commit.rows),
        }
        let next = head.map(|head| head.next).unwrap_or_default();
        Ok(Outcome::committed(commit.stream, next))
    }

    fn remove(&mut self, commit: &RemoveCommit, now: Timestamp) -> Result<Outcome, Refusal> {
        let head = |number| self.streams.get(number).map(|stream| &stream.head);
        let heads: Vec<_> = commit.streams.iter().map(head).collect();
        let next = heads.first().copied().flatten().map(|latest| latest.next);
        judge_removal(&heads, commit, &self.context(None, now))?;
        self.delete(&commit.rows);
        for number in &commit.streams {
            let Some(stream) = self.streams.remove(number) else {
                continue;
            };
            self.names.remove(&stream.head.name);
            self.rows.retain(|key, _| key.goes_with() != Some(*number));
            self.term = self.term.max(Term(stream.head.term.0 + 1));
        }
        for row in &commit.rows.put {
            let row = row.clone().stamped(now);
            self.rows.insert(row.key(), row);
        }
        let latest = commit.streams.first().copied().unwrap_or_default();
        Ok(Outcome::committed(latest, next.unwrap_or_default()))
    }

    fn context<'a>(&'a self, stream: Option<&'a Stream>, now: Timestamp) -> Context<'a> {
        Context {
            state: self,
            stream,
            now,
        }
    }

    /// Turns a verdict into an outcome, and applies the commit accordingly. `seen` is the number of
    /// records that an executor has seen.
    fn conclude(
        &mut self,
        stream: StreamNumber,
        verdict: Result<Verdict, Refusal>,
        seen: Option<RecordNumber>,
        apply: impl FnOnce(&mut Self, Head, RecordNumber),
    ) -> Result<Outcome, Refusal> {
        let unseen = |state: &Self, first| match seen {
            Some(seen) => state.entries(stream, seen, first),
            None => Vec::new(),
        };
        match verdict {
            Ok(Verdict::Apply { head, first, taken }) => {
                let before = unseen(self, first);
                apply(self, *head, first);
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
                before: unseen(self, first),
            }),
            Err(Refusal::InboxGrew { .. }) => Err(Refusal::InboxGrew {
                missed: unseen(self, RecordNumber(u64::MAX)),
            }),
            Err(refusal) => Err(refusal),
        }
    }

    /// Deletes rows, then puts those that belong to the stream with this head.
    fn change(&mut self, rows: &RowChanges, head: &Head, now: Timestamp) {
        self.delete(rows);
        for row in &rows.put {
            let row = row.clone().filled_in(head.number, head.next, now);
            self.rows.insert(row.key(), row);
        }
    }

    fn delete(&mut self, rows: &RowChanges) {
        for key in &rows.delete {
            self.rows.remove(key);
        }
        for row in &rows.delete_exact {
            let row = Row::Shared(row.clone());
            if self.rows.get(&row.key()) == Some(&row) {
                self.rows.remove(&row.key());
            }
        }
    }

    /// Replaces the head of a stream, drops records and appends others.
    fn write(&mut self, head: Head, records: &[Record], drop: &[RecordRange], first: RecordNumber) {
        let Some(stream) = self.streams.get_mut(&head.number) else {
            return;
        };
        stream.head = head;
        for range in drop {
            stream.drop_records(*range);
        }
        let entries = records.iter().enumerate().map(|(at, record)| Entry {
            number: first.plus(at),
            record: record.clone(),
        });
        stream.entries.extend(entries);
    }

    /// Returns the records in `from..end`.
    fn entries(&self, number: StreamNumber, from: RecordNumber, end: RecordNumber) -> Vec<Entry> {
        let stream = self.streams.get(&number).into_iter();
        let entries = stream.flat_map(|stream| stream.from(from));
        entries.take_while(|e| e.number < end).cloned().collect()
    }
}
