//! Appending to a run as its executor.

use everstep_model::{
    ExecutorSeq, Record, RecordNumber, RecordRange, RunStatus, StreamNumber, Timestamp,
};

use super::commit_id::CommitId;
use super::gate::Gate;
use super::guard::Guard;
use super::lease::{ExecutorLease, Fence};
use super::rows::RowChanges;

/// The executor that writes a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Executor {
    /// The right to execute the run; must equal the right in the head.
    pub fence: Fence,
    /// The number of this commit under that right, from 1. Must be the last one plus one. If it
    /// repeats the last one, the answer is the original outcome.
    pub seq: ExecutorSeq,
    /// The number of records that the executor has seen. The outcome reports the records after
    /// these.
    pub seen: RecordNumber,
    /// Whether the commit resolves an operation. Takeovers without such commits indicate a crash
    /// loop.
    pub progress: bool,
}

/// Appends to a run as its executor.
#[derive(Clone, Debug)]
pub struct AppendCommit {
    pub stream: StreamNumber,
    pub executor: Executor,
    pub now: Timestamp,
    pub id: Option<CommitId>,
    pub guards: Vec<Guard>,
    /// Records of any origin.
    pub records: Vec<Record>,
    /// Records to remove, as named by a `loop_advanced` record of this commit. Applies to earlier
    /// records only.
    pub drop: Vec<RecordRange>,
    pub lease: ExecutorLease,
    /// The new status of the run, if it changes.
    pub status: Option<RunStatus>,
    /// Sets or clears the ready mark.
    pub ready: Option<bool>,
    /// The new gate of the run, if it changes.
    pub gate: Option<Gate>,
    /// Closes the stream permanently.
    pub close: bool,
    pub rows: RowChanges,
}

impl AppendCommit {
    #[must_use]
    pub fn new(stream: StreamNumber, executor: Executor, now: Timestamp) -> Self {
        Self {
            stream,
            executor,
            now,
            id: None,
            guards: Vec::new(),
            records: Vec::new(),
            drop: Vec::new(),
            lease: ExecutorLease::Keep,
            status: None,
            ready: None,
            gate: None,
            close: false,
            rows: RowChanges::default(),
        }
    }
}
