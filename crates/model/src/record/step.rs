//! Steps and their attempts.

use serde::{Deserialize, Serialize};

use crate::codec::{enum_codec, records};
use crate::failure::Failure;
use crate::location::Location;
use crate::offset::RecordNumber;
use crate::payload::Payload;
use crate::retry::StepOptions;
use crate::time::Timestamp;

records! {
    /// An attempt of a step began.
    pub struct StepStarted {
        #[serde(rename = "stepId")]
        pub location: Location,
        /// Counted from 1: the highest recorded attempt plus one.
        pub attempt: u32,
        /// The options of the step. Only its first record has them.
        pub options: Option<StepOptions>,
    }

    /// The moment at which a result took effect before it was durable.
    #[derive(Copy, Eq)]
    pub struct TookEffect {
        /// Exactly the records before this one were folded.
        pub folded: RecordNumber,
        /// The run's time at that moment.
        pub now: Timestamp,
    } + {
        /// The order among moments at the same position, counted from 0. A copy leaves records out,
        /// so several moments of the original can share a position.
        #[serde(default)]
        pub moment: u32,
    }

    /// A step completed. Its result is final.
    pub struct StepCompleted {
        #[serde(rename = "stepId")]
        pub location: Location,
        /// The attempt that succeeded.
        pub attempt: u32,
        /// The start of that attempt.
        pub started_at: Timestamp,
        pub result: Payload,
        /// The payload that the step registered for its undo.
        pub undo: Option<Payload>,
        /// Whether views must redact the result.
        pub sensitive: bool,
    } + {
        /// Set if the result took effect before it was durable. Boxed because few results have it
        /// and all are moved often.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub early: Option<Box<TookEffect>>,
        /// Whether the run passes its point of no return with this record.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pub no_return: bool,
    }
}

/// The consequence of a failed attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureOutcome {
    /// The step is retried.
    Retrying,
    /// No retries are left.
    Exhausted,
    /// The error is not retried.
    Fatal,
    /// The attempt timed out and is not retried.
    TimedOut,
    /// The error requests a rollback.
    RollBack,
    /// The run was cancelled before the step had a result.
    Cancelled,
}
enum_codec!(FailureOutcome { Retrying = 0, Exhausted = 1, Fatal = 2, TimedOut = 3, RollBack = 4, Cancelled = 5 });

records! {
    /// An attempt of a step failed.
    pub struct StepFailed {
        #[serde(rename = "stepId")]
        pub location: Location,
        /// The attempt that failed.
        pub attempt: u32,
        /// The start of that attempt.
        pub started_at: Timestamp,
        pub error: Failure,
        pub outcome: FailureOutcome,
        /// The time of the next attempt.
        pub retry_at: Option<Timestamp>,
        /// The payload for the undo, if the step registered one before it failed.
        pub undo: Option<Payload>,
    } + {
        /// The number of retries left.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub retries_left: Option<u32>,
    }

    /// The state of a step that is ended by something other than its own work. With it, one record
    /// describes the whole step.
    #[derive(Copy, Default, Eq)]
    pub struct StepSoFar {
        /// The highest attempt; 0 if none began.
        pub attempts: u32,
        /// The start of the latest attempt.
        pub started_at: Option<Timestamp>,
        /// Whether views must redact the result.
        pub sensitive: bool,
    } + {
        /// Whether the run passes its point of no return when the step completes.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pub no_return: bool,
    }

    /// The code dropped a step, or stopped waiting for a child, before it had a result.
    pub struct StepAbandoned {
        #[serde(rename = "stepId")]
        pub location: Location,
    } + {
        /// The state of the step before; `None` for a child.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub so_far: Option<StepSoFar>,
    }
}
