//! Rollback: steps that are undone, one after the other.

use everstep_model::record::{UndoCompleted, UndoFailed, UndoStarted};
use everstep_model::{Location, StepStatus, Timestamp};

use super::{Overview, RollbackView, Stamp};

impl Overview {
    /// From here on only undos marked internal run.
    pub(super) fn no_return(&mut self, at: Stamp) {
        self.no_return_at.get_or_insert(at.time);
    }

    pub(super) fn undo_started(&mut self, at: Stamp, record: &UndoStarted) {
        self.rollback = Some(if self.is_undone(&record.location) {
            RollbackView::Between
        } else {
            RollbackView::Undoing {
                step: record.location.clone(),
                attempt: record.attempt,
                since: at.time,
            }
        });
    }

    pub(super) fn undo_completed(&mut self, at: Stamp, record: &UndoCompleted) {
        self.rollback = Some(RollbackView::Between);
        self.step_undone(at, &record.location);
    }

    /// Without another attempt the rollback has failed; the record that ends the run says so.
    pub(super) fn undo_failed(&mut self, record: &UndoFailed) {
        let is_over = self.is_undone(&record.location);
        self.rollback = Some(match record.retry_at {
            Some(retry_at) if !is_over => RollbackView::Retrying {
                step: record.location.clone(),
                attempt: record.attempt,
                error: record.error.clone(),
                retry_at,
            },
            Some(_) | None => RollbackView::Between,
        });
    }

    /// The time of an undo's next attempt has come.
    pub(super) fn undo_retry_due(&mut self, at: Stamp, location: &Location, due: Timestamp) {
        if let Some(RollbackView::Retrying {
            step,
            attempt,
            retry_at,
            ..
        }) = &self.rollback
            && step == location
            && *retry_at <= due
        {
            self.rollback = Some(RollbackView::Undoing {
                step: step.clone(),
                attempt: attempt.saturating_add(1),
                since: at.time,
            });
        }
    }

    fn is_undone(&self, location: &Location) -> bool {
        self.step(location)
            .is_some_and(|step| step.status == StepStatus::Undone)
    }
}
