//! Creating a stream.

use std::sync::Arc;

use everstep_model::{Record, RecordNumber, StreamName, StreamNumber, Timestamp};

use super::commit_id::CommitId;
use super::gate::Gate;
use super::guard::Guard;
use super::lease::Claim;
use super::row_changes::RowChanges;
use crate::list::RunRow;

/// Creates a stream. Refused with [`crate::Refusal::Exists`] if the name is taken.
#[derive(Clone, Debug)]
pub struct CreateCommit {
    /// The name of the new stream.
    pub name: StreamName,
    /// The engine's clock.
    pub now: Timestamp,
    /// See [`super::Commit::id`].
    pub id: Option<CommitId>,
    /// Conditions, judged in order.
    pub guards: Vec<Guard>,
    /// The number of the first record. A fork continues the numbers of its source.
    pub begins_at: RecordNumber,
    /// The first records, of any origin: a creation may copy a journal.
    pub records: Vec<Record>,
    /// The list row, if the stream is the journal of a run.
    pub run: Option<Arc<RunRow>>,
    /// A closed stream that this one replaces in the lists: a run is listed once, with its latest
    /// generation.
    pub supersedes: Option<StreamNumber>,
    /// Claims the run with its creation.
    pub claim: Option<Claim>,
    /// Whether the run has something to do.
    pub ready: bool,
    /// Whether the run may be claimed. A gated run is not claimed by its creation.
    pub gate: Gate,
    /// Whether the stream is closed from the beginning.
    pub close: bool,
    /// The rows that change with it.
    pub rows: RowChanges,
}

impl CreateCommit {
    /// Creates an empty stream.
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
