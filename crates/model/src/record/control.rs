//! Requests of operators. They are inbox records; the executor answers them with records of its own.

use serde::{Deserialize, Serialize};

use super::StepSoFar;
use crate::codec::codec;
use crate::failure::Failure;
use crate::location::Location;
use crate::payload::Payload;

/// Somebody asks the run to pause.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PauseRequested {
    /// Who asks.
    pub by: Option<String>,
    /// Why.
    pub reason: Option<String>,
}
codec!(PauseRequested { by, reason });

/// Somebody asks the run to go on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResumeRequested {
    /// Who asks.
    pub by: Option<String>,
}
codec!(ResumeRequested { by });

/// Somebody asks the run to end in good order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CancelRequested {
    /// Who asks.
    pub by: Option<String>,
    /// Why.
    pub reason: Option<String>,
    /// Whether completed steps are undone.
    pub rollback: bool,
}
codec!(CancelRequested {
    by,
    reason,
    rollback
});

/// Somebody ended the run at once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Terminated {
    /// Who did.
    pub by: Option<String>,
    /// Why.
    pub reason: Option<String>,
    /// Steps that were still running.
    #[serde(default)]
    pub abandoned: Vec<Location>,
}
codec!(Terminated {
    by,
    reason,
    abandoned
});

/// An operator satisfied a step without running it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepSkipped {
    /// The step.
    #[serde(rename = "stepId")]
    pub location: Location,
    /// What it is taken to have returned.
    pub result: Payload,
    /// Who did.
    pub by: Option<String>,
    /// What the step was before; none in journals of earlier releases.
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

/// An operator gave an unresolved step its result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepEdited {
    /// The step.
    #[serde(rename = "stepId")]
    pub location: Location,
    /// The result.
    pub result: Payload,
    /// Who did.
    pub by: Option<String>,
    /// What the step was before; none in journals of earlier releases.
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

/// An operator made an operation, or the whole run, fail.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ForcedFailure {
    /// The operation; none for the run.
    #[serde(rename = "id")]
    pub location: Option<Location>,
    /// The failure it gets.
    pub error: Failure,
    /// Who did.
    pub by: Option<String>,
    /// What the step was before, if it is one.
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
