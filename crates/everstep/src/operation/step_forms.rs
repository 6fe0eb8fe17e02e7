//! Steps whose failure is not an error.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use everstep_machine::StepFailure;
use everstep_model::ErrorCode;
use everstep_model::record::FailureOutcome;

use super::recorded::Recorded;
use super::step::{Step, to_output};
use crate::ctx::Ctx;
use crate::error::{Error, Result};
use crate::execution::StepContext;

impl<W> Ctx<W> {
    /// Executes a step that returns its failure as data: `Ok(Err(failure))` if it has failed for
    /// good.
    #[track_caller]
    pub fn try_step<F, Fut, T, E>(
        &self,
        name: &str,
        work: F,
    ) -> TryStep<impl FnMut(StepContext) -> Fut + use<F, Fut, T, E, W>, Fut, T>
    where
        F: FnMut() -> Fut,
        Fut: Future<Output = Result<T, E>> + Send,
        T: Recorded,
        E: Into<Error>,
    {
        TryStep(self.step(name, work))
    }
}

/// A step that returns its failure as data.
#[must_use = "a step does nothing until it is awaited"]
pub struct TryStep<F, Fut, T>(Step<F, Fut, T>);

impl<F, Fut, T> TryStep<F, Fut, T> {
    /// Configures the step.
    pub fn with(self, configure: impl FnOnce(Step<F, Fut, T>) -> Step<F, Fut, T>) -> Self {
        Self(configure(self.0))
    }
}

impl<F, Fut, T, E> Future for TryStep<F, Fut, T>
where
    F: FnMut(StepContext) -> Fut,
    Fut: Future<Output = Result<T, E>> + Send,
    T: Recorded,
    E: Into<Error>,
{
    type Output = Result<Result<T, StepFailure>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let step = &mut self.0;
        step.poll_resolution(context).map(|resolution| {
            let output = to_output(&step.name, resolution?)?;
            // The code must not ignore an error that rolls the run back.
            match output {
                Err(failure) if failure.outcome == FailureOutcome::RollBack => {
                    Err(Error::from_step(failure))
                }
                output => Ok(output),
            }
        })
    }
}

/// A step whose failure never fails the workflow.
#[must_use = "a step does nothing until it is awaited"]
pub struct BestEffort<F, Fut, T>(Step<F, Fut, T>);

impl<F, Fut, T> Step<F, Fut, T> {
    /// Prevents a failure of the step from failing the workflow: the output is `None` if the step
    /// has failed for good.
    pub fn best_effort(mut self) -> BestEffort<F, Fut, T> {
        self.best_effort = true;
        BestEffort(self)
    }
}

impl<F, Fut, T, E> Future for BestEffort<F, Fut, T>
where
    F: FnMut(StepContext) -> Fut,
    Fut: Future<Output = Result<T, E>> + Send,
    T: Recorded,
    E: Into<Error>,
{
    type Output = Result<Option<T>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let step = &mut self.0;
        let resolved = step.poll_resolution(context);
        resolved.map(|resolution| match to_output(&step.name, resolution?)? {
            // The limit stops code that would never end otherwise.
            Err(failure) if failure.error.is(ErrorCode::TooManySteps) => {
                Err(Error::from_step(failure))
            }
            output => Ok(output.ok()),
        })
    }
}
debug_by_name!(impl<F, Fut, T> BestEffort<F, Fut, T>: 0.name);

debug_by_name!(impl<F, Fut, T> TryStep<F, Fut, T>: 0.name);
