//! Requests of operators. They are inbox records; the executor responds with records of its own.

#![allow(
    missing_docs,
    reason = "plain data; fields are explained where their names do not"
)]

use serde::{Deserialize, Serialize};

use super::StepSoFar;
use crate::codec::codec;
use crate::failure::Failure;
use crate::location::Location;
use crate::payload::Payload;

/// A request to pause.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PauseRequested {
    pub by: Option<String>,
    pub reason: Option<String>,
}
codec!(PauseRequested { by, reason });

/// A request to resume.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResumeRequested {
    pub by: Option<String>,
}
codec!(ResumeRequested { by });

/// A request to cancel: the code may react, and completed steps may be undone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CancelRequested {
    pub by: Option<String>,
    pub reason: Option<String>,
    /// Whether completed steps are undone.
    pub rollback: bool,
}
codec!(CancelRequested {
    by,
    reason,
    rollback
});

/// The run was terminated. Its code had no chance to react.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Terminated {
    pub by: Option<String>,
    pub reason: Option<String>,
    /// Steps that were still in flight.
    #[serde(default)]
    pub abandoned: Vec<Location>,
}
codec!(Terminated {
    by,
    reason,
    abandoned
});

/// An operator skipped a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepSkipped {
    #[serde(rename = "stepId")]
    pub location: Location,
    /// The result that the code sees.
    pub result: Payload,
    pub by: Option<String>,
    /// The state of the step before. `None` in journals of earlier releases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub so_far: Option<StepSoFar>,
}
codec!(
    StepSkipped {
        location,
        result,
        by
    } + { so_far }
);

/// An operator set the result of a step that had none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepEdited {
    #[serde(rename = "stepId")]
    pub location: Location,
    pub result: Payload,
    pub by: Option<String>,
    /// The state of the step before. `None` in journals of earlier releases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub so_far: Option<StepSoFar>,
}
codec!(
    StepEdited {
        location,
        result,
        by
    } + { so_far }
);

/// An operator forced an operation, or the whole run, to fail.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ForcedFailure {
    /// The operation; `None` for the run.
    #[serde(rename = "id")]
    pub location: Option<Location>,
    /// The failure that the code sees.
    pub error: Failure,
    pub by: Option<String>,
    /// The state of the step before, if the operation is a step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub so_far: Option<StepSoFar>,
}
codec!(
    ForcedFailure {
        location,
        error,
        by
    } + { so_far }
);
