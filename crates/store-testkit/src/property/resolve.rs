//! Turns the small numbers of a plan into commits, based on the content of the reference before the
//! batch.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use everstep_model::record::TimerPurpose;
use everstep_model::{
    Epoch, ExecutorSeq, NodeId, Nonce, Payload, Record, RecordNumber, RecordRange, RunStatus,
    StreamNumber, Timestamp,
};
use everstep_store::{
    AppendCommit, Claim, Commit, CommitTime, CreateCommit, DeliverCommit, Executor, ExecutorLease,
    Fence, Gate, GateChange, Guard, Head, InboxLease, KeyPart, MemoryStore, RemoveCommit, Row,
    RowChanges, RowKey, RowsCommit, RunRow, SharedKey, SharedKind, SharedRow, Store, StreamRef,
    StreamRow, TimerRow,
};

use super::plan::{
    Author, Change, NAMES, PlannedGate, PlannedGuard, PlannedLease, PlannedRecord, PlannedRow,
    PlannedRun, Seq, Target,
};
use crate::clock::START;
use crate::fixture::Fixture;
use crate::sample;

pub(super) fn node(number: u8) -> NodeId {
    NodeId(u64::from(number) + 1)
}

pub(super) fn time_at(seconds: u8) -> Timestamp {
    START.after(Duration::from_secs(u64::from(seconds)))
}

pub(super) fn workflow(number: u8) -> String {
    "w".repeat(usize::from(number) + 1)
}

pub(super) fn tag(number: u8) -> String {
    "t".repeat(usize::from(number))
}

/// Returns the name of a journal, or of a user stream for some numbers.
fn stream_name(number: u8) -> String {
    let prefix = if number % 4 == 3 { "streams/" } else { "" };
    format!("{prefix}s{number}")
}

/// Returns the heads of all streams, by number.
pub(super) async fn streams<S: Store>(f: &Fixture<S>) -> Vec<Head> {
    let mut heads = Vec::new();
    for name in 0..NAMES {
        heads.extend(f.head_of(&stream_name(name)).await);
    }
    heads.sort_by_key(|head| head.number);
    heads
}

pub(super) async fn batch(reference: &Fixture<MemoryStore>, changes: &[Change]) -> Vec<Commit> {
    let heads = streams(reference).await;
    let mut resolver = Resolver {
        heads: &heads,
        ahead: BTreeMap::new(),
    };
    changes
        .iter()
        .map(|change| resolver.commit(change))
        .collect()
}

struct Resolver<'a> {
    heads: &'a [Head],
    /// The number of executor commits of this batch that should succeed, by stream.
    ahead: BTreeMap<StreamNumber, u64>,
}

impl<'a> Resolver<'a> {
    fn commit(&mut self, change: &Change) -> Commit {
        match (change.stream, change.author) {
            (Target::Create(name), _) => self.create(name, change).into(),
            (Target::Remove(pick, two), _) => self.remove(pick, two, change).into(),
            (Target::Existing(pick), Author::Inbox) => self.deliver(pick, change).into(),
            (Target::Existing(pick), Author::Rows) => self.change_rows(pick, change).into(),
            (Target::Existing(pick), Author::Executor { .. }) => self.append(pick, change).into(),
        }
    }

    fn create(&self, name: u8, change: &Change) -> CreateCommit {
        let name = everstep_model::StreamName::from_stored(&stream_name(name));
        let mut commit = CreateCommit::new(name, START);
        commit.guards = guards(change, None);
        commit.begins_at = RecordNumber(change.begins_at.into());
        commit.records = records(change);
        commit.run = change.run.map(|run| Arc::new(run_row(run, NEW)));
        commit.supersedes = change.supersedes.map(|pick| self.closed(pick));
        commit.claim = match change.lease {
            PlannedLease::Take(node, nonce) => Some(claim(node, nonce)),
            PlannedLease::Keep
            | PlannedLease::Release
            | PlannedLease::Abandon
            | PlannedLease::Revoke => None,
        };
        commit.ready = change.ready == Some(true);
        commit.gate = gate(change.gate).unwrap_or_default();
        commit.close = change.close;
        commit.rows = rows(change, NEW);
        commit
    }

    fn append(&mut self, pick: u8, change: &Change) -> AppendCommit {
        let (number, head) = self.existing(pick);
        let executor = self.executor(change.author, head);
        let mut commit = AppendCommit::new(number, executor, START);
        commit.guards = guards(change, head);
        commit.records = records(change);
        commit.drop = drops(change, head);
        commit.lease = match change.lease {
            PlannedLease::Keep | PlannedLease::Take(..) => ExecutorLease::Keep,
            PlannedLease::Release => ExecutorLease::Release,
            PlannedLease::Abandon => ExecutorLease::Abandon,
            PlannedLease::Revoke => ExecutorLease::Revoke,
        };
        commit.status = change.status.map(run_status);
        commit.ready = change.ready;
        commit.gate = gate(change.gate);
        commit.close = change.close;
        commit.rows = rows(change, number);
        commit
    }

    fn deliver(&self, pick: u8, change: &Change) -> DeliverCommit {
        let (number, head) = self.existing(pick);
        let mut commit = DeliverCommit::new(number, START);
        commit.guards = guards(change, head);
        commit.dedup = change.dedup.map(|id| "d".repeat(usize::from(id)));
        commit.records = records(change);
        commit.drop = drops(change, head);
        commit.lease = match change.lease {
            PlannedLease::Take(node, nonce) => InboxLease::Claim(claim(node, nonce)),
            PlannedLease::Revoke => InboxLease::Revoke,
            PlannedLease::Keep | PlannedLease::Release | PlannedLease::Abandon => InboxLease::Keep,
        };
        commit.status = change.status.map(run_status);
        commit.ready = change.ready;
        commit.gate = match change.gate {
            PlannedGate::OpenUnlessBegun => GateChange::OpenUnlessBegun,
            other => gate(other).map_or(GateChange::Keep, GateChange::Set),
        };
        commit.close = change.close;
        commit.rows = rows(change, number);
        commit
    }

    fn change_rows(&self, pick: u8, change: &Change) -> RowsCommit {
        let (number, head) = self.existing(pick);
        let mut commit = RowsCommit::new(number, START);
        commit.guards = guards(change, head);
        commit.rows = rows(change, number);
        commit
    }

    fn remove(&self, pick: u8, two: bool, change: &Change) -> RemoveCommit {
        let mut streams = vec![self.closed(pick)];
        streams.extend(two.then(|| self.closed(pick.wrapping_add(1))));
        let mut commit = RemoveCommit::new(streams, START);
        commit.guards = guards(change, None);
        commit.rows = rows(change, NEW);
        commit
    }

    /// Returns an existing stream, or sometimes an unknown one.
    fn existing(&self, pick: u8) -> (StreamNumber, Option<&'a Head>) {
        let head = self.heads.get(usize::from(pick) % (self.heads.len() + 1));
        (head.map_or(StreamNumber(999), |head| head.number), head)
    }

    /// Returns a closed stream, or sometimes an open or unknown one.
    fn closed(&self, pick: u8) -> StreamNumber {
        let pick = usize::from(pick);
        let closed: Vec<&Head> = self.heads.iter().filter(|head| head.closed).collect();
        let some = if pick.is_multiple_of(8) {
            self.heads.get(pick / 8)
        } else {
            closed.get(pick % closed.len().max(1)).copied()
        };
        some.map_or(StreamNumber(999), |head| head.number)
    }

    fn executor(&mut self, author: Author, head: Option<&Head>) -> Executor {
        let (right_fence, seq, behind, progress) = match author {
            Author::Executor {
                right_fence,
                seq,
                behind,
                progress,
            } => (right_fence, seq, behind, progress),
            Author::Inbox | Author::Rows => (true, Seq::Next, 0, false),
        };
        let mut fence = head.and_then(Head::fence).unwrap_or(Fence {
            epoch: Epoch(1),
            nonce: Nonce(0),
        });
        let last = match head {
            Some(head) if head.frame.epoch == fence.epoch => head.frame.seq.0,
            _ => 0,
        };
        let ahead = self
            .ahead
            .entry(head.map_or(StreamNumber(0), |head| head.number))
            .or_default();
        let seq = match seq {
            Seq::Next => last + *ahead + 1,
            Seq::Last => last + *ahead,
            Seq::Ahead => last + *ahead + 2,
            Seq::Behind => (last + *ahead).saturating_sub(1),
        };
        if right_fence {
            *ahead += 1;
        } else {
            fence.nonce = Nonce(fence.nonce.0 + 1);
        }
        let end = head.map_or(0, |head| head.next.0);
        Executor {
            fence,
            seq: ExecutorSeq(seq),
            seen: RecordNumber(end.saturating_sub(behind.into())),
            progress,
        }
    }
}

/// The placeholder for the number of a new stream.
const NEW: StreamNumber = StreamNumber(0);

fn claim(number: u8, nonce: u8) -> Claim {
    Claim {
        node: node(number),
        nonce: Nonce(nonce.into()),
    }
}

fn guards(change: &Change, head: Option<&Head>) -> Vec<Guard> {
    let planned = change.guard.iter();
    planned.map(|planned| guard(*planned, head)).collect()
}

fn records(change: &Change) -> Vec<Record> {
    let from_executor = matches!(change.author, Author::Executor { .. });
    let planned = change.records.iter();
    planned
        .map(|planned| record(*planned, from_executor))
        .collect()
}

fn gate(planned: PlannedGate) -> Option<Gate> {
    match planned {
        PlannedGate::Keep | PlannedGate::OpenUnlessBegun => None,
        PlannedGate::Open => Some(Gate::Open),
        PlannedGate::Hold => Some(Gate::Held),
        PlannedGate::NeedSlot => Some(Gate::NeedsSlot),
    }
}

fn rows(change: &Change, stream: StreamNumber) -> RowChanges {
    let put = change.put.iter().map(|planned| row(*planned, stream));
    let deleted = change
        .delete
        .iter()
        .map(|planned| row(*planned, stream).key());
    let exact = change.delete_exact.iter().map(|n| stored(shared(*n)));
    RowChanges {
        put: put.collect(),
        delete: deleted.collect(),
        delete_exact: exact.collect(),
    }
}

/// Returns one of a few shared rows. Some have the time of their commit.
fn shared(number: u8) -> SharedRow {
    let kind = [SharedKind::Slot, SharedKind::Rate][usize::from(number % 2)];
    let parts = [KeyPart::from("k"), KeyPart::from(u64::from(number / 2 % 3))];
    SharedRow {
        key: SharedKey::new(kind, parts).unwrap(),
        value: vec![number / 6],
        committed_at: match kind {
            SharedKind::Rate => CommitTime::FillIn,
            _ => CommitTime::Absent,
        },
    }
}

/// Returns the row as a commit at [`START`] stores it.
fn stored(mut row: SharedRow) -> SharedRow {
    row.fill_in(START);
    row
}

fn drops(change: &Change, head: Option<&Head>) -> Vec<RecordRange> {
    let end = head.map_or(0, |head| head.next.0);
    let drops = change.drop.iter().filter(|_| end > 0);
    drops
        .map(|(at, length)| dropped(*at, *length, end))
        .collect()
}

fn record(planned: PlannedRecord, from_executor: bool) -> Record {
    let mut record = match planned {
        PlannedRecord::Event(n) => sample::event(&format!("e{n}")),
        PlannedRecord::Step(n) if from_executor => sample::step(&format!("s{n}")),
        PlannedRecord::Wait(n) if from_executor => {
            sample::wait_completed(&(0..u64::from(n)).collect::<Vec<_>>())
        }
        PlannedRecord::Step(n) | PlannedRecord::Wait(n) => sample::event(&format!("x{n}")),
        PlannedRecord::Data(n) => sample::data(&"d".repeat(n.into()), n % 2 == 0),
        PlannedRecord::Large => {
            let mut event = sample::event("large");
            if let everstep_model::Body::Event(event) = &mut event.body {
                event.payload = Payload::from_value(&"0123456789".repeat(700)).unwrap();
            }
            event
        }
    };
    if let PlannedRecord::Event(n) | PlannedRecord::Step(n) = planned {
        record.time = time_at(n);
    }
    record
}

fn guard(planned: PlannedGuard, head: Option<&Head>) -> Guard {
    let number = head.map_or(StreamNumber(0), |head| head.number);
    match planned {
        PlannedGuard::InboxSeen(all) => {
            let count = head.map_or(0, |head| head.frame.inbox_count);
            Guard::InboxSeen(if all { count } else { count.saturating_sub(1) })
        }
        PlannedGuard::EndsAt(all) => {
            let end = head.map_or(0, |head| head.next.0);
            Guard::EndsAt(RecordNumber(if all { end } else { end.saturating_sub(1) }))
        }
        PlannedGuard::EventsBelow(limit) => Guard::UnconsumedEventsBelow(limit.into()),
        PlannedGuard::Present(planned) => Guard::RowPresent(row(planned, number).key()),
        PlannedGuard::Absent(planned) => Guard::RowAbsent(row(planned, number).key()),
        PlannedGuard::Is(PlannedRow::Shared(n)) => Guard::RowIs(Row::Shared(stored(shared(n)))),
        PlannedGuard::Is(planned) => Guard::RowIs(row(planned, number)),
        PlannedGuard::NotBefore(seconds) => Guard::NotBefore(time_at(seconds)),
    }
}

fn run_status(number: u8) -> RunStatus {
    RunStatus::ALL[usize::from(number) % RunStatus::ALL.len()]
}

fn run_row(run: PlannedRun, number: StreamNumber) -> RunRow {
    let status = run_status(run.status);
    let tags = (0..8).filter(|bit| run.tags & (1 << bit) != 0);
    RunRow {
        tags: tags.map(tag).collect(),
        created_at: time_at(run.created),
        version: run.created.into(),
        ..sample::run(&format!("r{number}"), &workflow(run.workflow), status)
    }
}

pub(super) fn row(planned: PlannedRow, stream: StreamNumber) -> Row {
    match planned {
        PlannedRow::Timer(n) => {
            let locations = [None, Some("a:0"), Some("ab:0"), Some("l/~2/a:0")];
            let location = locations[usize::from(n) % locations.len()];
            let purpose = match n % 3 {
                0 => TimerPurpose::Sleep,
                1 => TimerPurpose::Wait,
                _ => TimerPurpose::Deadline,
            };
            Row::Timer(TimerRow {
                purpose,
                ..sample::timer(stream, u64::from(n) / 4, location)
            })
        }
        PlannedRow::Rpc(n) => Row::Rpc(sample::rpc(stream, &"r".repeat(usize::from(n)))),
        PlannedRow::Idempotency(n) => {
            sample::idempotency(&workflow(n), "key", &format!("s{stream}"))
        }
        PlannedRow::Generation(n) => sample::generation(&"g".repeat(usize::from(n) + 1), 2, stream),
        PlannedRow::Outbox(n) => Row::Outbox(sample::effect(stream, &"e".repeat(usize::from(n)))),
        PlannedRow::Stream(n) => Row::Stream(Box::new(StreamRow {
            forks: n.into(),
            ..sample::stream_row(stream)
        })),
        PlannedRow::Producer(n) => {
            let id = "p".repeat(usize::from(n % 2));
            Row::Producer(sample::producer(stream, &id, n.into()))
        }
        PlannedRow::Shared(n) => Row::Shared(shared(n)),
    }
}

/// Returns the keys of all rows that plans can put for these streams.
pub(super) fn keys(numbers: &[StreamNumber]) -> Vec<RowKey> {
    let mut keys = Vec::new();
    for number in numbers {
        let timers = (0..12).map(PlannedRow::Timer);
        let kinds = |n| {
            [
                PlannedRow::Rpc(n),
                PlannedRow::Idempotency(n),
                PlannedRow::Generation(n),
                PlannedRow::Outbox(n),
                PlannedRow::Stream(n),
                PlannedRow::Producer(n),
            ]
        };
        let rest = (0..super::plan::FEW).flat_map(kinds);
        keys.extend(
            timers
                .chain(rest)
                .map(|planned| row(planned, *number).key()),
        );
    }
    keys
}

fn dropped(at: u8, length: u8, end: u64) -> everstep_model::RecordRange {
    let first = u64::from(at) % end;
    sample::range(first, first + u64::from(length))
}

pub(super) async fn head<S: Store>(f: &Fixture<S>, number: StreamNumber) -> Option<Head> {
    f.store.head(StreamRef::Number(number)).await.unwrap()
}
