//! One attempt of a step: its work, polled inside the workflow's own future, and its timeout.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use everstep_machine::StepStart;
use everstep_model::Payload;

use crate::error::{Error, Result, panicked};
use crate::execution::{AttemptTimer, Shared, StepContext, UndoSlot};

/// An attempt in flight.
pub(super) struct Attempt<Fut> {
    pub(super) start: StepStart,
    work: Option<Pin<Box<Fut>>>,
    timer: AttemptTimer,
    /// The payload that the work registers for the undo.
    pub(super) undo: UndoSlot,
}

/// How an attempt ended.
pub(super) enum Ended<T> {
    Returned(Result<T>),
    Mocked(Result<Payload>),
    TimedOut(Duration),
}

impl<Fut> Attempt<Fut> {
    pub(super) fn new(start: StepStart, shared: &Shared) -> Self {
        Self {
            undo: UndoSlot::new(&start.options),
            timer: AttemptTimer::new(start.options.timeout, shared),
            start,
            work: None,
        }
    }

    pub(super) fn poll<F, T, E>(
        &mut self,
        context: &mut Context<'_>,
        work: &mut F,
        shared: &Shared,
    ) -> Poll<Ended<T>>
    where
        F: FnMut(StepContext) -> Fut,
        Fut: Future<Output = Result<T, E>>,
        E: Into<Error>,
    {
        let start = &self.start;
        if self.work.is_none()
            && let Some(mocks) = &shared.parts.mocks
            && let Some(mocked) = mocks.result(start)
        {
            return Poll::Ready(Ended::Mocked(mocked));
        }
        let (running, undo) = (&mut self.work, &self.undo);
        let polled = catch_unwind(AssertUnwindSafe(|| {
            let work = running.get_or_insert_with(|| {
                let (place, options) = (&start.location, start.options);
                let context = shared.step_context(place, start.attempt, options, undo.clone());
                Box::pin(work(context))
            });
            work.as_mut().poll(context)
        }));
        match polled {
            Ok(Poll::Ready(result)) => {
                return Poll::Ready(Ended::Returned(result.map_err(Into::into)));
            }
            Err(panic) => {
                return Poll::Ready(Ended::Returned(Err(panicked("step", &*panic))));
            }
            Ok(Poll::Pending) => {}
        }
        let attempt = ("step", &self.start.location, self.start.attempt);
        let passed = self.timer.poll(context, shared, attempt);
        passed.map(Ended::TimedOut)
    }
}
