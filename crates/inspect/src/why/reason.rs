//! What an answer is made of. [`why`](super::why) gives it, `sentence.rs` says it in words.

use everstep_model::{Failure, Location, Name, RpcId, RunId, RunStatus, Timestamp};
use serde::{Deserialize, Serialize};

/// What a run is doing, and everything it waits for. Displayed as one sentence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Why {
    /// What it is doing.
    pub status: RunStatus,
    /// What somebody or the clock asks of it, then what it waits for. None means that nothing holds it up.
    pub reasons: Vec<Reason>,
    /// When it must be over, if it has a deadline that has not passed.
    pub deadline: Option<Timestamp>,
}

/// One thing a run waits for or was asked to do. Displayed as what the run does, without a subject.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(
    tag = "kind",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
#[non_exhaustive]
pub enum Reason {
    /// The end of a sleep.
    TimerAt {
        /// The sleep.
        location: Location,
        /// When it ends.
        due: Timestamp,
    },
    /// An event.
    Event {
        /// The wait.
        location: Location,
        /// One of these.
        names: Vec<Name>,
        /// Since when.
        since: Timestamp,
        /// When the wait gives up.
        deadline: Option<Timestamp>,
        /// The most events it takes at once.
        batch: u32,
    },
    /// The answer to a question.
    Answer {
        /// The call.
        location: Location,
        /// What is asked.
        method: Name,
        /// The id under which it is answered.
        rpc_id: RpcId,
        /// Since when.
        since: Timestamp,
        /// When the question is withdrawn.
        deadline: Option<Timestamp>,
    },
    /// The end of a child.
    Child {
        /// The operation that started it.
        location: Location,
        /// The child.
        run: RunId,
        /// Its workflow.
        workflow: Name,
        /// Since when.
        since: Timestamp,
    },
    /// The next attempt of a step.
    RetryAt {
        /// The step.
        step: Location,
        /// The attempt that comes next.
        attempt: u32,
        /// When it begins, if that is known.
        at: Option<Timestamp>,
        /// Why the last one failed.
        last_error: Option<Failure>,
    },
    /// The next attempt of the whole function.
    ExecutionRetry {
        /// When it begins.
        at: Timestamp,
        /// The attempt that comes next.
        attempt: u32,
        /// Why the last one failed.
        last_error: Failure,
    },
    /// A step that is being executed, or due to be.
    StepRunning {
        /// The step.
        step: Location,
        /// Which attempt.
        attempt: u32,
        /// Since when, if that is known.
        since: Option<Timestamp>,
    },
    /// A step that is being undone.
    UndoRunning {
        /// The step.
        step: Location,
        /// Which attempt to undo it.
        attempt: u32,
        /// Since when.
        since: Timestamp,
    },
    /// The next attempt to undo a step.
    UndoRetryAt {
        /// The step.
        step: Location,
        /// The attempt that comes next.
        attempt: u32,
        /// When it begins.
        at: Timestamp,
        /// Why the last one failed.
        last_error: Failure,
    },
    /// A worker: none that is alive offers this workflow in this version.
    NoWorker {
        /// The workflow.
        workflow: Name,
        /// The version of it that the run keeps.
        version: u32,
    },
    /// Code that fits the journal.
    Diverged {
        /// Where the two part, if that is known.
        location: Option<Location>,
        /// What was recorded, what the code did, and what to do.
        error: Failure,
    },
    /// Somebody to resume it.
    Paused {
        /// Who paused it, as far as known.
        by: Option<String>,
        /// Why.
        reason: Option<String>,
    },
    /// A pause that somebody asked for; what is in flight finishes first.
    PauseRequested {
        /// Who asked.
        by: Option<String>,
        /// Why.
        reason: Option<String>,
    },
    /// A request to end in good order.
    CancelRequested {
        /// Who asked.
        by: Option<String>,
        /// Why.
        reason: Option<String>,
        /// Whether completed steps are undone.
        rollback: bool,
    },
    /// A deadline that passed: the run is about to fail.
    DeadlinePassed {
        /// The deadline.
        deadline: Timestamp,
    },
    /// An operator who made the run fail.
    ForcedFailure {
        /// Who did.
        by: Option<String>,
        /// The failure it gets.
        error: Failure,
    },
    /// Nothing: it is over.
    Finished {
        /// How it ended.
        status: RunStatus,
    },
    /// Its turn: a worker offers its code and will take it.
    Queued,
    /// The store. Said by whoever could not read the journal; [`why`](super::why) never does.
    StoreUnavailable {
        /// What the store said.
        detail: String,
    },
}
