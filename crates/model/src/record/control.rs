//! Requests of operators. They are inbox records; the executor responds with records of its own.

use super::StepSoFar;
use crate::codec::records;
use crate::failure::Failure;
use crate::id::Generation;
use crate::location::Location;
use crate::payload::Payload;

records! {
    /// A request to pause.
    pub struct PauseRequested {
        pub by: Option<String>,
        pub reason: Option<String>,
    }

    /// A request to resume.
    pub struct ResumeRequested {
        pub by: Option<String>,
    }

    /// A request to cancel: the code may react, and completed steps may be undone.
    pub struct CancelRequested {
        pub by: Option<String>,
        pub reason: Option<String>,
        /// Whether completed steps are undone.
        pub rollback: bool,
    }

    /// The run was terminated. Its code had no chance to react.
    pub struct Terminated {
        pub by: Option<String>,
        pub reason: Option<String>,
        /// Steps that were still in flight.
        #[serde(default)]
        pub abandoned: Vec<Location>,
    } + {
        /// The generation in which the run continues, if it was terminated in order to be
        /// restarted.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub next_generation: Option<Generation>,
    }

    /// An operator skipped a step.
    pub struct StepSkipped {
        #[serde(rename = "stepId")]
        pub location: Location,
        /// The result that the code sees.
        pub result: Payload,
        pub by: Option<String>,
    } + {
        /// The state of the step before. `None` in journals of earlier releases.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub so_far: Option<StepSoFar>,
    }

    /// An operator set the result of a step that had none.
    pub struct StepEdited {
        #[serde(rename = "stepId")]
        pub location: Location,
        pub result: Payload,
        pub by: Option<String>,
    } + {
        /// The state of the step before. `None` in journals of earlier releases.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub so_far: Option<StepSoFar>,
    }

    /// An operator forced an operation, or the whole run, to fail.
    pub struct ForcedFailure {
        /// The operation; `None` for the run.
        #[serde(rename = "id")]
        pub location: Option<Location>,
        /// The failure that the code sees.
        pub error: Failure,
        pub by: Option<String>,
    } + {
        /// The state of the step before, if the operation is a step.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub so_far: Option<StepSoFar>,
    }
}
