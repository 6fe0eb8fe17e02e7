//! An attempt to undo a step or child. It is polled beside the code.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::{Context, Poll};
use std::time::Duration;

use everstep_driver::UndoEnd;
use everstep_machine::{FailureClass, StepStart, UndoStart};
use everstep_model::{RetryPolicy, Timestamp};
use everstep_store::BoxFuture;

use super::shared::Shared;
use super::step_context::UndoSlot;
use super::undos::{self, GivenUndo, UndoInput};
use crate::error::Result;

/// An attempt in flight.
pub(super) struct UndoAttempt {
    start: UndoStart,
    work: BoxFuture<'static, Result<()>>,
    timeout: Option<(BoxFuture<'static, ()>, Duration)>,
    retry: RetryPolicy,
}

impl UndoAttempt {
    pub(super) fn new(start: UndoStart, undo: &GivenUndo, shared: &Shared) -> Self {
        let timeout = undo.timeout.or(start.options.timeout);
        let work = match shared.mocked_undo(&start) {
            Some(mocked) => Box::pin(std::future::ready(mocked)),
            None => undo.begin(UndoInput {
                context: shared.step_context(&step_of(&start), UndoSlot::default()),
                start: start.clone(),
            }),
        };
        Self {
            timeout: timeout.map(|timeout| (shared.runtime().sleep(timeout), timeout)),
            retry: undo.retry.unwrap_or(start.options.retry),
            start,
            work,
        }
    }

    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Poll<UndoEnd> {
        let work = &mut self.work;
        let result = match catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context))) {
            Ok(Poll::Ready(result)) => result,
            Err(panic) => Err(undos::panicked(&*panic)),
            Ok(Poll::Pending) => return self.poll_timeout(context),
        };
        Poll::Ready(match result {
            Ok(()) => UndoEnd::Completed,
            Err(error) => {
                let class = error.class();
                UndoEnd::Failed(error.into_failure(), class, self.retry)
            }
        })
    }

    fn poll_timeout(&mut self, context: &mut Context<'_>) -> Poll<UndoEnd> {
        let Some((timer, timeout)) = &mut self.timeout else {
            return Poll::Pending;
        };
        let (start, retry, timeout) = (&self.start, self.retry, *timeout);
        timer.as_mut().poll(context).map(|()| {
            let failure = undos::timed_out(start, timeout);
            UndoEnd::Failed(failure, FailureClass::TimedOut, retry)
        })
    }
}

/// The step as its own work saw it. A child is treated like a step.
fn step_of(undo: &UndoStart) -> StepStart {
    StepStart {
        location: undo.location.clone(),
        attempt: undo.step_attempt,
        failures: 0,
        options: undo.options,
        started_at: Timestamp::default(),
        undo: None,
    }
}
