//! Delivering to the inbox of a stream.

use everstep_model::{Record, RecordRange, RunStatus, StreamNumber, Timestamp};

use super::commit_id::CommitId;
use super::gate::GateChange;
use super::guard::Guard;
use super::lease::InboxLease;
use super::row_changes::RowChanges;

/// Delivers to the inbox of a stream. Any node may do so, without a right to execute the run.
#[derive(Clone, Debug)]
pub struct DeliverCommit {
    /// The stream.
    pub stream: StreamNumber,
    /// The engine's clock.
    pub now: Timestamp,
    /// See [`super::Commit::id`].
    pub id: Option<CommitId>,
    /// Conditions, judged in order.
    pub guards: Vec<Guard>,
    /// An id chosen by the sender. If the stream has seen it, the answer is the original outcome.
    pub dedup: Option<String>,
    /// Inbox records. Others are refused with [`crate::Refusal::NotInbox`].
    pub records: Vec<Record>,
    /// Earlier records to remove.
    pub drop: Vec<RecordRange>,
    /// Claims the run, or withdraws the right to execute it.
    pub lease: InboxLease,
    /// The new status of the run, if it changes. A claimed run becomes `running` without it; see
    /// [`crate::status_once_taken`].
    pub status: Option<RunStatus>,
    /// Sets or clears the ready mark.
    pub ready: Option<bool>,
    /// What happens to the gate of the run. The gate after this change decides about the ready mark
    /// and the claim.
    pub gate: GateChange,
    /// Closes the stream for good.
    pub close: bool,
    /// The rows that change with it.
    pub rows: RowChanges,
}

impl DeliverCommit {
    /// A delivery without records.
    #[must_use]
    pub fn new(stream: StreamNumber, now: Timestamp) -> Self {
        Self {
            stream,
            now,
            id: None,
            guards: Vec::new(),
            dedup: None,
            records: Vec::new(),
            drop: Vec::new(),
            lease: InboxLease::Keep,
            status: None,
            ready: None,
            gate: GateChange::Keep,
            close: false,
            rows: RowChanges::default(),
        }
    }
}
