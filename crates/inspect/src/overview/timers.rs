//! Timers that fired.

use everstep_model::Location;
use everstep_model::record::{ExecutionRetried, TimerFired, TimerPurpose};

use super::fold::{Overview, Stamp};
use super::views::EndingView;

impl Overview {
    pub(super) fn timer_fired(&mut self, at: Stamp, record: &TimerFired) {
        let location = record.location.as_ref();
        match record.purpose {
            TimerPurpose::Sleep => self.at_place(location, Self::close_sleep),
            TimerPurpose::Wait => self.at_place(location, Self::close_wait),
            TimerPurpose::Rpc => self.at_place(location, Self::close_rpc),
            TimerPurpose::Child => {
                self.at_place(location, |overview, location| {
                    overview.close_where(|open| open == location);
                });
            }
            TimerPurpose::Retry => self.at_place(location, |overview, location| {
                overview.step_retry_due(at, location, record.due);
            }),
            TimerPurpose::Undo => self.at_place(location, |overview, location| {
                overview.undo_retry_due(at, location, record.due);
            }),
            TimerPurpose::ExecutionRetry => {
                let retry = self.execution_retry.as_ref();
                if retry.is_some_and(|retry| retry.retry_at <= record.due) {
                    self.execution_retry = None;
                }
            }
            // Only users' streams expire.
            TimerPurpose::Expiry => {}
            TimerPurpose::Deadline => self.begin_end(EndingView::Deadline(record.due)),
        }
    }

    pub(super) fn execution_retried(&mut self, record: &ExecutionRetried) {
        let next = record.attempt.saturating_add(1);
        self.execution_attempt = self.execution_attempt.max(next);
        self.execution_retry = Some(record.clone());
    }

    /// Ignores a timer of an operation that names no location.
    fn at_place(&mut self, location: Option<&Location>, act: impl FnOnce(&mut Self, &Location)) {
        if let Some(location) = location {
            act(self, location);
        }
    }
}
