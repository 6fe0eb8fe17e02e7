//! The answer of [`why`](super::why); `sentence.rs` displays it.

#![allow(
    missing_docs,
    reason = "plain data; fields are explained where their names do not"
)]

#[cfg(doc)]
use everstep_model::LONG_ATTEMPT;
use everstep_model::{Failure, Location, Name, RpcId, RunId, RunStatus, Timestamp};
use serde::{Deserialize, Serialize};

/// The status of a run and everything it waits for. Displayed as one sentence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Why {
    pub status: RunStatus,
    /// Requests first, then what the run waits for. Empty if nothing blocks the run.
    pub reasons: Vec<Reason>,
    /// The deadline of the run, unless it has passed.
    pub deadline: Option<Timestamp>,
}

/// One thing that a run waits for, or a request to it. Displayed as a predicate, without a subject.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(
    tag = "kind",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
#[non_exhaustive]
pub enum Reason {
    /// The end of a sleep.
    TimerAt { location: Location, due: Timestamp },
    /// An event.
    Event {
        location: Location,
        /// The wait takes any of these events.
        names: Vec<Name>,
        since: Timestamp,
        /// When the wait times out.
        deadline: Option<Timestamp>,
        /// The maximum number of events that the wait takes at once.
        batch: u32,
    },
    /// The answer to an rpc.
    Answer {
        location: Location,
        method: Name,
        /// The id that an answer must name.
        rpc_id: RpcId,
        since: Timestamp,
        /// When the rpc times out.
        deadline: Option<Timestamp>,
    },
    /// The end of a child.
    Child {
        location: Location,
        run: RunId,
        workflow: Name,
        since: Timestamp,
    },
    /// The next attempt of a step.
    RetryAt {
        step: Location,
        /// The next attempt.
        attempt: u32,
        /// The time of the next attempt, if known.
        at: Option<Timestamp>,
        last_error: Option<Failure>,
    },
    /// The next pass of the workflow function.
    ExecutionRetry {
        at: Timestamp,
        /// The next attempt.
        attempt: u32,
        last_error: Failure,
    },
    /// A step in flight or due.
    StepRunning {
        step: Location,
        /// The current attempt.
        attempt: u32,
        /// The start of the attempt, if known.
        since: Option<Timestamp>,
        /// The attempt has run for more than a minute ([`LONG_ATTEMPT`]), and the step has no
        /// timeout.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        lacks_timeout: bool,
    },
    /// An undo in flight.
    UndoRunning {
        step: Location,
        /// The current attempt of the undo.
        attempt: u32,
        since: Timestamp,
    },
    /// The next attempt of an undo.
    UndoRetryAt {
        step: Location,
        /// The next attempt.
        attempt: u32,
        at: Timestamp,
        last_error: Failure,
    },
    /// A worker: no live worker offers this workflow in this version.
    NoWorker { workflow: Name, version: u32 },
    /// Code that matches the journal.
    Diverged {
        /// Where code and journal differ, if known.
        location: Option<Location>,
        /// What was recorded, what the code did, and what to do.
        error: Failure,
    },
    /// A request to resume.
    Paused {
        /// The author of the pause, if known.
        by: Option<String>,
        reason: Option<String>,
    },
    /// A requested pause; steps in flight finish first.
    PauseRequested {
        by: Option<String>,
        reason: Option<String>,
    },
    /// A request to cancel.
    CancelRequested {
        by: Option<String>,
        reason: Option<String>,
        /// Whether completed steps are undone.
        rollback: bool,
    },
    /// A deadline that has passed; the run is about to fail.
    DeadlinePassed { deadline: Timestamp },
    /// An operator forced the run to fail.
    ForcedFailure {
        by: Option<String>,
        /// The failure with which the run ends.
        error: Failure,
    },
    /// Nothing: the run has ended.
    Finished {
        status: RunStatus,
        /// Why the run failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<Failure>,
        /// The operations whose failures made the run fail.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        caused_by: Vec<Location>,
        /// Why its rollback failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rollback_error: Option<Failure>,
        /// The reason given in the request that ended the run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// A free slot of a worker that offers the code.
    Queued,
    /// The store. Added by callers that could not read the journal, never by [`why`](super::why).
    StoreUnavailable { detail: String },
}
