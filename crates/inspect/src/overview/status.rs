//! The status of a run.

use everstep_model::{Location, RecordNumber, RunStatus, StepStatus};

use super::fold::{Kind, Overview};
use super::views::{EndingView, PauseView, StepView};

impl Overview {
    /// Returns the status. An end takes precedence over pauses and rollbacks, and those over what
    /// the run waits for.
    ///
    /// Suspending writes no record of its own: the operations that the run waits for are in the
    /// journal. Claiming a run writes none either: a run whose wait is over is `queued` until an
    /// executor writes.
    #[must_use]
    pub fn status(&self) -> RunStatus {
        if let Some(end) = self.end {
            return end;
        }
        if self.diverged.is_some() {
            return RunStatus::Diverged;
        }
        match &self.pause {
            Some(PauseView::Paused { .. }) => return RunStatus::Paused,
            Some(PauseView::Requested(_)) => return RunStatus::Pausing,
            None => {}
        }
        // A cancelled run may roll back, and a request during a rollback changes nothing.
        if self.rollback.is_some() {
            return RunStatus::RollingBack;
        }
        if matches!(self.ending, Some(EndingView::Cancel(_))) {
            return RunStatus::Cancelling;
        }
        if !self.executed {
            return RunStatus::Queued;
        }
        self.resting_on().unwrap_or_else(|| match self.is_due() {
            true => RunStatus::Queued,
            false => RunStatus::Running,
        })
    }

    /// Returns the status of the run with this row, where row and journal may differ: only the row
    /// changes when a run is claimed or released.
    #[must_use]
    pub fn status_in(&self, row: RunStatus) -> RunStatus {
        match (row, self.status()) {
            (
                RunStatus::Queued,
                RunStatus::Running | RunStatus::Sleeping | RunStatus::Waiting | RunStatus::Retrying,
            ) => RunStatus::Queued,
            (RunStatus::Running, RunStatus::Queued) => RunStatus::Running,
            (_, status) => status,
        }
    }

    /// Returns whether the run rested and its wait is over, and nothing was executed since.
    fn is_due(&self) -> bool {
        self.woken && !self.has_attempt_in_flight()
    }

    /// Returns whether an attempt of a step has begun. A step whose retry is due is not in flight.
    fn has_attempt_in_flight(&self) -> bool {
        let has_begun =
            |step: &StepView| step.status == StepStatus::Running && step.next_retry_at.is_none();
        self.in_flight > 0 && self.steps.iter().any(has_begun)
    }

    /// Returns whether the run needs no executor until its inbox grows.
    pub(super) fn rests(&self) -> bool {
        matches!(self.pause, Some(PauseView::Paused { .. })) || self.resting_on().is_some()
    }

    /// Returns what the run waits for; `None` if it has work to do.
    fn resting_on(&self) -> Option<RunStatus> {
        if self.ending.is_some() {
            return None;
        }
        // Between two passes of the function, only the retry timer matters.
        if self.execution_retry.is_some() {
            return Some(RunStatus::Retrying);
        }
        if self.in_flight > 0 {
            return None;
        }
        if self.has_open_wait() || !(self.rpcs.is_empty() && self.children.is_empty()) {
            return Some(RunStatus::Waiting);
        }
        if self.in_backoff > 0 {
            return Some(RunStatus::Retrying);
        }
        (!self.sleeps.is_empty()).then_some(RunStatus::Sleeping)
    }

    /// Returns the number of the first record about an operation. Steps are in the order of their
    /// first records.
    #[must_use]
    pub fn first_record(&self, location: &Location) -> Option<RecordNumber> {
        self.seen.get(location).map(|seen| seen.first)
    }

    /// Returns whether the run is about to end, so that requests to end it change nothing.
    #[must_use]
    pub fn is_ending(&self) -> bool {
        self.ending.is_some() || self.rolls_back_to_end
    }

    /// Returns the step at a location.
    #[must_use]
    pub fn step(&self, location: &Location) -> Option<&StepView> {
        match self.seen.get(location)?.kind {
            Kind::Step { index, .. } => self.steps.get(index),
            Kind::Other => None,
        }
    }
}
