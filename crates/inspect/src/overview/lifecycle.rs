//! Records about the run as a whole: its creation, pauses, passes and end, and timers.

use everstep_model::record::{
    Cancelled, Completed, Created, ExecutionRetried, Failed, ForcedFailure, PauseRequested, Paused,
    RollbackFailed, Terminated, TimerFired, TimerPurpose,
};
use everstep_model::{Location, RunStatus, StepStatus};

use super::fold::{Overview, Stamp};
use super::views::{EndingView, PauseView};

impl Overview {
    pub(super) fn created(&mut self, at: Stamp, record: &Created) {
        if self.workflow.is_some() {
            return;
        }
        self.workflow = Some(record.workflow.clone());
        self.version = record.version;
        self.input = Some(record.input.clone());
        self.tags = record.tags.clone();
        self.deadline = record.deadline;
        self.created_at = Some(at.time);
        self.forked_from = record.forked_from.clone();
        self.execution_retries = record.execution_retries;
        self.execution_attempt = self.execution_attempt.max(1);
    }

    pub(super) fn completed(&mut self, at: Stamp, record: &Completed) {
        self.result = Some(record.result.clone());
        self.finish(at, RunStatus::Completed, &record.abandoned);
    }

    pub(super) fn failed(&mut self, at: Stamp, record: &Failed) {
        self.error = Some(record.error.clone());
        self.caused_by = record.caused_by.clone();
        self.rolled_back = record.rolled_back;
        self.finish(at, RunStatus::Failed, &record.abandoned);
    }

    pub(super) fn rollback_failed(&mut self, at: Stamp, record: &RollbackFailed) {
        self.error = Some(record.error.clone());
        self.rollback_error = Some(record.rollback_error.clone());
        self.finish(at, RunStatus::RollbackFailed, &[]);
    }

    pub(super) fn cancelled(&mut self, at: Stamp, record: &Cancelled) {
        self.reason = record.reason.clone();
        self.rolled_back = record.rolled_back;
        self.finish(at, RunStatus::Cancelled, &record.abandoned);
    }

    pub(super) fn terminated(&mut self, at: Stamp, record: &Terminated) {
        self.reason = record.reason.clone();
        self.finish(at, RunStatus::Terminated, &record.abandoned);
    }

    /// Closes everything. Events that no wait took stay visible.
    fn finish(&mut self, at: Stamp, status: RunStatus, abandoned: &[Location]) {
        self.end = Some(status);
        self.completed_at = Some(at.time);
        self.abandon_steps(at, abandoned);
        self.close_where(|_| true);
        self.pause = None;
        self.execution_retry = None;
        self.diverged = None;
    }

    pub(super) fn pause_requested(&mut self, record: &PauseRequested) {
        self.pause
            .get_or_insert_with(|| PauseView::Requested(record.clone()));
    }

    pub(super) fn paused(&mut self, record: &Paused) {
        let request = match &self.pause {
            Some(PauseView::Paused { .. }) => return,
            Some(PauseView::Requested(request)) => Some(request.clone()),
            None => None,
        };
        self.pause = Some(PauseView::Paused {
            request,
            reason: record.reason.clone(),
        });
    }

    /// Notes that the run is about to end. Only the first reason counts.
    pub(super) fn begin_end(&mut self, ending: EndingView) {
        self.ending.get_or_insert(ending);
    }

    /// Closes every open operation of a run that is about to end, unless a step is passing the
    /// point of no return. Steps in flight still finish.
    pub(super) fn end_operations(&mut self) {
        if self.ending.is_some() && !self.ends_operations && !self.passing.is_any() {
            self.ends_operations = true;
            self.close_where(|_| true);
        }
    }

    pub(super) fn forced_failure(&mut self, at: Stamp, record: &ForcedFailure) {
        let Some(location) = &record.location else {
            return self.begin_end(EndingView::Forced(record.clone()));
        };
        if self.is_other_than_a_step(location) {
            return self.close_where(|open| open == location);
        }
        self.change_step(at, location, |step| {
            step.fail(StepStatus::Failed, &record.error, at.time);
        });
    }

    pub(super) fn execution_retried(&mut self, record: &ExecutionRetried) {
        let next = record.attempt.saturating_add(1);
        self.execution_attempt = self.execution_attempt.max(next);
        self.execution_retry = Some(record.clone());
    }

    pub(super) fn timer_fired(&mut self, at: Stamp, record: &TimerFired) {
        let due = record.due;
        match (record.purpose, &record.location) {
            (TimerPurpose::Sleep, Some(location)) => {
                self.sleeps.retain(|sleep| sleep.location != *location);
            }
            (TimerPurpose::Wait, Some(location)) => self.close_wait(location),
            (TimerPurpose::Rpc, Some(location)) => self.close_rpc(location),
            (TimerPurpose::Child, Some(location)) => self.close_where(|open| open == location),
            (TimerPurpose::Retry, Some(location)) => self.step_retry_due(at, location, due),
            (TimerPurpose::Undo, Some(location)) => self.undo_retry_due(at, location, due),
            (TimerPurpose::ExecutionRetry, _) => {
                self.execution_retry.take_if(|retry| retry.retry_at <= due);
            }
            (TimerPurpose::Deadline, _) => self.begin_end(EndingView::Deadline(due)),
            // Only user streams expire, and timers of operations name their locations.
            (
                TimerPurpose::Sleep
                | TimerPurpose::Wait
                | TimerPurpose::Rpc
                | TimerPurpose::Child
                | TimerPurpose::Retry
                | TimerPurpose::Undo
                | TimerPurpose::Expiry,
                _,
            ) => {}
        }
    }
}
