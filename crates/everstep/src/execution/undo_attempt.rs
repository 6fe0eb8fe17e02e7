//! An attempt to undo a step or child. It is polled beside the code.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::{Context, Poll};

use everstep_driver::UndoEnd;
use everstep_machine::{FailureClass, UndoStart};
use everstep_model::RetryPolicy;
use everstep_store::BoxFuture;

use super::attempt_timer::AttemptTimer;
use super::shared::Shared;
use super::step_context::UndoSlot;
use super::undos::{GivenUndo, UndoInput, kind_of_undone};
use crate::error::{Result, panicked, timed_out};

/// An attempt in flight.
pub(super) struct UndoAttempt {
    start: UndoStart,
    work: BoxFuture<'static, Result<()>>,
    timer: AttemptTimer,
    retry: RetryPolicy,
    shared: Arc<Shared>,
}

impl UndoAttempt {
    pub(super) fn new(start: UndoStart, undo: &GivenUndo, shared: Arc<Shared>) -> Self {
        let timeout = undo.timeout.or(start.options.timeout);
        let mocks = shared.parts.mocks.as_ref();
        let work = match mocks.and_then(|mocks| mocks.undo_result(&start)) {
            Some(mocked) => Box::pin(std::future::ready(mocked)),
            None => {
                // The step as its own work saw it. A child is treated like a step.
                let (place, attempt, slot) =
                    (&start.location, start.step_attempt, UndoSlot::default());
                let context = shared.step_context(place, attempt, start.options, slot);
                let start = start.clone();
                undo.begin(UndoInput { start, context })
            }
        };
        Self {
            timer: AttemptTimer::new(timeout, &shared),
            retry: undo.retry.unwrap_or(start.options.retry),
            start,
            work,
            shared,
        }
    }

    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Poll<UndoEnd> {
        let work = &mut self.work;
        let result = match catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context))) {
            Ok(Poll::Ready(result)) => result,
            Err(panic) => Err(panicked("undo", &*panic)),
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
        let (start, retry) = (&self.start, self.retry);
        let attempt = ("undo", &start.location, start.attempt);
        let passed = self.timer.poll(context, &self.shared, attempt);
        passed.map(|timeout| {
            let (kind, place) = (kind_of_undone(start), &start.location);
            let failure = timed_out(&format!("undoing {kind} `{place}`"), timeout);
            UndoEnd::Failed(failure, FailureClass::TimedOut, retry)
        })
    }
}
