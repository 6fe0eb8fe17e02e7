//! Records that create a run and records that end it.

use everstep_model::record::{Cancelled, Completed, Created, Failed, RollbackFailed, Terminated};
use everstep_model::{Location, RunStatus};

use super::fold::{Overview, Stamp};

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
        self.execution_attempt = self.execution_attempt.max(1);
    }

    pub(super) fn completed(&mut self, at: Stamp, record: &Completed) {
        self.result = Some(record.result.clone());
        self.finish(at, RunStatus::Completed, &record.abandoned);
    }

    pub(super) fn failed(&mut self, at: Stamp, record: &Failed) {
        self.error = Some(record.error.clone());
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
}
