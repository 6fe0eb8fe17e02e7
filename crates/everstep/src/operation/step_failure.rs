//! What an attempt's error means for the step: its class, and the failure that is recorded.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use everstep_engine::CodedError;
use everstep_machine::FailureClass;
use everstep_model::{ErrorCode, Failure, PayloadError};

use crate::error::{Error, panic_text};

/// Whether a failure is worth another attempt.
type RetryIf = Box<dyn Fn(&Failure) -> bool + Send>;

/// How long to wait after the failure of an attempt.
type Delay = Box<dyn Fn(u32, &Failure) -> Duration + Send>;

/// The workflow's own say in whether and when a step is retried.
#[derive(Default)]
pub(super) struct RetryHooks {
    pub(super) retry_if: Option<RetryIf>,
    pub(super) delay: Option<Delay>,
}

impl RetryHooks {
    /// What an error of attempt `attempt` means.
    pub(super) fn classify(&self, error: Error, attempt: u32) -> (Failure, FailureClass) {
        let class = error.class();
        let failure = error.into_failure();
        if !matches!(class, FailureClass::Retryable) {
            return (failure, class);
        }
        // A hook that panics has no say any more: the step fails without more retries.
        let asked = catch_unwind(AssertUnwindSafe(|| self.ask(attempt, &failure)));
        match asked {
            Ok(class) => (failure, class),
            Err(panic) => {
                let message = format!("a retry hook of the step panicked: {}", panic_text(&*panic));
                let hook = Failure::new(ErrorCode::StepPanicked, message).caused_by(failure);
                (hook, FailureClass::Fatal)
            }
        }
    }

    fn ask(&self, attempt: u32, failure: &Failure) -> FailureClass {
        if self
            .retry_if
            .as_ref()
            .is_some_and(|retry_if| !retry_if(failure))
        {
            return FailureClass::Fatal;
        }
        match &self.delay {
            Some(delay) => FailureClass::RetryAfter(delay(attempt, failure)),
            None => FailureClass::Retryable,
        }
    }
}

/// The failure of an attempt that panicked.
pub(super) fn panicked(panic: &(dyn Any + Send)) -> Error {
    let message = format!("the step panicked: {}", panic_text(panic));
    Error::from_failure(Failure::new(ErrorCode::StepPanicked, message))
}

/// The failure of an attempt that took too long.
pub(super) fn timed_out(name: &str, timeout: Duration) -> Failure {
    let message = format!("step `{name}` took longer than its timeout of {timeout:?}");
    Failure::new(ErrorCode::StepTimedOut, message).named("timeout")
}

/// The failure of a step that is one too many. The code is not to go on from there.
pub(super) fn too_many_steps(max: Option<u32>) -> Error {
    let max = max.unwrap_or_default();
    let message = format!("the run has called {max} steps, and may call no more (`steps_max`)");
    Error::from_failure(Failure::new(ErrorCode::TooManySteps, message)).rollback()
}

/// The failure of a result that cannot be recorded.
pub(super) fn unrecordable(name: &str, error: &PayloadError) -> Error {
    let message = format!("the result of step `{name}` cannot be recorded: {error}");
    Error::from_failure(Failure::new(error.code(), message)).non_retryable()
}
