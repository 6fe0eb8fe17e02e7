//! Histories for the tests of the checks.

use everstep_model::{Body, Entry, Epoch, ExecutorSeq, Nonce, Record, RecordNumber, StreamNumber};
use everstep_model::{StreamName, Timestamp};
use everstep_store::{AppendCommit, CreateCommit, DeliverCommit, Executor, Fence, Outcome};
use everstep_store_testkit::sample::{event, run_creation};

use super::journals::Journals;
use super::stream::Stream;
use super::violation::Violation;

/// No violation.
pub(crate) const FINE: [u8; 0] = [];

/// Returns the numbers of the violated invariants.
pub(crate) fn broken(found: &[Violation]) -> Vec<u8> {
    found.iter().map(|violation| violation.invariant).collect()
}

pub(crate) fn number(number: u64) -> StreamNumber {
    StreamNumber(number)
}

pub(crate) fn at(millis: u64) -> Timestamp {
    Timestamp::from_millis(millis)
}

pub(crate) fn creation(id: &str) -> CreateCommit {
    let mut commit = run_creation(id, "random", everstep_model::RunStatus::Queued);
    commit.ready = true;
    commit
}

pub(crate) fn inbox_event(name: &str) -> DeliverCommit {
    inbox(vec![event(name)])
}

pub(crate) fn inbox(records: Vec<Record>) -> DeliverCommit {
    let mut commit = everstep_store_testkit::sample::inbox(number(1), records);
    commit.ready = Some(true);
    commit
}

pub(crate) fn fence(epoch: u64) -> Fence {
    Fence {
        epoch: Epoch(epoch),
        nonce: Nonce(epoch),
    }
}

/// Creates a commit of the executor of stream 1.
pub(crate) fn executor(epoch: u64, seq: u64, records: Vec<Record>) -> AppendCommit {
    let executor = Executor {
        fence: fence(epoch),
        seq: ExecutorSeq(seq),
        seen: RecordNumber(0),
        progress: false,
    };
    let mut commit = AppendCommit::new(number(1), executor, at(0));
    commit.records = records;
    commit
}

pub(crate) fn committed(stream: u64, first: u64) -> Outcome {
    Outcome::Committed {
        stream: number(stream),
        first: RecordNumber(first),
        before: Vec::new(),
        taken: None,
    }
}

/// Creates a stream with these records.
pub(crate) fn stream(id: &str, records: Vec<Record>) -> Stream {
    let mut journals = Journals::default();
    let created = journals.commit(at(0), &[creation(id).into()], &[committed(1, 0)]);
    assert!(created.is_empty());
    let mut stream = journals.stream(number(1)).cloned().unwrap();
    assert_eq!(
        stream.name,
        StreamName::of_run(
            &stream.run.clone().unwrap().0,
            everstep_model::Generation::FIRST
        )
    );
    for record in records {
        let is_end = record.body.terminal().is_some();
        let number = stream.next();
        stream.entries.push(Entry { number, record });
        if is_end {
            stream.closed_at = Some(at(9));
            stream.ended_at = Some(at(9));
        }
    }
    stream
}

pub(crate) fn record(body: impl Into<Body>) -> Record {
    everstep_store_testkit::sample::record(body)
}
