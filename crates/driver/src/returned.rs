//! How a workflow function ended.

use everstep_machine::Divergence;
use everstep_model::{ErrorCode, Failure, Location, Payload};

/// The end of a workflow function.
#[derive(Clone, Debug, PartialEq)]
pub enum Returned {
    /// It returned this result.
    Completed(Payload),
    /// It failed, panicked, or was ended because it ignored its cancellation.
    Failed(Box<CodeFailure>),
}

impl Returned {
    /// Returns the end of code that ignored the cancellation of its run.
    pub(crate) fn ignored_cancellation() -> Self {
        let message = "the code went on after its run was cancelled";
        let failure = Failure::new(ErrorCode::WorkflowFailed, message).named("Error");
        Self::Failed(Box::new(CodeFailure {
            text: failure.to_string(),
            failure,
            causes: Vec::new(),
            is_worth_another_pass: false,
        }))
    }

    /// Returns the text of the error, for reports of divergence.
    pub(crate) fn error(&self) -> Option<&str> {
        match self {
            Self::Completed(_) => None,
            Self::Failed(failed) => Some(&failed.text),
        }
    }
}

/// The error of a workflow function.
#[derive(Clone, Debug, PartialEq)]
pub struct CodeFailure {
    /// The failure that the run records.
    pub failure: Failure,
    /// The error as the code's own language displays it.
    pub text: String,
    /// Operations whose failures caused it.
    pub causes: Vec<Location>,
    /// Whether another pass of the function may succeed.
    pub is_worth_another_pass: bool,
}

/// The result of a dry execution.
#[derive(Debug, PartialEq)]
pub struct Verified {
    /// What the function returned, if it did.
    pub returned: Option<Returned>,
    /// The first operation of the code that the journal does not contain. For a complete journal
    /// this is a divergence.
    pub unrecorded: Option<Divergence>,
}
