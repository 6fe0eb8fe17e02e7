//! Undos of steps and children.

#![allow(
    missing_docs,
    reason = "plain data; fields are explained where their names do not"
)]

use serde::{Deserialize, Serialize};

use crate::codec::codec;
use crate::failure::Failure;
use crate::id::RunId;
use crate::location::Location;
use crate::time::Timestamp;

/// The code passed the point of no return: from now on only undos marked internal run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NoReturn {
    #[serde(rename = "id")]
    pub location: Location,
}
codec!(NoReturn { location });

/// An attempt to undo a step or child began.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UndoStarted {
    #[serde(rename = "stepId")]
    pub location: Location,
    /// Counted from 1.
    pub attempt: u32,
    /// The run, for a child. A location may have several children, one per pass of the function.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
}
codec!(UndoStarted { location, attempt } + { run });

/// A step or child is undone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UndoCompleted {
    #[serde(rename = "stepId")]
    pub location: Location,
    /// The attempt that succeeded.
    pub attempt: u32,
    /// The run, for a child. A location may have several children, one per pass of the function.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
}
codec!(UndoCompleted { location, attempt } + { run });

/// An attempt to undo a step or child failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UndoFailed {
    #[serde(rename = "stepId")]
    pub location: Location,
    /// The attempt that failed.
    pub attempt: u32,
    pub error: Failure,
    /// The time of the next attempt, if there is one.
    pub retry_at: Option<Timestamp>,
    /// The run, for a child. A location may have several children, one per pass of the function.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
}
codec!(
    UndoFailed {
        location,
        attempt,
        error,
        retry_at
    } + { run }
);

/// An undo was skipped because the point of no return was passed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UndoSkipped {
    #[serde(rename = "stepId")]
    pub location: Location,
    /// The run, for a child. A location may have several children, one per pass of the function.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
}
codec!(UndoSkipped { location } + { run });
