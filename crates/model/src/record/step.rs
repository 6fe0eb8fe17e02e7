//! Steps and their attempts.

use serde::{Deserialize, Serialize};

use crate::codec::{byte_codec, codec};
use crate::failure::Failure;
use crate::location::Location;
use crate::offset::RecordNumber;
use crate::payload::Payload;
use crate::retry::StepOptions;
use crate::time::Timestamp;

/// An attempt began.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepStarted {
    /// The step.
    #[serde(rename = "stepId")]
    pub location: Location,
    /// Which attempt, from 1; one more than the highest recorded.
    pub attempt: u32,
    /// How the step is executed; fixed by its first attempt.
    pub options: Option<StepOptions>,
}
codec!(StepStarted {
    location,
    attempt,
    options
});

/// Where in the journal a result took effect that was not durable yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TookEffect {
    /// Everything before this record was folded then, and nothing else.
    pub folded: RecordNumber,
    /// The run's time then.
    pub now: Timestamp,
    /// Which moment at that place this was, from 0. A copy of a journal leaves records out, and what took effect between
    /// them comes to stand at one place of it; this keeps them apart and in order.
    #[serde(default)]
    pub moment: u32,
}
codec!(TookEffect { folded, now } + { moment });

/// The step has its result, once and for all.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepCompleted {
    /// The step.
    #[serde(rename = "stepId")]
    pub location: Location,
    /// The attempt that succeeded.
    pub attempt: u32,
    /// When that attempt began.
    pub started_at: Timestamp,
    /// What it returned.
    pub result: Payload,
    /// What its undo will need besides the result.
    pub undo: Option<Payload>,
    /// Whether views must redact the result.
    pub sensitive: bool,
    /// Where it took effect, if that was before it was durable. Boxed, because few results have it and all are moved often.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub early: Option<Box<TookEffect>>,
}
codec!(
    StepCompleted {
        location,
        attempt,
        started_at,
        result,
        undo,
        sensitive
    } + { early }
);

/// What follows from a failed attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureOutcome {
    /// There will be another attempt.
    Retrying,
    /// No retries are left.
    Exhausted,
    /// The error is not retried.
    Fatal,
    /// The attempt took too long, and that is final.
    TimedOut,
    /// The error asks to stop and roll back.
    RollBack,
    /// The run was cancelled before the step had a result.
    Cancelled,
}
byte_codec!(FailureOutcome { Retrying = 0, Exhausted = 1, Fatal = 2, TimedOut = 3, RollBack = 4, Cancelled = 5 });

/// An attempt failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepFailed {
    /// The step.
    #[serde(rename = "stepId")]
    pub location: Location,
    /// The attempt that failed.
    pub attempt: u32,
    /// When that attempt began.
    pub started_at: Timestamp,
    /// Why.
    pub error: Failure,
    /// What follows.
    pub outcome: FailureOutcome,
    /// When the next attempt begins.
    pub retry_at: Option<Timestamp>,
    /// What its undo will need, if it registered that before failing.
    pub undo: Option<Payload>,
    /// How many retries are left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retries_left: Option<u32>,
}
codec!(
    StepFailed {
        location,
        attempt,
        started_at,
        error,
        outcome,
        retry_at,
        undo
    } + { retries_left }
);

/// What is known of a step when something other than its own work settles it: a reader of that record alone can tell the
/// whole step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepSoFar {
    /// The highest attempt; 0 if none began.
    pub attempts: u32,
    /// When it began.
    pub started_at: Option<Timestamp>,
    /// Whether views must redact its result.
    pub sensitive: bool,
}
codec!(StepSoFar {
    attempts,
    started_at,
    sensitive
});

/// The code dropped the step, or stopped waiting for the child, before it had a result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepAbandoned {
    /// Its place.
    #[serde(rename = "stepId")]
    pub location: Location,
    /// What the step was before; none for a child.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub so_far: Option<StepSoFar>,
}
codec!(StepAbandoned { location } + { so_far });
