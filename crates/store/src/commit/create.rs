//! Creating a stream.

use std::sync::Arc;

use everstep_model::{Record, RecordNumber, StreamName, StreamNumber, Timestamp};

use super::commit_id::CommitId;
use super::gate::Gate;
use super::guard::Guard;
use super::lease::Claim;
use super::rows::RowChanges;
use crate::list::RunRow;

/// Creates a stream. Refused with [`crate::Refusal::Exists`] if the name is taken.
#[derive(Clone, Debug)]
pub struct CreateCommit {
    pub name: StreamName,
    pub now: Timestamp,
    pub id: Option<CommitId>,
    pub guards: Vec<Guard>,
    /// The number of the first record. A fork continues the numbers of its source.
    pub begins_at: RecordNumber,
    /// Records of any origin, because a creation may copy a journal.
    pub records: Vec<Record>,
    /// The list row, if the stream is the journal of a run.
    pub run: Option<Arc<RunRow>>,
    /// A closed stream that this one replaces in the lists, because a run is listed once, with its
    /// latest generation.
    pub supersedes: Option<StreamNumber>,
    /// Claims the run, unless it is gated.
    pub claim: Option<Claim>,
    /// Sets the ready mark.
    pub ready: bool,
    pub gate: Gate,
    /// Creates the stream closed.
    pub close: bool,
    pub rows: RowChanges,
}

impl CreateCommit {
    #[must_use]
    pub fn new(name: StreamName, now: Timestamp) -> Self {
        Self {
            name,
            now,
            id: None,
            guards: Vec::new(),
            begins_at: RecordNumber(0),
            records: Vec::new(),
            run: None,
            supersedes: None,
            claim: None,
            ready: false,
            gate: Gate::Open,
            close: false,
            rows: RowChanges::default(),
        }
    }
}
