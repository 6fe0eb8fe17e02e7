//! Records: the items of a journal, one type per kind, grouped by theme.
//!
//! Type names and tags are permanent. `Origin` says who may write a kind: everybody adds to a run's inbox, only the
//! holder of its fence writes the rest.

mod application;
mod branch;
mod child;
mod control;
mod data;
mod event;
mod execution;
mod lifecycle;
mod payloads;
mod repeat;
mod rpc;
#[cfg(test)]
pub(crate) mod samples;
mod step;
mod timer;
mod undo;
mod version;

pub use application::{Emitted, Note, RESERVED_COLLECTIONS, RowOperation, StateChanged};
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

use crate::location::Location;
use crate::offset::RecordNumber;
use crate::time::Timestamp;

/// One item of a journal: when it was written, and what it says.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The writer's clock when the record was made.
    pub time: Timestamp,
    /// What it says.
    pub body: Body,
}

/// A record in its place in the stream.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Its number.
    pub number: RecordNumber,
    /// The record.
    pub record: Record,
}

/// Who may write a kind of record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Everybody: it lands in the run's inbox.
    Inbox,
    /// Only the holder of the run's fence.
    Executor,
}

macro_rules! bodies {
    ($($kind:ident = $tag:literal, $text:literal, $origin:ident, $place:ident $(, $boxed:ident)?;)*) => {
        /// What a record says. The variants carry one struct each; the large ones that are rare are boxed, because every
        /// step moves its records many times.
        #[derive(Clone, Debug, PartialEq)]
        #[allow(missing_docs, reason = "each variant is named and documented by the struct it carries")]
        pub enum Body { $($kind(bodies!(@held $kind $($boxed)?)),)* }

        impl Body {
            /// Every type name, in the order of the tags.
            pub const TYPE_NAMES: &'static [&'static str] = &[$($text,)*];

            /// The permanent name on the wire, without the prefix `workflow:`.
            #[must_use]
            pub fn type_name(&self) -> &'static str {
                match self { $(Self::$kind(_) => $text,)* }
            }

            /// The permanent number in frames.
            #[must_use]
            pub fn tag(&self) -> u8 {
                match self { $(Self::$kind(_) => $tag,)* }
            }

            /// Who writes this kind.
            #[must_use]
            pub fn origin(&self) -> Origin {
                match self { $(Self::$kind(_) => Origin::$origin,)* }
            }

            /// The operation it is about, if it is about one.
            #[must_use]
            pub fn location(&self) -> Option<&Location> {
                match self { $(Self::$kind(_r) => bodies!(@location $place _r),)* }
            }

            /// The names of the fields of a type of record on the wire.
            #[cfg(test)]
            pub(crate) fn field_names(type_name: &str) -> Option<&'static [&'static str]> {
                match type_name {
                    $($text => Some(crate::protocol_tests::field_names::<$kind>()),)*
                    _ => None,
                }
            }

            pub(crate) fn put_fields(&self, out: &mut crate::codec::Writer) {
                match self { $(Self::$kind(r) => <$kind as crate::codec::Wire>::put(r, out),)* }
            }

            pub(crate) fn take_fields(
                tag: u8,
                input: &mut crate::codec::Reader<'_>,
            ) -> Result<Self, crate::codec::DecodeError> {
                match tag {
                    $($tag => <$kind as crate::codec::Wire>::take(input).map(Self::from),)*
                    other => Err(crate::codec::DecodeError::UnknownRecord(other)),
                }
            }

            /// Its fields as a JSON object: all of them, so not for everybody's eyes.
            pub fn to_json(&self) -> Result<String, serde_json::Error> {
                match self { $(Self::$kind(r) => serde_json::to_string(r),)* }
            }

            pub(crate) fn from_json(type_name: &str, value: &str) -> Option<Result<Self, serde_json::Error>> {
                match type_name {
                    $($text => Some(serde_json::from_str::<$kind>(value).map(Self::from)),)*
                    _ => None,
                }
            }
        }

        $(impl From<$kind> for Body {
            fn from(record: $kind) -> Self {
                Self::$kind(bodies!(@hold record $($boxed)?))
            }
        })*
    };
    (@held $kind:ident) => { $kind };
    (@held $kind:ident boxed) => { Box<$kind> };
    (@hold $record:ident) => { $record };
    (@hold $record:ident boxed) => { Box::new($record) };
    (@location at $record:ident) => { Some(&$record.location) };
    (@location maybe $record:ident) => { $record.location.as_ref() };
    (@location run $record:ident) => { { let _ = $record; None } };
}

bodies! {
    Created = 1, "created", Inbox, run, boxed;
    Event = 2, "event", Inbox, run;
    RpcAnswered = 3, "rpc_answered", Inbox, at, boxed;
    TimerFired = 4, "timer_fired", Inbox, maybe;
    ChildFinished = 5, "child_finished", Inbox, at, boxed;
    PauseRequested = 6, "pause_requested", Inbox, run;
    ResumeRequested = 7, "resume_requested", Inbox, run;
    CancelRequested = 8, "cancel_requested", Inbox, run;
    Terminated = 9, "terminated", Inbox, run;
    StepSkipped = 10, "step_skipped", Inbox, at;
    StepEdited = 11, "step_edited", Inbox, at;
    ForcedFailure = 12, "forced_failure", Inbox, maybe, boxed;
    DeadlinePassed = 13, "deadline_passed", Inbox, run;
    Data = 14, "data", Inbox, run;

    StepStarted = 20, "step_started", Executor, at;
    StepCompleted = 21, "step_completed", Executor, at;
    StepFailed = 22, "step_failed", Executor, at, boxed;
    StepAbandoned = 23, "step_abandoned", Executor, at;
    Sleeping = 24, "sleeping", Executor, at;
    Waiting = 25, "waiting", Executor, at;
    WaitCompleted = 26, "wait_completed", Executor, at;
    WaitTimedOut = 27, "wait_timed_out", Executor, at;
    RpcRequested = 28, "rpc_requested", Executor, at, boxed;
    RpcCompleted = 29, "rpc_completed", Executor, at;
    BranchesStarted = 30, "branches_started", Executor, at;
    BranchCompleted = 31, "branch_completed", Executor, at;
    BranchFailed = 32, "branch_failed", Executor, at, boxed;
    RaceWon = 33, "race_won", Executor, at;
    LoopAdvanced = 34, "loop_advanced", Executor, at, boxed;
    SwitchChosen = 35, "switch_chosen", Executor, at;
    ChildStarted = 36, "child_started", Executor, at, boxed;
    Sent = 37, "sent", Executor, at;
    Replied = 38, "replied", Executor, at;
    StateChanged = 39, "state_changed", Executor, at;
    Emitted = 40, "emitted", Executor, at;
    Note = 41, "note", Executor, at;
    VersionChosen = 42, "version_chosen", Executor, at;
    Removed = 43, "removed", Executor, at;
    NoReturn = 44, "no_return", Executor, at;
    UndoStarted = 45, "undo_started", Executor, at;
    UndoCompleted = 46, "undo_completed", Executor, at;
    UndoFailed = 47, "undo_failed", Executor, at, boxed;
    UndoSkipped = 48, "undo_skipped", Executor, at;
    Paused = 49, "paused", Executor, run;
    Resumed = 50, "resumed", Executor, run;
    Diverged = 51, "diverged", Executor, maybe, boxed;
    ExecutionRetried = 52, "execution_retried", Executor, run, boxed;

    Completed = 60, "completed", Executor, run;
    Failed = 61, "failed", Executor, run, boxed;
    RollbackFailed = 62, "rollback_failed", Executor, run, boxed;
    Cancelled = 63, "cancelled", Executor, run;
}

impl Body {
    /// The status of a run that this record ends, if it ends one.
    #[must_use]
    pub fn terminal(&self) -> Option<crate::status::RunStatus> {
        use crate::status::RunStatus;
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

    #[test]
    fn no_kind_of_record_makes_those_of_a_step_larger() {
        assert_eq!(size_of::<Body>(), size_of::<StepCompleted>());
    }
}
