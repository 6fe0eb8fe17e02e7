//! Delivering to the inbox of a stream.

use everstep_model::{Record, RecordRange, RunStatus, StreamNumber, Timestamp};

use super::commit_id::CommitId;
use super::gate::GateChange;
use super::guard::Guard;
use super::lease::InboxLease;
use super::rows::RowChanges;

/// Delivers to the inbox of a stream. Any node may do so, without a right to execute the run.
#[derive(Clone, Debug, Default)]
pub struct DeliverCommit {
    pub stream: StreamNumber,
    pub now: Timestamp,
    pub id: Option<CommitId>,
    pub guards: Vec<Guard>,
    /// An id chosen by the sender. If an earlier commit to the stream used it, the answer is the
    /// outcome of that commit.
    pub dedup: Option<String>,
    /// Inbox records. Others are refused with [`crate::Refusal::NotInbox`].
    pub records: Vec<Record>,
    /// Earlier records to remove.
    pub drop: Vec<RecordRange>,
    pub lease: InboxLease,
    /// The new status of the run, if it changes. Without it, a claimed run becomes `running`, and a
    /// resting run that is marked as ready and that no node holds becomes `queued`; see
    /// [`crate::status_once_taken`] and [`crate::status_once_woken`]. `queued` becomes `running` if
    /// a node holds the run.
    pub status: Option<RunStatus>,
    /// Sets or clears the ready mark.
    pub ready: Option<bool>,
    /// The gate after this change decides about the ready mark and the claim.
    pub gate: GateChange,
    /// Closes the stream permanently.
    pub close: bool,
    pub rows: RowChanges,
}

impl DeliverCommit {
    #[must_use]
    pub fn new(stream: StreamNumber, now: Timestamp) -> Self {
        Self {
            stream,
            now,
            ..Self::default()
        }
    }
}
