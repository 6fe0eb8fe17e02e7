//! Undoing completed steps and children.

use serde::{Deserialize, Serialize};

use crate::codec::codec;
use crate::failure::Failure;
use crate::id::RunId;
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

/// An attempt to undo a step or child began.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UndoStarted {
    /// Its place.
    #[serde(rename = "stepId")]
    pub location: Location,
    /// Which attempt, from 1.
    pub attempt: u32,
    /// The run, if it is a child: a later pass of the function may have started another in the same place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
}
codec!(UndoStarted { location, attempt } + { run });

/// A step or child is undone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UndoCompleted {
    /// Its place.
    #[serde(rename = "stepId")]
    pub location: Location,
    /// The attempt that succeeded.
    pub attempt: u32,
    /// The run, if it is a child: a later pass of the function may have started another in the same place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
}
codec!(UndoCompleted { location, attempt } + { run });

/// An attempt to undo a step or child failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UndoFailed {
    /// Its place.
    #[serde(rename = "stepId")]
    pub location: Location,
    /// The attempt that failed.
    pub attempt: u32,
    /// Why.
    pub error: Failure,
    /// When the next attempt begins; none if there is none.
    pub retry_at: Option<Timestamp>,
    /// The run, if it is a child: a later pass of the function may have started another in the same place.
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

/// A step or child is not undone, because the point of no return was passed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UndoSkipped {
    /// Its place.
    #[serde(rename = "stepId")]
    pub location: Location,
    /// The run, if it is a child: a later pass of the function may have started another in the same place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
}
codec!(UndoSkipped { location } + { run });
