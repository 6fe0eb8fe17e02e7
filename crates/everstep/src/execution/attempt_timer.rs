//! The timer of an attempt: its timeout, or the moment at which an attempt without a timeout is
//! reported.

use std::task::{Context, Poll};
use std::time::Duration;

use everstep_model::{LONG_ATTEMPT, Location};
use everstep_store::BoxFuture;

use super::shared::Shared;

pub(crate) struct AttemptTimer {
    timeout: Option<Duration>,
    sleep: Option<BoxFuture<'static, ()>>,
    is_reported: bool,
}

impl AttemptTimer {
    pub(crate) fn new(timeout: Option<Duration>, shared: &Shared) -> Self {
        Self {
            timeout,
            sleep: timeout.map(|timeout| shared.parts.runtime.sleep(timeout)),
            is_reported: false,
        }
    }

    /// Returns the timeout when it has passed. `work` is `step` or `undo`. Call it only while the
    /// work is pending: most attempts without a timeout then need no timer.
    pub(crate) fn poll(
        &mut self,
        context: &mut Context<'_>,
        shared: &Shared,
        (work, location, attempt): (&str, &Location, u32),
    ) -> Poll<Duration> {
        if self.is_reported {
            return Poll::Pending;
        }
        let runtime = &shared.parts.runtime;
        let sleep = self
            .sleep
            .get_or_insert_with(|| runtime.sleep(LONG_ATTEMPT));
        if sleep.as_mut().poll(context).is_pending() {
            return Poll::Pending;
        }
        if let Some(timeout) = self.timeout {
            return Poll::Ready(timeout);
        }
        (self.is_reported, self.sleep) = (true, None);
        let run = &shared.parts.run;
        tracing::warn!(
            %run,
            work,
            %location,
            attempt,
            "an attempt has been running for a minute and has no timeout; set one for the step or its workflow"
        );
        Poll::Pending
    }
}
