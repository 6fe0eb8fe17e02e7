//! Turns a plan's small numbers into commits, by what the reference holds when their batch begins.

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

use super::plan::{Asked, Change, Gating, Kept, Lease, NAMES, Run, Said, Seq, Stream, Who};
use crate::clock::START;
use crate::fixture::Fixture;
use crate::sample;

pub(super) fn node(who: u8) -> NodeId {
    NodeId(u64::from(who) + 1)
}

pub(super) fn moment(seconds: u8) -> Timestamp {
    START.after(Duration::from_secs(u64::from(seconds)))
}

pub(super) fn workflow(number: u8) -> String {
    "w".repeat(usize::from(number) + 1)
}

pub(super) fn tag(number: u8) -> String {
    "t".repeat(usize::from(number))
}

/// Some are users' streams.
fn stream_name(number: u8) -> String {
    let prefix = if number % 4 == 3 { "streams/" } else { "" };
    format!("{prefix}s{number}")
}

/// The streams there are, in order.
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
    /// Executor commits of this batch that should succeed, by stream.
    ahead: BTreeMap<StreamNumber, u64>,
}

impl<'a> Resolver<'a> {
    fn commit(&mut self, change: &Change) -> Commit {
        match (change.stream, change.author) {
            (Stream::Create(name), _) => self.create(name, change).into(),
            (Stream::Remove(pick, two), _) => self.remove(pick, two, change).into(),
            (Stream::Existing(pick), Who::Inbox) => self.deliver(pick, change).into(),
            (Stream::Existing(pick), Who::Rows) => self.change_rows(pick, change).into(),
            (Stream::Existing(pick), Who::Executor { .. }) => self.append(pick, change).into(),
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
            Lease::Take(who, nonce) => Some(claim(who, nonce)),
            Lease::Keep | Lease::Release | Lease::Abandon | Lease::Revoke => None,
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
            Lease::Keep | Lease::Take(..) => ExecutorLease::Keep,
            Lease::Release => ExecutorLease::Release,
            Lease::Abandon => ExecutorLease::Abandon,
            Lease::Revoke => ExecutorLease::Revoke,
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
            Lease::Take(who, nonce) => InboxLease::Claim(claim(who, nonce)),
            Lease::Revoke => InboxLease::Revoke,
            Lease::Keep | Lease::Release | Lease::Abandon => InboxLease::Keep,
        };
        commit.status = change.status.map(run_status);
        commit.ready = change.ready;
        commit.gate = match change.gate {
            Gating::OpenUnlessBegun => GateChange::OpenUnlessBegun,
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

    /// A stream that exists, or sometimes one that does not.
    fn existing(&self, pick: u8) -> (StreamNumber, Option<&'a Head>) {
        let place = usize::from(pick) % (self.heads.len() + 1);
        let head = self.heads.get(place);
        (head.map_or(StreamNumber(999), |head| head.number), head)
    }

    /// A closed stream, or sometimes one that is open or does not exist.
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

    fn executor(&mut self, who: Who, head: Option<&Head>) -> Executor {
        let (right, seq, behind, progress) = match who {
            Who::Executor {
                right,
                seq,
                behind,
                progress,
            } => (right, seq, behind, progress),
            Who::Inbox | Who::Rows => (true, Seq::Next, 0, false),
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
        if right {
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

/// Stands for the number of a stream that does not exist yet.
const NEW: StreamNumber = StreamNumber(0);

fn claim(who: u8, nonce: u8) -> Claim {
    Claim {
        node: node(who),
        nonce: Nonce(nonce.into()),
    }
}

fn guards(change: &Change, head: Option<&Head>) -> Vec<Guard> {
    let asked = change.guard.iter();
    asked.map(|asked| guard(*asked, head)).collect()
}

fn records(change: &Change) -> Vec<Record> {
    let from_executor = matches!(change.author, Who::Executor { .. });
    let said = change.records.iter();
    said.map(|said| record(*said, from_executor)).collect()
}

fn gate(gating: Gating) -> Option<Gate> {
    match gating {
        Gating::Keep | Gating::OpenUnlessBegun => None,
        Gating::Open => Some(Gate::Open),
        Gating::Hold => Some(Gate::Held),
        Gating::NeedSlot => Some(Gate::NeedsSlot),
    }
}

fn rows(change: &Change, stream: StreamNumber) -> RowChanges {
    let put = change.put.iter().map(|kept| row(*kept, stream));
    let deleted = change.delete.iter().map(|kept| row(*kept, stream).key());
    let exact = change.delete_exact.iter().map(|n| stored(shared(*n)));
    RowChanges {
        put: put.collect(),
        delete: deleted.collect(),
        delete_exact: exact.collect(),
    }
}

/// One of a few shared rows. Some have the time of their commit.
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

/// The row as it is stored by a commit at the beginning.
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

fn record(said: Said, from_executor: bool) -> Record {
    let mut record = match said {
        Said::Event(n) => sample::event(&format!("e{n}")),
        Said::Step(n) if from_executor => sample::step(&format!("s{n}")),
        Said::Wait(n) if from_executor => {
            sample::wait_completed(&(0..u64::from(n)).collect::<Vec<_>>())
        }
        Said::Step(n) | Said::Wait(n) => sample::event(&format!("x{n}")),
        Said::Data(n) => sample::data(&"d".repeat(n.into()), n % 2 == 0),
        Said::Large => {
            let mut event = sample::event("large");
            if let everstep_model::Body::Event(event) = &mut event.body {
                event.payload = Payload::from_value(&"0123456789".repeat(700)).unwrap();
            }
            event
        }
    };
    if let Said::Event(n) | Said::Step(n) = said {
        record.time = moment(n);
    }
    record
}

fn guard(asked: Asked, head: Option<&Head>) -> Guard {
    let number = head.map_or(StreamNumber(0), |head| head.number);
    match asked {
        Asked::InboxSeen(all) => {
            let count = head.map_or(0, |head| head.frame.inbox_count);
            Guard::InboxSeen(if all { count } else { count.saturating_sub(1) })
        }
        Asked::EndsAt(all) => {
            let end = head.map_or(0, |head| head.next.0);
            Guard::EndsAt(RecordNumber(if all { end } else { end.saturating_sub(1) }))
        }
        Asked::EventsBelow(limit) => Guard::UnconsumedEventsBelow(limit.into()),
        Asked::Present(kept) => Guard::RowPresent(row(kept, number).key()),
        Asked::Absent(kept) => Guard::RowAbsent(row(kept, number).key()),
        Asked::Is(Kept::Shared(n)) => Guard::RowIs(Row::Shared(stored(shared(n)))),
        Asked::Is(kept) => Guard::RowIs(row(kept, number)),
        Asked::NotBefore(seconds) => Guard::NotBefore(moment(seconds)),
    }
}

fn run_status(number: u8) -> RunStatus {
    RunStatus::ALL[usize::from(number) % RunStatus::ALL.len()]
}

fn run_row(run: Run, number: StreamNumber) -> RunRow {
    let status = run_status(run.status);
    let tags = (0..8).filter(|bit| run.tags & (1 << bit) != 0);
    RunRow {
        tags: tags.map(tag).collect(),
        created_at: moment(run.created),
        version: run.created.into(),
        ..sample::run(&format!("r{number}"), &workflow(run.workflow), status)
    }
}

/// One of the rows of a small world.
pub(super) fn row(kept: Kept, stream: StreamNumber) -> Row {
    match kept {
        Kept::Timer(n) => {
            let places = [None, Some("a:0"), Some("ab:0"), Some("l/~2/a:0")];
            let place = places[usize::from(n) % places.len()];
            let purpose = match n % 3 {
                0 => TimerPurpose::Sleep,
                1 => TimerPurpose::Wait,
                _ => TimerPurpose::Deadline,
            };
            Row::Timer(TimerRow {
                purpose,
                ..sample::timer(stream, u64::from(n) / 4, place)
            })
        }
        Kept::Rpc(n) => Row::Rpc(sample::rpc(stream, &"r".repeat(usize::from(n)))),
        Kept::Idempotency(n) => sample::idempotency(&workflow(n), "key", &format!("s{stream}")),
        Kept::Generation(n) => sample::generation(&"g".repeat(usize::from(n) + 1), 2, stream),
        Kept::Outbox(n) => Row::Outbox(sample::effect(stream, &"e".repeat(usize::from(n)))),
        Kept::Stream(n) => Row::Stream(Box::new(StreamRow {
            forks: n.into(),
            ..sample::stream_row(stream)
        })),
        Kept::Producer(n) => {
            let id = "p".repeat(usize::from(n % 2));
            Row::Producer(sample::producer(stream, &id, n.into()))
        }
        Kept::Shared(n) => Row::Shared(shared(n)),
    }
}

/// Every key a plan can have touched on these streams.
pub(super) fn keys(numbers: &[StreamNumber]) -> Vec<RowKey> {
    let mut keys = Vec::new();
    for number in numbers {
        let timers = (0..12).map(Kept::Timer);
        let kinds = |n| {
            [
                Kept::Rpc(n),
                Kept::Idempotency(n),
                Kept::Generation(n),
                Kept::Outbox(n),
                Kept::Stream(n),
                Kept::Producer(n),
            ]
        };
        let rest = (0..super::plan::FEW).flat_map(kinds);
        keys.extend(timers.chain(rest).map(|kept| row(kept, *number).key()));
    }
    keys
}

fn dropped(at: u8, length: u8, end: u64) -> everstep_model::RecordRange {
    let first = u64::from(at) % end;
    sample::range(first, first + u64::from(length))
}

/// The streams by number, as the contract finds them.
pub(super) async fn head<S: Store>(f: &Fixture<S>, number: StreamNumber) -> Option<Head> {
    f.store.head(StreamRef::Number(number)).await.unwrap()
}
