//! The error of workflow code: an error of the application, or a failure of the engine.

use std::any::Any;
use std::fmt;
use std::time::Duration;

use everstep_engine::CodedError;
use everstep_machine::{FailureClass, StepFailure};
use everstep_model::record::{BranchesKind, FailureOutcome};
use everstep_model::{
    ErrorCode, Failure, InvalidName, InvalidRunId, Location, Payload, PayloadError, RunId, limits,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The result of workflow code and of steps.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The error of a step or a workflow. Every error type converts into it with `?`, keeping its name
/// and message.
#[must_use]
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
#[allow(missing_docs, reason = "the types explain the variants")]
pub enum Source {
    Step(StepFailure),
    /// A join or race.
    Branches(BranchesFailure),
    Child(ChildFailure),
    /// An operation other than a step that an operator made fail.
    Forced(Location),
}

/// The failure of a child that did not complete.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "plain data")]
pub struct ChildFailure {
    /// The operation that waited for the child.
    pub location: Location,
    /// The child.
    pub run: RunId,
    pub workflow: String,
    /// The error of the child itself.
    pub error: Failure,
    /// Whether the child was cancelled or terminated rather than failed.
    pub cancelled: bool,
}

/// The failure of a join or race.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "plain data")]
pub struct BranchesFailure {
    pub kind: BranchesKind,
    pub location: Location,
    /// The branches that failed, in the order they were given.
    pub failures: Vec<BranchFailure>,
    /// The operations that caused the failures.
    causes: Vec<Location>,
}

/// The failure of a branch.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "plain data")]
pub struct BranchFailure {
    pub branch: String,
    pub error: Failure,
}

impl Error {
    /// Creates an error with a message. A step that fails with it is retried.
    pub fn new(message: impl fmt::Display) -> Self {
        Self::from_failure(Failure::new(ErrorCode::StepFailed, message.to_string()).named("Error"))
    }

    /// Creates an error that is not retried: the step fails at once.
    pub fn fatal(message: impl fmt::Display) -> Self {
        Self::new(message).non_retryable()
    }

    /// Creates an error from an error object.
    pub fn from_failure(failure: Failure) -> Self {
        Self::with_source(failure, FailureClass::Retryable, None)
    }

    /// Creates an error of the engine that is not retried.
    pub(crate) fn permanent(code: ErrorCode, message: impl Into<String>) -> Self {
        Self::from_failure(Failure::new(code, message)).non_retryable()
    }

    fn with_source(failure: Failure, class: FailureClass, source: Option<Source>) -> Self {
        Self(Box::new(Inner {
            failure,
            class,
            source,
        }))
    }

    /// Excludes the error from retries.
    pub fn non_retryable(mut self) -> Self {
        self.0.class = FailureClass::Fatal;
        self
    }

    /// Sets the delay of the retry, as a `Retry-After` header does.
    pub fn retry_after(mut self, delay: Duration) -> Self {
        self.0.class = FailureClass::RetryAfter(delay);
        self
    }

    /// Makes the error stop the workflow and roll it back.
    pub fn rollback(mut self) -> Self {
        self.0.class = FailureClass::RollBack;
        self
    }

    /// Sets the name of the error. The default is the name of its type.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.0.failure.name = name.into();
        self
    }

    /// Returns the error as an error object.
    #[must_use]
    pub fn failure(&self) -> &Failure {
        &self.0.failure
    }

    /// Returns the operation that the error comes from.
    #[must_use]
    pub fn origin(&self) -> Option<&Source> {
        self.0.source.as_ref()
    }

    /// Returns the failure of a step, if the error comes from one.
    #[must_use]
    pub fn step_failure(&self) -> Option<&StepFailure> {
        match self.origin() {
            Some(Source::Step(step)) => Some(step),
            _ => None,
        }
    }

    /// Returns the failure of a join or race, if the error comes from one.
    #[must_use]
    pub fn branches_failure(&self) -> Option<&BranchesFailure> {
        match self.origin() {
            Some(Source::Branches(branches)) => Some(branches),
            _ => None,
        }
    }

    /// Returns the failure of a child, if the error comes from one.
    #[must_use]
    pub fn child_failure(&self) -> Option<&ChildFailure> {
        match self.origin() {
            Some(Source::Child(child)) => Some(child),
            _ => None,
        }
    }

    /// Returns whether the error stops the workflow and rolls it back.
    #[must_use]
    pub fn asks_for_rollback(&self) -> bool {
        self.0.class == FailureClass::RollBack
    }

    /// The operations whose failures caused the error.
    pub(crate) fn causes(&self) -> Vec<Location> {
        match &self.0.source {
            Some(Source::Step(step)) => vec![step.location.clone()],
            Some(Source::Branches(branches)) => branches.causes.clone(),
            Some(Source::Child(child)) => vec![child.location.clone()],
            Some(Source::Forced(location)) => vec![location.clone()],
            None => Vec::new(),
        }
    }

    /// Returns whether the error has this code.
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
        Self::with_source(step_to_failure(&step), class, Some(Source::Step(step)))
    }

    /// The error of a child that did not complete. Its outcome is final, so another pass would see
    /// the same.
    pub(crate) fn from_child(child: ChildFailure) -> Self {
        let ChildFailure { run, workflow, .. } = &child;
        let end = if child.cancelled {
            "was ended"
        } else {
            "failed"
        };
        let message = format!("child `{run}` of workflow `{workflow}` {end}");
        let failure = Failure::new(ErrorCode::ChildFailed, message).caused_by(child.error.clone());
        Self::with_source(failure, FailureClass::Fatal, Some(Source::Child(child)))
    }

    /// The error of an operation that an operator made fail.
    pub(crate) fn forced(location: Location, failure: Failure) -> Self {
        Self::with_source(failure, FailureClass::Fatal, Some(Source::Forced(location)))
    }

    /// The error of a join or race with failed branches.
    pub(crate) fn from_branches(
        kind: BranchesKind,
        location: Location,
        failed: Vec<(String, Self)>,
    ) -> Self {
        let any = |is: fn(&Self) -> bool| failed.iter().any(|(_, error)| is(error));
        let class = if any(Self::asks_for_rollback) {
            FailureClass::RollBack
        } else if any(Self::is_worth_another_pass) {
            FailureClass::Retryable
        } else {
            FailureClass::Fatal
        };
        let failures = failed.iter().map(|(branch, error)| BranchFailure {
            branch: branch.clone(),
            error: error.failure().clone(),
        });
        let branches = BranchesFailure {
            kind,
            location,
            failures: failures.collect(),
            causes: failed
                .iter()
                .flat_map(|(_, error)| error.causes())
                .collect(),
        };
        let mut failure = Failure::new(ErrorCode::BranchesFailed, branches.to_string());
        if let [(_, only)] = &failed[..] {
            failure = failure.caused_by(only.failure().clone());
        }
        Self::with_source(failure, class, Some(Source::Branches(branches)))
    }

    /// Whether another pass of the whole function may succeed.
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

/// Encodes a value that is recorded. `what` begins the message of the error.
pub(crate) fn encode<T: Serialize + ?Sized>(
    value: &T,
    what: impl FnOnce() -> String,
) -> Result<Payload> {
    Payload::from_value(value).map_err(|error| {
        let message = format!("{} cannot be recorded: {error}", what());
        Error::permanent(error.code(), message)
    })
}

/// Decodes a recorded value. `what` begins the message of the error.
pub(crate) fn decode<T: DeserializeOwned>(
    payload: &Payload,
    what: impl FnOnce() -> String,
) -> Result<T> {
    payload
        .decode()
        .map_err(|error| undecodable(&what(), &error))
}

pub(crate) fn undecodable(what: &str, error: &PayloadError) -> Error {
    let message = format!("{what} does not match its type: {error}");
    Error::permanent(ErrorCode::Undecodable, message)
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

/// Converts the failure of a step: the same name and message, and the location.
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
        match permanent_code(&error) {
            Some(code) => {
                code.as_str().clone_into(&mut failure.code);
                Self::from_failure(failure).non_retryable()
            }
            None => Self::from_failure(failure),
        }
    }
}

/// The code of an error that a retry cannot remedy, because the code is wrong.
fn permanent_code(error: &(dyn Any + Send + Sync)) -> Option<ErrorCode> {
    if error.is::<InvalidName>() {
        return Some(ErrorCode::InvalidName);
    }
    if error.is::<InvalidRunId>() {
        return Some(ErrorCode::InvalidRunId);
    }
    error.downcast_ref::<PayloadError>().map(CodedError::code)
}

fn describe(error: &dyn std::error::Error, name: &str) -> Failure {
    let object = |error: &dyn std::error::Error, name: &str| {
        Failure::new(ErrorCode::StepFailed, error.to_string()).named(name)
    };
    // An error of a user may return itself as its source, or have thousands.
    let sources = std::iter::successors(error.source(), |cause| cause.source());
    let causes: Vec<_> = sources.take(limits::CAUSES_MAX).collect();
    let innermost_first = causes.iter().rev().map(|cause| object(*cause, "cause"));
    let cause = innermost_first.reduce(|inner, outer| outer.caused_by(inner));
    match cause {
        Some(cause) => object(error, name).caused_by(cause),
        None => object(error, name),
    }
}

/// Returns `ConnectionError` for `net::ConnectionError<T>`.
fn short_type_name<T>() -> &'static str {
    let full = std::any::type_name::<T>();
    let plain = full.split('<').next().unwrap_or(full);
    plain.rsplit("::").next().unwrap_or(plain)
}

/// The failure of an attempt of a step or an undo that panicked.
pub(crate) fn panicked(what: &str, panic: &(dyn Any + Send)) -> Error {
    let message = format!("the {what} panicked: {}", panic_text(panic));
    Error::from_failure(Failure::new(ErrorCode::StepPanicked, message))
}

/// The failure of an attempt of a step or an undo that took too long.
pub(crate) fn timed_out(what: &str, timeout: Duration) -> Failure {
    let message = format!("{what} took longer than its timeout of {timeout:?}");
    Failure::new(ErrorCode::StepTimedOut, message).named("timeout")
}

/// Returns the message of a panic.
pub(crate) fn panic_text(panic: &(dyn Any + Send)) -> &str {
    if let Some(text) = panic.downcast_ref::<&str>() {
        return text;
    }
    panic
        .downcast_ref::<String>()
        .map_or("no message", String::as_str)
}

#[cfg(test)]
mod tests;
