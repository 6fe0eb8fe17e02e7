//! Undoing completed steps.

use serde::{Deserialize, Serialize};

use crate::codec::codec;
use crate::failure::Failure;
use crate::location::Location;
use crate::time::Timestamp;

/// From here on only undos marked internal run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NoReturn {
    /// The call.
    #[serde(rename = "id")]
    pub location: Location,
}
codec!(NoReturn { location });

/// An attempt to undo a step began.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UndoStarted {
    /// The step.
    #[serde(rename = "stepId")]
    pub location: Location,
    /// Which attempt, from 1.
    pub attempt: u32,
}
codec!(UndoStarted { location, attempt });

/// A step is undone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UndoCompleted {
    /// The step.
    #[serde(rename = "stepId")]
    pub location: Location,
    /// The attempt that succeeded.
    pub attempt: u32,
}
codec!(UndoCompleted { location, attempt });

/// An attempt to undo a step failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UndoFailed {
    /// The step.
    #[serde(rename = "stepId")]
    pub location: Location,
    /// The attempt that failed.
    pub attempt: u32,
    /// Why.
    pub error: Failure,
    /// When the next attempt begins; none if there is none.
    pub retry_at: Option<Timestamp>,
}
codec!(UndoFailed {
    location,
    attempt,
    error,
    retry_at
});

/// A step is not undone, because the point of no return was passed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UndoSkipped {
    /// The step.
    #[serde(rename = "stepId")]
    pub location: Location,
}
codec!(UndoSkipped { location });
