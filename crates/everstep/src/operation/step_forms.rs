//! Steps whose failure is not an error: given back as data, or of no interest.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use everstep_machine::StepFailure;
use everstep_model::ErrorCode;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::step::{Step, settle};
use crate::ctx::Ctx;
use crate::error::{Error, Result};
use crate::execution::StepContext;

impl<W> Ctx<W> {
    /// A step that gives its failure back as data: `Ok(Err(failure))` when it has failed for good.
    #[track_caller]
    pub fn try_step<F, Fut, T, E>(
        &self,
        name: &str,
        work: F,
    ) -> TryStep<impl FnMut(StepContext) -> Fut + use<F, Fut, T, E, W>, Fut, T>
    where
        F: FnMut() -> Fut,
        Fut: Future<Output = Result<T, E>> + Send,
        T: Serialize + DeserializeOwned,
        E: Into<Error>,
    {
        TryStep(self.step(name, work))
    }
}

/// A step that gives its failure back as data.
#[must_use = "a step does nothing until it is awaited"]
pub struct TryStep<F, Fut, T>(Step<F, Fut, T>);

impl<F, Fut, T> TryStep<F, Fut, T> {
    /// The same step, configured further.
    pub fn with(self, configure: impl FnOnce(Step<F, Fut, T>) -> Step<F, Fut, T>) -> Self {
        Self(configure(self.0))
    }
}

impl<F, Fut, T, E> Future for TryStep<F, Fut, T>
where
    F: FnMut(StepContext) -> Fut,
    Fut: Future<Output = Result<T, E>> + Send,
    T: Serialize + DeserializeOwned,
    E: Into<Error>,
{
    type Output = Result<Result<T, StepFailure>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let step = &mut self.0;
        step.poll_resolution(context).map(|resolution| {
            let settled = settle(&step.name, resolution?)?;
            // An error that asks to roll back is not for the code to swallow.
            match settled {
                Err(failure)
                    if failure.outcome == everstep_model::record::FailureOutcome::RollBack =>
                {
                    Err(Error::from_step(failure))
                }
                settled => Ok(settled),
            }
        })
    }
}

/// A step whose failure never fails the workflow.
#[must_use = "a step does nothing until it is awaited"]
pub struct BestEffort<F, Fut, T>(Step<F, Fut, T>);

impl<F, Fut, T> Step<F, Fut, T> {
    /// Its failure never fails the workflow: `None` when it has failed for good.
    pub fn best_effort(mut self) -> BestEffort<F, Fut, T> {
        self.best_effort = true;
        BestEffort(self)
    }
}

impl<F, Fut, T, E> Future for BestEffort<F, Fut, T>
where
    F: FnMut(StepContext) -> Fut,
    Fut: Future<Output = Result<T, E>> + Send,
    T: Serialize + DeserializeOwned,
    E: Into<Error>,
{
    type Output = Result<Option<T>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let step = &mut self.0;
        let resolved = step.poll_resolution(context);
        resolved.map(|resolution| match settle(&step.name, resolution?)? {
            // The limit is for code that would never end otherwise.
            Err(failure) if failure.error.is(ErrorCode::TooManySteps) => {
                Err(Error::from_step(failure))
            }
            settled => Ok(settled.ok()),
        })
    }
}

impl<F, Fut, T> std::fmt::Debug for BestEffort<F, Fut, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "BestEffort({})", self.0.name)
    }
}

impl<F, Fut, T> std::fmt::Debug for TryStep<F, Fut, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TryStep({})", self.0.name)
    }
}
