//! Records: the items of a journal, one struct per kind, grouped by theme, and the table of all
//! kinds.

#![allow(missing_docs, reason = "records are plain data")]

mod application;
mod branch;
mod child;
mod control;
mod data;
mod event;
mod execution;
mod lifecycle;
mod repeat;
mod rpc;
mod step;
mod table;
mod timer;
mod undo;
mod version;

pub use application::{
    AttributeSet, Emitted, Note, RESERVED_COLLECTIONS, RowOperation, StateChanged,
};
pub use branch::{
    BranchCompleted, BranchFailed, BranchesKind, BranchesStarted, RaceWon, SwitchChosen,
};
pub use child::{
    ChildFinished, ChildOutcome, ChildStarted, ParentClose, ParentLink, Replied, Sent,
};
pub use control::{
    CancelRequested, ForcedFailure, PauseRequested, ResumeRequested, StepEdited, StepSkipped,
    Terminated,
};
pub use data::Data;
pub use event::{Event, WaitCompleted, WaitTimedOut, Waiting};
pub use execution::{DeadlinePassed, Diverged, ExecutionRetried, Paused, Resumed};
pub use lifecycle::{
    Cancelled, Completed, Created, Failed, ForkReason, ForkedFrom, RollbackFailed,
};
pub use repeat::{Gap, IterationRange, LoopAdvanced, ResolvedInside};
pub use rpc::{RpcAnswered, RpcCompleted, RpcRequested};
pub use step::{
    FailureOutcome, StepAbandoned, StepCompleted, StepFailed, StepSoFar, StepStarted, TookEffect,
};
pub use timer::{Sleeping, TimerFired, TimerPurpose};
pub use undo::{NoReturn, UndoCompleted, UndoFailed, UndoSkipped, UndoStarted};
pub use version::{Removed, VersionChosen};

use serde::Serialize;

use crate::location::Location;
use crate::offset::RecordNumber;
use crate::payload::Payload;
use crate::status::RunStatus;
use crate::time::Timestamp;
use table::{Carried, record_kinds};

/// One item of a journal.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The writer's clock when the record was created.
    pub time: Timestamp,
    pub body: Body,
}

/// A record and its position in the stream.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    pub number: RecordNumber,
    pub record: Record,
}

/// Which writers may append a kind of record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Any writer: the record belongs to the run's inbox.
    Inbox,
    /// Only the holder of the run's fence.
    Executor,
}

/// The cause of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Actor {
    /// A person, a client or another run.
    Outside,
    /// The engine: clocks, children that ended, and requests that it carries out.
    Engine,
    /// The workflow's code, including its undos.
    Workflow,
}

// Tags and type names are permanent: never reuse one. `table.rs` explains the columns.
record_kinds! {
    ($)
    Created = 1, "created", Inbox, Outside, run, free, still, (input),
        [workflow version input tags deadline executionRetries parent by forkedFrom noReturn], boxed;
    Event = 2, "event", Inbox, Outside, run, free, still, (payload), [name payload dedupId by];
    RpcAnswered = 3, "rpc_answered", Inbox, Outside, at, free, still, (answer),
        [id rpcId answer by dedupId], boxed;
    TimerFired = 4, "timer_fired", Inbox, Engine, maybe, free, still, (), [purpose id due];
    ChildFinished = 5, "child_finished", Inbox, Engine, at, free, still, (outcome), [id outcome run], boxed;
    PauseRequested = 6, "pause_requested", Inbox, Outside, run, free, still, (), [by reason];
    ResumeRequested = 7, "resume_requested", Inbox, Outside, run, free, still, (), [by];
    CancelRequested = 8, "cancel_requested", Inbox, Outside, run, free, still, (), [by reason rollback];
    Terminated = 9, "terminated", Inbox, Outside, run, free, forward, (), [by reason abandoned nextGeneration];
    StepSkipped = 10, "step_skipped", Inbox, Outside, at, free, still, (result), [stepId result by soFar];
    StepEdited = 11, "step_edited", Inbox, Outside, at, free, still, (result), [stepId result by soFar];
    ForcedFailure = 12, "forced_failure", Inbox, Outside, maybe, free, still, (), [id error by soFar], boxed;
    DeadlinePassed = 13, "deadline_passed", Inbox, Engine, run, free, still, (), [deadline];
    Data = 14, "data", Inbox, Outside, run, free, still, (), [];

    StepStarted = 20, "step_started", Executor, Workflow, at, first, forward, (), [stepId attempt options];
    StepCompleted = 21, "step_completed", Executor, Workflow, at, free, still, (result undo),
        [stepId attempt startedAt result noReturn];
    StepFailed = 22, "step_failed", Executor, Workflow, at, free, still, (undo),
        [stepId attempt startedAt error outcome retryAt retriesLeft], boxed;
    StepAbandoned = 23, "step_abandoned", Executor, Workflow, at, scripted, still, (), [stepId soFar];
    Sleeping = 24, "sleeping", Executor, Workflow, at, scripted, forward, (), [id until];
    Waiting = 25, "waiting", Executor, Workflow, at, scripted, forward, (), [id names deadline batch];
    WaitCompleted = 26, "wait_completed", Executor, Workflow, at, scripted, still, (), [id events deadline];
    WaitTimedOut = 27, "wait_timed_out", Executor, Workflow, at, scripted, still, (), [id];
    RpcRequested = 28, "rpc_requested", Executor, Workflow, at, scripted, forward, (args schema),
        [id rpcId method args deadline schema], boxed;
    RpcCompleted = 29, "rpc_completed", Executor, Workflow, at, scripted, still, (),
        [id rpcId timedOut deadline];
    BranchesStarted = 30, "branches_started", Executor, Workflow, at, scripted, forward, (),
        [id kind branches];
    BranchCompleted = 31, "branch_completed", Executor, Workflow, at, scripted, forward, (), [id branch];
    BranchFailed = 32, "branch_failed", Executor, Workflow, at, scripted, forward, (),
        [id branch error], boxed;
    RaceWon = 33, "race_won", Executor, Workflow, at, scripted, forward, (), [id winner];
    LoopAdvanced = 34, "loop_advanced", Executor, Workflow, at, scripted, forward, (state),
        [id iteration state done dropped gone], boxed;
    SwitchChosen = 35, "switch_chosen", Executor, Workflow, at, scripted, forward, (), [id branch];
    ChildStarted = 36, "child_started", Executor, Workflow, at, scripted, forward, (input),
        [id run workflow input tags deadline onClose detached undo], boxed;
    Sent = 37, "sent", Executor, Workflow, at, written, forward, (payload), [id to event payload];
    Replied = 38, "replied", Executor, Workflow, at, written, forward, (payload), [id event payload];
    StateChanged = 39, "state_changed", Executor, Workflow, at, written, forward, (value),
        [id collection key operation value];
    Emitted = 40, "emitted", Executor, Workflow, at, written, forward, (payload), [id topic payload];
    Note = 41, "note", Executor, Workflow, at, written, forward, (), [id text];
    VersionChosen = 42, "version_chosen", Executor, Workflow, at, scripted, forward, (), [id version];
    Removed = 43, "removed", Executor, Workflow, at, written, forward, (), [id kind];
    NoReturn = 44, "no_return", Executor, Workflow, at, written, forward, (), [id];
    UndoStarted = 45, "undo_started", Executor, Workflow, at, free, still, (), [stepId attempt run endsRun];
    UndoCompleted = 46, "undo_completed", Executor, Workflow, at, free, still, (), [stepId attempt run];
    UndoFailed = 47, "undo_failed", Executor, Workflow, at, free, still, (),
        [stepId attempt error retryAt run], boxed;
    UndoSkipped = 48, "undo_skipped", Executor, Engine, at, free, still, (), [stepId run endsRun];
    Paused = 49, "paused", Executor, Engine, run, free, still, (), [reason];
    Resumed = 50, "resumed", Executor, Engine, run, free, still, (), [];
    Diverged = 51, "diverged", Executor, Engine, maybe, free, still, (), [id error], boxed;
    ExecutionRetried = 52, "execution_retried", Executor, Engine, run, free, forward, (),
        [attempt error retryAt], boxed;
    AttributeSet = 53, "attribute_set", Executor, Workflow, at, written, forward, (value), [id attribute value];

    Completed = 60, "completed", Executor, Workflow, run, free, forward, (result), [result abandoned];
    Failed = 61, "failed", Executor, Workflow, run, free, forward, (),
        [error rolledBack abandoned causedBy], boxed;
    RollbackFailed = 62, "rollback_failed", Executor, Workflow, run, free, forward, (),
        [error rollbackError abandoned], boxed;
    Cancelled = 63, "cancelled", Executor, Engine, run, free, forward, (), [reason rolledBack abandoned];
}

impl Body {
    /// Returns whether the run passes its point of no return with this record. A skipped step does
    /// not count as done.
    #[must_use]
    pub fn passes_no_return(&self) -> bool {
        match self {
            Self::NoReturn(_) => true,
            Self::Created(record) => record.no_return,
            Self::StepCompleted(record) => record.no_return,
            Self::StepEdited(record) => record.so_far.is_some_and(|so_far| so_far.no_return),
            _ => false,
        }
    }

    /// Returns the final status of the run, if this record ends it.
    #[must_use]
    pub fn terminal(&self) -> Option<RunStatus> {
        match self {
            Self::Completed(_) => Some(RunStatus::Completed),
            Self::Failed(_) => Some(RunStatus::Failed),
            Self::RollbackFailed(_) => Some(RunStatus::RollbackFailed),
            Self::Cancelled(_) => Some(RunStatus::Cancelled),
            Self::Terminated(_) => Some(RunStatus::Terminated),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn large_kinds_are_boxed() {
        assert_eq!(size_of::<Body>(), size_of::<StepCompleted>());
    }

    // B844
    #[test]
    fn a_record_without_payloads_carries_only_null() {
        for mut record in samples::one_of_each() {
            let before = record.body.payloads().count();
            record.body.remove_payloads();
            let left: Vec<_> = record.body.payloads().collect();
            assert!(left.iter().all(|left| left.as_str() == "null"));
            assert_eq!(left.len(), before, "{}", record.body.type_name());
        }
    }

    #[test]
    fn shown_fields_exist_and_are_not_internal() {
        for record in samples::one_of_each() {
            let (name, shown) = (record.body.type_name(), record.body.shown_fields());
            let fields = Body::field_names(name).unwrap();
            assert!(shown.iter().all(|field| fields.contains(field)), "{name}");
            for internal in [
                "seed",
                "undo",
                "early",
                "replyTo",
                "idempotencyKey",
                "folded",
            ] {
                let is_mode = (name, internal) == ("child_started", "undo");
                assert!(is_mode || !shown.contains(&internal), "{name} {internal}");
            }
        }
    }

    #[test]
    fn only_workflow_code_writes_scripted_records() {
        for Record { body, .. } in samples::one_of_each() {
            if body.is_scripted() {
                assert_eq!(
                    (body.origin(), body.actor()),
                    (Origin::Executor, Actor::Workflow)
                );
            }
            assert!(body.is_scripted() || !body.is_written_once());
            assert!(body.terminal().is_none() || body.goes_forward());
        }
    }
}
