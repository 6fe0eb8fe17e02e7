//! The parts of an [`Overview`](super::Overview).

#![allow(
    missing_docs,
    reason = "plain data; fields are explained where their names do not"
)]

use everstep_model::record::{CancelRequested, ForcedFailure, ParentClose, PauseRequested};
use everstep_model::{
    Failure, Location, Name, Payload, RecordNumber, RpcId, RunId, StepOptions, StepStatus,
    Timestamp,
};

#[derive(Clone, Debug, PartialEq)]
pub struct StepView {
    pub location: Location,
    pub status: StepStatus,
    /// The highest recorded attempt; 0 if there is none.
    pub attempts: u32,
    /// The result. Always `None` for a sensitive step.
    pub result: Option<Payload>,
    /// Whether the result must not be shown.
    pub sensitive: bool,
    /// Whether the run passes its point of no return when the step completes.
    pub no_return: bool,
    /// The error of the last attempt; `None` after success.
    pub error: Option<Failure>,
    /// The options that its first attempt recorded, if the journal has them.
    pub options: Option<StepOptions>,
    /// The start of the first attempt that the journal knows.
    pub first_started_at: Option<Timestamp>,
    /// The start of the last attempt.
    pub started_at: Option<Timestamp>,
    /// When the step got its outcome.
    pub completed_at: Option<Timestamp>,
    /// The time of the next attempt. It stays set until the attempt is recorded.
    pub next_retry_at: Option<Timestamp>,
}

impl StepView {
    pub(super) fn start(&mut self, at: Timestamp) {
        self.first_started_at.get_or_insert(at);
        self.started_at = Some(at);
    }

    /// Creates a step about which only its location is known.
    pub(super) fn new(location: Location) -> Self {
        Self {
            location,
            status: StepStatus::Running,
            attempts: 0,
            result: None,
            sensitive: false,
            no_return: false,
            error: None,
            options: None,
            first_started_at: None,
            started_at: None,
            completed_at: None,
            next_retry_at: None,
        }
    }
}

/// An open wait for an event.
#[derive(Clone, Debug, PartialEq)]
pub struct WaitView {
    pub location: Location,
    pub names: Vec<Name>,
    pub since: Timestamp,
    /// When the wait times out.
    pub deadline: Option<Timestamp>,
    /// The maximum number of events that the wait takes at once.
    pub batch: u32,
}

#[derive(Clone, Debug, PartialEq)]
pub struct SleepView {
    pub location: Location,
    pub since: Timestamp,
    /// When the sleep ends.
    pub until: Timestamp,
}

/// An rpc that can be answered.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenRpc {
    /// The id that an answer must name.
    pub rpc_id: RpcId,
    pub method: Name,
    pub args: Payload,
    pub since: Timestamp,
    /// When the wait times out.
    pub deadline: Option<Timestamp>,
    pub location: Location,
}

/// A child that the run waits for.
#[derive(Clone, Debug, PartialEq)]
pub struct ChildView {
    pub location: Location,
    pub run: RunId,
    pub workflow: Name,
    pub since: Timestamp,
    /// When the run stops waiting for the child.
    pub deadline: Option<Timestamp>,
    /// What happens to the child if the run ends first.
    pub on_close: ParentClose,
}

/// An event that no wait has taken.
#[derive(Clone, Debug, PartialEq)]
pub struct EventView {
    pub name: Name,
    pub number: RecordNumber,
    /// When the event was received.
    pub time: Timestamp,
}

/// A pause, requested or in effect.
#[derive(Clone, Debug, PartialEq)]
pub enum PauseView {
    /// Requested; steps in flight are still finishing.
    Requested(PauseRequested),
    /// In effect.
    Paused {
        /// The request, unless the engine parked the run.
        request: Option<PauseRequested>,
        /// Why the engine parked the run.
        reason: Option<Failure>,
    },
}

/// What is about to end the run.
#[derive(Clone, Debug, PartialEq)]
pub enum EndingView {
    Cancel(CancelRequested),
    Deadline(Timestamp),
    /// An operator forced the run to fail.
    Forced(ForcedFailure),
}

/// The progress of a rollback.
#[derive(Clone, Debug, PartialEq)]
pub enum RollbackView {
    Undoing {
        step: Location,
        /// The attempt of the undo, counted from 1.
        attempt: u32,
        since: Timestamp,
    },
    /// An undo failed and will be retried.
    Retrying {
        step: Location,
        /// The attempt that failed.
        attempt: u32,
        error: Failure,
        /// The time of the next attempt.
        retry_at: Timestamp,
    },
    /// One undo has ended and the next has not begun.
    Between,
}
