//! What an [`Overview`](super::Overview) shows of each operation, and of what holds the whole run.

use everstep_model::record::{CancelRequested, ForcedFailure, ParentClose, PauseRequested};
use everstep_model::{
    Failure, Location, Name, Payload, RecordNumber, RpcId, RunId, StepStatus, Timestamp,
};

/// A step.
#[derive(Clone, Debug, PartialEq)]
pub struct StepView {
    /// Its place.
    pub location: Location,
    /// What it is doing.
    pub status: StepStatus,
    /// The highest attempt recorded; 0 if none was.
    pub attempts: u32,
    /// What it returned; none before it did, and never for a sensitive step.
    pub result: Option<Payload>,
    /// Whether its result must not be shown.
    pub sensitive: bool,
    /// Why its last attempt failed; none once it is completed.
    pub error: Option<Failure>,
    /// When its last attempt began.
    pub started_at: Option<Timestamp>,
    /// When it was settled.
    pub completed_at: Option<Timestamp>,
    /// When its next attempt begins. Still there if that time has come and the attempt is not recorded yet.
    pub next_retry_at: Option<Timestamp>,
}

impl StepView {
    /// A step of which nothing but its place is known.
    pub(super) fn new(location: Location) -> Self {
        Self {
            location,
            status: StepStatus::Running,
            attempts: 0,
            result: None,
            sensitive: false,
            error: None,
            started_at: None,
            completed_at: None,
            next_retry_at: None,
        }
    }
}

/// An open wait for an event.
#[derive(Clone, Debug, PartialEq)]
pub struct WaitView {
    /// Its place.
    pub location: Location,
    /// The names it takes.
    pub names: Vec<Name>,
    /// When it began.
    pub since: Timestamp,
    /// When it gives up.
    pub deadline: Option<Timestamp>,
    /// The most events it takes at once.
    pub batch: u32,
}

/// An open sleep.
#[derive(Clone, Debug, PartialEq)]
pub struct SleepView {
    /// Its place.
    pub location: Location,
    /// When it began.
    pub since: Timestamp,
    /// When it ends.
    pub until: Timestamp,
}

/// A question that can be answered.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenRpc {
    /// The id under which it is answered.
    pub rpc_id: RpcId,
    /// What is asked.
    pub method: Name,
    /// About what.
    pub args: Payload,
    /// When it was asked.
    pub since: Timestamp,
    /// When it gives up.
    pub deadline: Option<Timestamp>,
    /// Its place.
    pub location: Location,
}

/// A child whose end the run waits for.
#[derive(Clone, Debug, PartialEq)]
pub struct ChildView {
    /// The place of the operation that started it.
    pub location: Location,
    /// The child.
    pub run: RunId,
    /// Its workflow.
    pub workflow: Name,
    /// When it was started.
    pub since: Timestamp,
    /// When the run stops waiting for it.
    pub deadline: Option<Timestamp>,
    /// What becomes of it when the run ends first.
    pub on_close: ParentClose,
}

/// An event that no wait has taken.
#[derive(Clone, Debug, PartialEq)]
pub struct EventView {
    /// What it is called.
    pub name: Name,
    /// Its record.
    pub number: RecordNumber,
    /// When it came.
    pub time: Timestamp,
}

/// Why a run is not executed although it could be.
#[derive(Clone, Debug, PartialEq)]
pub enum PauseView {
    /// Somebody asked; steps in flight are still finishing.
    Requested(PauseRequested),
    /// It rests.
    Paused {
        /// Who asked, if anybody did.
        request: Option<PauseRequested>,
        /// Why it was parked, if nobody asked.
        reason: Option<Failure>,
    },
}

/// What is about to end the run. From here on its open operations are resolved by that, and by nothing else.
#[derive(Clone, Debug, PartialEq)]
pub enum EndingView {
    /// Somebody asked it to end.
    Cancel(CancelRequested),
    /// Its deadline passed.
    Deadline(Timestamp),
    /// An operator made it fail.
    Forced(ForcedFailure),
}

/// How far a rollback is.
#[derive(Clone, Debug, PartialEq)]
pub enum RollbackView {
    /// A step is being undone.
    Undoing {
        /// The step.
        step: Location,
        /// Which attempt to undo it.
        attempt: u32,
        /// When that attempt began.
        since: Timestamp,
    },
    /// An undo failed and is tried again.
    Retrying {
        /// The step.
        step: Location,
        /// The attempt that failed.
        attempt: u32,
        /// Why.
        error: Failure,
        /// When the next one begins.
        retry_at: Timestamp,
    },
    /// One undo is over, and the next has not begun.
    Between,
}
