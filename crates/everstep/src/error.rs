//! The error of workflow code: any error of the application's, or a failure that comes from the engine.

use std::any::Any;
use std::fmt;
use std::time::Duration;

use everstep_engine::CodedError;
use everstep_machine::{FailureClass, StepFailure};
use everstep_model::record::{BranchesKind, FailureOutcome};
use everstep_model::{
    ErrorCode, Failure, InvalidName, InvalidRunId, Location, PayloadError, RunId, limits,
};

/// The result of workflow code and of steps.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong in a step or a workflow. Every error type converts into it with `?`, keeping its name and message.
#[derive(Clone)]
pub struct Error(Box<Inner>);

#[derive(Clone)]
struct Inner {
    failure: Failure,
    class: FailureClass,
    source: Option<Source>,
}

/// The operation an error comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Source {
    /// A step.
    Step(StepFailure),
    /// A join or race.
    Branches(BranchesFailure),
    /// A child.
    Child(ChildFailure),
}

/// How a child did not complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChildFailure {
    /// The operation that waited for it.
    pub location: Location,
    /// The child.
    pub run: RunId,
    /// Its workflow.
    pub workflow: String,
    /// Why, as the child itself says.
    pub error: Failure,
    /// Whether it was cancelled or terminated rather than failed.
    pub cancelled: bool,
}

/// How the branches of a join or race failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchesFailure {
    /// Which of the two.
    pub kind: BranchesKind,
    /// The join or race.
    pub location: Location,
    /// The branches that failed, and only those, in the order they were given.
    pub failures: Vec<BranchFailure>,
    /// The operations in them whose failures these are.
    causes: Vec<Location>,
}

/// How a branch failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchFailure {
    /// The branch.
    pub branch: String,
    /// Why.
    pub error: Failure,
}

impl Error {
    /// An error with a message of its own. A step that fails with it is retried.
    #[must_use]
    pub fn new(message: impl fmt::Display) -> Self {
        Self::from_failure(Failure::new(ErrorCode::StepFailed, message.to_string()).named("Error"))
    }

    /// An error that is not worth retrying: the step fails at once.
    #[must_use]
    pub fn fatal(message: impl fmt::Display) -> Self {
        Self::new(message).non_retryable()
    }

    /// An error made of a failure.
    #[must_use]
    pub fn from_failure(failure: Failure) -> Self {
        Self(Box::new(Inner {
            failure,
            class: FailureClass::Retryable,
            source: None,
        }))
    }

    /// The same error, not worth retrying.
    #[must_use]
    pub fn non_retryable(mut self) -> Self {
        self.0.class = FailureClass::Fatal;
        self
    }

    /// The same error, to be retried after exactly this long, as a `Retry-After` header asks.
    #[must_use]
    pub fn retry_after(mut self, delay: Duration) -> Self {
        self.0.class = FailureClass::RetryAfter(delay);
        self
    }

    /// The same error, asking to stop the workflow and roll it back.
    #[must_use]
    pub fn rollback(mut self) -> Self {
        self.0.class = FailureClass::RollBack;
        self
    }

    /// The same error under another name.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.0.failure.name = name.into();
        self
    }

    /// The error as data.
    #[must_use]
    pub fn failure(&self) -> &Failure {
        &self.0.failure
    }

    /// The operation this comes from, if it comes from one.
    #[must_use]
    pub fn origin(&self) -> Option<&Source> {
        self.0.source.as_ref()
    }

    /// The failure of a step, if this comes from one.
    #[must_use]
    pub fn step_failure(&self) -> Option<&StepFailure> {
        match self.origin()? {
            Source::Step(step) => Some(step),
            Source::Branches(_) | Source::Child(_) => None,
        }
    }

    /// How the branches of a join or race failed, if this comes from one.
    #[must_use]
    pub fn branches_failure(&self) -> Option<&BranchesFailure> {
        match self.origin()? {
            Source::Branches(branches) => Some(branches),
            Source::Step(_) | Source::Child(_) => None,
        }
    }

    /// How a child did not complete, if this comes from one.
    #[must_use]
    pub fn child_failure(&self) -> Option<&ChildFailure> {
        match self.origin()? {
            Source::Child(child) => Some(child),
            Source::Step(_) | Source::Branches(_) => None,
        }
    }

    /// Whether it asks to stop the workflow and roll it back.
    #[must_use]
    pub fn asks_for_rollback(&self) -> bool {
        self.0.class == FailureClass::RollBack
    }

    /// The operations whose failures it comes from.
    pub(crate) fn causes(&self) -> Vec<Location> {
        match &self.0.source {
            Some(Source::Step(step)) => vec![step.location.clone()],
            Some(Source::Branches(branches)) => branches.causes.clone(),
            Some(Source::Child(child)) => vec![child.location.clone()],
            None => Vec::new(),
        }
    }

    /// Whether the code is this one.
    #[must_use]
    pub fn is(&self, code: ErrorCode) -> bool {
        self.0.failure.is(code)
    }

    pub(crate) fn into_failure(self) -> Failure {
        self.0.failure
    }

    pub(crate) fn class(&self) -> FailureClass {
        self.0.class
    }

    pub(crate) fn from_step(step: StepFailure) -> Self {
        let class = match step.outcome {
            FailureOutcome::RollBack => FailureClass::RollBack,
            FailureOutcome::Retrying
            | FailureOutcome::Exhausted
            | FailureOutcome::Fatal
            | FailureOutcome::Cancelled
            | FailureOutcome::TimedOut => FailureClass::Fatal,
        };
        Self(Box::new(Inner {
            failure: step_to_failure(&step),
            class,
            source: Some(Source::Step(step)),
        }))
    }

    /// The error of a child that did not complete. Its outcome stands, so another pass would see the same.
    pub(crate) fn from_child(child: ChildFailure) -> Self {
        let end = if child.cancelled {
            "was ended"
        } else {
            "failed"
        };
        let message = format!(
            "child `{}` of workflow `{}` {end}",
            child.run, child.workflow
        );
        let failure = Failure::new(ErrorCode::ChildFailed, message).caused_by(child.error.clone());
        Self(Box::new(Inner {
            failure,
            class: FailureClass::Fatal,
            source: Some(Source::Child(child)),
        }))
    }

    /// The error of a join or race whose branches failed so.
    pub(crate) fn from_branches(
        kind: BranchesKind,
        location: Location,
        failed: Vec<(String, Self)>,
    ) -> Self {
        let asks_for_rollback = failed.iter().any(|(_, error)| error.asks_for_rollback());
        let is_worth_retrying = failed
            .iter()
            .any(|(_, error)| error.is_worth_another_pass());
        let class = if asks_for_rollback {
            FailureClass::RollBack
        } else if is_worth_retrying {
            FailureClass::Retryable
        } else {
            FailureClass::Fatal
        };
        let causes = failed.iter().flat_map(|(_, error)| error.causes());
        let branches = BranchesFailure {
            kind,
            location,
            causes: causes.collect(),
            failures: failed
                .iter()
                .map(|(branch, error)| BranchFailure {
                    branch: branch.clone(),
                    error: error.failure().clone(),
                })
                .collect(),
        };
        let mut failure = Failure::new(ErrorCode::BranchesFailed, branches.to_string());
        if let [(_, only)] = &failed[..] {
            failure = failure.caused_by(only.failure().clone());
        }
        Self(Box::new(Inner {
            failure,
            class,
            source: Some(Source::Branches(branches)),
        }))
    }

    /// Whether running the whole function again may help.
    pub(crate) fn is_worth_another_pass(&self) -> bool {
        match self.step_failure() {
            Some(step) => matches!(
                step.outcome,
                FailureOutcome::Exhausted | FailureOutcome::TimedOut
            ),
            None => matches!(
                self.class(),
                FailureClass::Retryable | FailureClass::RetryAfter(_)
            ),
        }
    }
}

impl fmt::Display for BranchesFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            BranchesKind::Join => "branches of join",
            BranchesKind::Race => "all branches of race",
        };
        write!(f, "{kind} `{}` failed: ", self.location)?;
        for (index, failure) in self.failures.iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            write!(f, "{comma}`{}` ({})", failure.branch, failure.error.message)?;
        }
        Ok(())
    }
}

/// A step's failure as the failure of whatever awaited it: the same name and message, and where it happened.
fn step_to_failure(step: &StepFailure) -> Failure {
    let mut failure = step.error.clone();
    if step.outcome == FailureOutcome::Exhausted {
        failure.code = ErrorCode::StepExhausted.as_str().to_owned();
    }
    failure.stack = Some(format!(
        "step `{}`, attempt {}",
        step.location, failure.attempt
    ));
    failure
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} [{}]", self.0.failure, self.0.failure.code)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0.failure, f)
    }
}

impl<E: std::error::Error + Send + Sync + 'static> From<E> for Error {
    fn from(error: E) -> Self {
        let mut failure = describe(&error, short_type_name::<E>());
        match mistake(&error) {
            Some(code) => {
                code.as_str().clone_into(&mut failure.code);
                Self::from_failure(failure).non_retryable()
            }
            None => Self::from_failure(failure),
        }
    }
}

/// The code of an error that says how something was written wrongly, which does not go away by trying again.
fn mistake(error: &(dyn Any + Send + Sync)) -> Option<ErrorCode> {
    if error.is::<InvalidName>() {
        return Some(ErrorCode::InvalidName);
    }
    if error.is::<InvalidRunId>() {
        return Some(ErrorCode::InvalidRunId);
    }
    error.downcast_ref::<PayloadError>().map(CodedError::code)
}

fn describe(error: &dyn std::error::Error, name: &str) -> Failure {
    let said = |error: &dyn std::error::Error, name: &str| {
        Failure::new(ErrorCode::StepFailed, error.to_string()).named(name)
    };
    // An error of a user may name itself as its source, or have thousands.
    let sources = std::iter::successors(error.source(), |cause| cause.source());
    let mut causes: Vec<_> = sources.take(limits::CAUSES_MAX).collect();
    let innermost = causes.pop().map(|cause| said(cause, "cause"));
    let cause = innermost.map(|innermost| {
        let outer = causes.iter().rev();
        outer.fold(innermost, |failure, cause| {
            said(*cause, "cause").caused_by(failure)
        })
    });
    let failure = said(error, name);
    match cause {
        Some(cause) => failure.caused_by(cause),
        None => failure,
    }
}

/// `ConnectionError` for `net::ConnectionError`; generic arguments are left out.
fn short_type_name<T>() -> &'static str {
    let full = std::any::type_name::<T>();
    let plain = full.split('<').next().unwrap_or(full);
    plain.rsplit("::").next().unwrap_or(plain)
}

/// What a panic said.
pub(crate) fn panic_text(panic: &(dyn Any + Send)) -> &str {
    if let Some(text) = panic.downcast_ref::<&str>() {
        return text;
    }
    panic
        .downcast_ref::<String>()
        .map_or("no message", String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("card declined")]
    struct Declined(#[source] std::io::Error);

    // B30
    #[test]
    fn an_application_error_keeps_its_name_message_and_cause() {
        let error = Error::from(Declined(std::io::Error::other("bank offline")));
        assert_eq!(error.failure().name, "Declined");
        assert_eq!(error.failure().message, "card declined");
        let cause = error.failure().cause.as_ref().unwrap();
        assert_eq!(cause.message, "bank offline");
    }

    #[derive(Debug)]
    struct Endless;

    impl std::fmt::Display for Endless {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("endless")
        }
    }

    impl std::error::Error for Endless {
        fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
            Some(self)
        }
    }

    // B30
    #[test]
    fn an_error_that_is_its_own_cause_has_an_end() {
        let error = Error::from(Endless);
        let causes = std::iter::successors(Some(error.failure()), |f| f.cause.as_deref());
        assert_eq!(causes.count(), limits::CAUSES_MAX + 1);
    }

    // B30
    #[test]
    fn a_fatal_error_may_have_no_message() {
        let error = Error::fatal("").named("Stop");
        assert_eq!(error.class(), FailureClass::Fatal);
        assert_eq!(error.failure().name, "Stop");
    }
}
