//! Failures of attempts: their class, and the failure that is recorded.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use everstep_machine::FailureClass;
use everstep_model::{ErrorCode, Failure};

use crate::error::{Error, panic_text};

type RetryIf = Box<dyn Fn(&Failure) -> bool + Send>;

type Delay = Box<dyn Fn(u32, &Failure) -> Duration + Send>;

/// The code's own decision whether and when a step is retried.
#[derive(Default)]
pub(super) struct RetryHooks {
    pub(super) retry_if: Option<RetryIf>,
    pub(super) delay: Option<Delay>,
}

impl RetryHooks {
    /// Returns the failure of an attempt and its class.
    pub(super) fn classify(&self, error: Error, attempt: u32) -> (Failure, FailureClass) {
        let class = error.class();
        let failure = error.into_failure();
        if !matches!(class, FailureClass::Retryable) {
            return (failure, class);
        }
        // If a hook panics, the step fails without more retries.
        match catch_unwind(AssertUnwindSafe(|| self.call(attempt, &failure))) {
            Ok(class) => (failure, class),
            Err(panic) => {
                let message = format!("a retry hook of the step panicked: {}", panic_text(&*panic));
                let hook = Failure::new(ErrorCode::StepPanicked, message).caused_by(failure);
                (hook, FailureClass::Fatal)
            }
        }
    }

    fn call(&self, attempt: u32, failure: &Failure) -> FailureClass {
        if let Some(retry_if) = &self.retry_if
            && !retry_if(failure)
        {
            return FailureClass::Fatal;
        }
        match &self.delay {
            Some(delay) => FailureClass::RetryAfter(delay(attempt, failure)),
            None => FailureClass::Retryable,
        }
    }
}

/// The failure of a step that exceeds the limit. It stops the workflow.
pub(super) fn too_many_steps(max: Option<u32>) -> Error {
    let max = max.unwrap_or_default();
    let message = format!("the run has called {max} steps, and may call no more (`steps_max`)");
    Error::from_failure(Failure::new(ErrorCode::TooManySteps, message)).rollback()
}
