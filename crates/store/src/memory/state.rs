//! What a memory store holds, and what a commit does to it once it is judged.

use std::collections::BTreeMap;
use std::ops::Bound;

use everstep_model::{
    Body, Entry, NodeId, RecordNumber, RecordRange, StreamName, StreamNumber, Term, Timestamp,
};

use crate::commit::{Author, Commit, Target};
use crate::contract::{Page, ReadRequest, ReadyRun, StreamRef, TimerQuery};
use crate::head::Head;
use crate::judge::{Liveness, Verdict, judge, judge_removal, judge_superseded};
use crate::list::{Cursor, ListPage, ListQuery};
use crate::outcome::{Outcome, Refusal};
use crate::row::{OutboxRow, Row, RowKey, TimerRow};

use super::answers::Answers;

#[derive(Default)]
pub(super) struct State {
    names: BTreeMap<StreamName, StreamNumber>,
    streams: BTreeMap<StreamNumber, Stream>,
    rows: BTreeMap<RowKey, Row>,
    /// The newest stream's number, removed or not.
    last_number: StreamNumber,
    /// The term of new streams: higher than that of any removed one.
    term: Term,
    /// When each node's lease runs out.
    leases: BTreeMap<NodeId, Timestamp>,
    answers: Answers,
}

struct Stream {
    head: Head,
    entries: Vec<Entry>,
    dedup: BTreeMap<String, RecordNumber>,
}

/// What a judgement may ask, as of this moment of the batch.
struct World<'a> {
    state: &'a State,
    stream: Option<&'a Stream>,
    now: Timestamp,
}

impl Liveness for World<'_> {
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
        let outcomes = batch.iter().map(|commit| self.commit_once(commit, now));
        outcomes.collect()
    }

    fn commit_once(&mut self, commit: &Commit, now: Timestamp) -> Outcome {
        let Some(id) = commit.id else {
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
        if let Target::Remove(streams) = &commit.target {
            return self.remove(streams, commit, now);
        }
        if let Some(old) = commit.supersedes {
            let old = self.streams.get(&old).map(|stream| &stream.head);
            if let Some(refusal) = judge_superseded(old) {
                return Outcome::Refused(refusal);
            }
        }
        let (head, stream) = match self.target(commit) {
            Ok(found) => found,
            Err(Refusal::NoStream) if commit.only_deletes() => return self.clear_away(commit),
            Err(refusal) => return Outcome::Refused(refusal),
        };
        let number = head.number;
        let world = World {
            state: self,
            stream,
            now,
        };
        match judge(&head, commit, &world) {
            Verdict::Apply { head, first, taken } => {
                let before = self.landed_before(number, commit, first);
                self.apply(*head, commit, first);
                Outcome::Committed {
                    stream: number,
                    first,
                    before,
                    taken,
                }
            }
            Verdict::Duplicate { first } => Outcome::Duplicate {
                stream: number,
                first,
                before: self.landed_before(number, commit, first),
            },
            Verdict::InboxGrew { seen } => Outcome::Refused(Refusal::InboxGrew {
                missed: self.entries(number, seen, RecordNumber(u64::MAX)),
            }),
            Verdict::Refuse(refusal) => Outcome::Refused(refusal),
        }
    }

    fn target(&self, commit: &Commit) -> Result<(Head, Option<&Stream>), Refusal> {
        match &commit.target {
            Target::Create(name) => match self.names.get(name) {
                Some(number) => Err(Refusal::Exists(*number)),
                None => {
                    let number = self.last_number.next();
                    let mut head = Head::new(number, name.clone(), self.term);
                    head.next = commit.begins_at;
                    Ok((head, None))
                }
            },
            Target::Stream(number) => {
                let stream = self.streams.get(number).ok_or(Refusal::NoStream)?;
                Ok((stream.head.clone(), Some(stream)))
            }
            Target::Remove(_) => Err(Refusal::NoStream),
        }
    }

    fn remove(&mut self, numbers: &[StreamNumber], commit: &Commit, now: Timestamp) -> Outcome {
        let head = |number| self.streams.get(number).map(|stream| &stream.head);
        let heads: Vec<_> = numbers.iter().map(head).collect();
        let first = heads.first().copied().flatten().map(|latest| latest.next);
        let world = World {
            state: self,
            stream: None,
            now,
        };
        if let Some(refusal) = judge_removal(&heads, commit, &world) {
            return Outcome::Refused(refusal);
        }
        for key in &commit.delete {
            self.rows.remove(key);
        }
        for number in numbers {
            let Some(stream) = self.streams.remove(number) else {
                continue;
            };
            self.names.remove(&stream.head.name);
            self.rows.retain(|key, _| match key {
                RowKey::Rpc(of, _)
                | RowKey::Outbox(of, _)
                | RowKey::Stream(of)
                | RowKey::Producer(of, _) => of != number,
                RowKey::Timer(_) | RowKey::Idempotency(..) | RowKey::Generation(_) => true,
            });
            self.term = self.term.max(Term(stream.head.term.0 + 1));
        }
        for row in &commit.put {
            self.rows.insert(row.key(), row.clone());
        }
        Outcome::Committed {
            stream: numbers.first().copied().unwrap_or_default(),
            first: first.unwrap_or_default(),
            before: Vec::new(),
            taken: None,
        }
    }

    /// Deletes rows of a stream that is gone.
    fn clear_away(&mut self, commit: &Commit) -> Outcome {
        for key in &commit.delete {
            self.rows.remove(key);
        }
        Outcome::of_gone(commit)
    }

    fn apply(&mut self, head: Head, commit: &Commit, first: RecordNumber) {
        for key in &commit.delete {
            self.rows.remove(key);
        }
        for row in &commit.put {
            let row = row.clone().placed(head.number, head.next);
            self.rows.insert(row.key(), row);
        }
        self.names.insert(head.name.clone(), head.number);
        self.last_number = self.last_number.max(head.number);
        if let Some(old) = commit.supersedes.and_then(|old| self.streams.get_mut(&old)) {
            old.head.superseded = true;
        }
        let stream = self.streams.entry(head.number).or_insert_with(|| Stream {
            head: head.clone(),
            entries: Vec::new(),
            dedup: BTreeMap::new(),
        });
        stream.head = head;
        for range in &commit.drop {
            stream.drop_records(*range);
        }
        for (place, record) in commit.records.iter().enumerate() {
            stream.entries.push(Entry {
                number: first.plus(place),
                record: record.clone(),
            });
        }
        if let Some(id) = &commit.dedup {
            stream.dedup.insert(id.clone(), first);
        }
    }

    fn landed_before(
        &self,
        number: StreamNumber,
        commit: &Commit,
        first: RecordNumber,
    ) -> Vec<Entry> {
        match commit.author {
            Author::Executor { seen, .. } => self.entries(number, seen, first),
            Author::Inbox => Vec::new(),
        }
    }

    /// The records from `from` on and before `end`.
    fn entries(&self, number: StreamNumber, from: RecordNumber, end: RecordNumber) -> Vec<Entry> {
        let Some(stream) = self.streams.get(&number) else {
            return Vec::new();
        };
        let from_on = stream.from(from);
        from_on.take_while(|e| e.number < end).cloned().collect()
    }

    pub(super) fn head(&self, stream: &StreamRef) -> Option<&Head> {
        let number = match stream {
            StreamRef::Number(number) => number,
            StreamRef::Name(name) => self.names.get(name)?,
        };
        self.streams.get(number).map(|stream| &stream.head)
    }

    pub(super) fn read(&self, request: ReadRequest) -> Option<Page> {
        let stream = self.streams.get(&request.stream)?;
        let mut bytes = 0;
        let wanted = stream.from(request.from).take(request.limit);
        let wanted = wanted.take_while(|entry| {
            let fits = bytes < request.bytes.max(1);
            bytes += size(entry);
            fits
        });
        Some(Page {
            entries: wanted.cloned().collect(),
            end: stream.head.next,
            closed: stream.head.closed,
        })
    }

    pub(super) fn list(&self, query: &ListQuery) -> ListPage {
        let end = query.cursor.map_or(StreamNumber(u64::MAX), |at| at.0);
        let newest_first = self.streams.range(..end).rev();
        let mut matching = newest_first.filter_map(|(number, stream)| {
            let row = stream.head.listed()?;
            query.matches(row).then_some((*number, row))
        });
        let mut last = end;
        let mut rows = Vec::new();
        for (number, row) in matching.by_ref().take(query.limit) {
            last = number;
            rows.push(row.clone());
        }
        let next = matching.next().map(|_| Cursor(last));
        ListPage { rows, next }
    }

    pub(super) fn timers(&self, query: &TimerQuery) -> Vec<TimerRow> {
        let from = match &query.after {
            Some(after) => Bound::Excluded(RowKey::Timer(after.clone())),
            None => Bound::Unbounded,
        };
        let rows = self.rows.range((from, Bound::Unbounded));
        let timers = rows.map_while(|(_, row)| match row {
            Row::Timer(timer) => Some(timer),
            Row::Rpc(_)
            | Row::Idempotency(_)
            | Row::Generation(_)
            | Row::Outbox(_)
            | Row::Stream(_)
            | Row::Producer(_) => None,
        });
        let due = timers.take_while(|timer| timer.due <= query.until);
        due.take(query.limit).cloned().collect()
    }

    pub(super) fn ready(
        &self,
        after: Option<StreamNumber>,
        limit: usize,
        now: Timestamp,
    ) -> Vec<ReadyRun> {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        let streams = self.streams.range((from, Bound::Unbounded));
        let ready = streams.filter_map(|(number, stream)| {
            let head = &stream.head;
            let run = head.run.as_ref().filter(|_| head.ready)?;
            let owner = head.owner.map(|owner| owner.node);
            Some(ReadyRun {
                stream: *number,
                workflow: run.workflow.clone(),
                version: run.version,
                executed_by: owner.filter(|node| self.is_alive(*node, now)),
            })
        });
        ready.take(limit).collect()
    }

    pub(super) fn outbox(
        &self,
        after: Option<(StreamNumber, String)>,
        limit: usize,
    ) -> Vec<OutboxRow> {
        let from = match after {
            Some((stream, key)) => Bound::Excluded(RowKey::Outbox(stream, key)),
            None => Bound::Included(RowKey::Outbox(StreamNumber(0), String::new())),
        };
        let rows = self.rows.range((from, Bound::Unbounded));
        let effects = rows.map_while(|(_, row)| match row {
            Row::Outbox(row) => Some(row),
            Row::Timer(_)
            | Row::Rpc(_)
            | Row::Idempotency(_)
            | Row::Generation(_)
            | Row::Stream(_)
            | Row::Producer(_) => None,
        });
        effects.take(limit).cloned().collect()
    }

    pub(super) fn row(&self, key: &RowKey) -> Option<Row> {
        self.rows.get(key).cloned()
    }

    pub(super) fn renew(&mut self, node: NodeId, until: Timestamp) {
        self.leases.insert(node, until);
    }

    pub(super) fn retire(&mut self, node: NodeId) {
        self.leases.remove(&node);
        self.answers.forget(node);
    }

    fn is_alive(&self, node: NodeId, now: Timestamp) -> bool {
        self.leases.get(&node).is_some_and(|until| now < *until)
    }
}

/// The bytes of a message; other records are small.
fn size(entry: &Entry) -> usize {
    match &entry.record.body {
        Body::Data(data) => data.bytes.len(),
        _ => 0,
    }
}

impl Stream {
    fn from(&self, from: RecordNumber) -> impl Iterator<Item = &Entry> {
        let place = self.entries.partition_point(|e| e.number < from);
        self.entries.iter().skip(place)
    }

    fn drop_records(&mut self, range: RecordRange) {
        self.entries
            .retain(|e| e.number < range.first || e.number > range.last);
    }
}
