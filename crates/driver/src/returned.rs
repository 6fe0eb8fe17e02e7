//! What a workflow function returned, as the driver needs to know it.

use everstep_model::{Failure, Location, Payload};

/// The end of a workflow function.
#[derive(Clone, Debug, PartialEq)]
pub enum Returned {
    /// It returned this result.
    Completed(Payload),
    /// It failed, panicked, or was ended because it ignored its cancellation.
    Failed(Box<CodeFailure>),
}

impl Returned {
    /// The text of the error, for reports of divergence.
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
