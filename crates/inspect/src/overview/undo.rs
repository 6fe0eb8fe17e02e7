//! The progress of a rollback.

use everstep_model::record::{UndoCompleted, UndoFailed, UndoStarted};
use everstep_model::{Location, RunId, Timestamp};

use super::fold::{Overview, Stamp};
use super::views::RollbackView;
use everstep_machine::Subject;

impl Overview {
    pub(super) fn undo_started(&mut self, at: Stamp, record: &UndoStarted) {
        self.rolls_back_to_end |= record.ends_run;
        self.rollback = Some(if self.is_undone(&record.location, record.run.clone()) {
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
        if record.run.is_none() && !self.is_other_than_a_step(&record.location) {
            self.step_undone(at, &record.location);
        }
    }

    /// Takes in a failed attempt. If there is no further one, the record that ends the run reports
    /// the failed rollback.
    pub(super) fn undo_failed(&mut self, record: &UndoFailed) {
        let is_over = self.is_undone(&record.location, record.run.clone());
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

    /// Begins the next attempt. A timer does not name the child it is for, so the due time decides
    /// whether it is for this undo.
    pub(super) fn undo_retry_due(&mut self, at: Stamp, location: &Location, due: Timestamp) {
        if let Some(RollbackView::Retrying {
            step,
            attempt,
            retry_at,
            ..
        }) = &self.rollback
            && step == location
            && *retry_at == due
        {
            self.rollback = Some(RollbackView::Undoing {
                step: step.clone(),
                attempt: attempt.saturating_add(1),
                since: at.time,
            });
        }
    }

    fn is_undone(&self, location: &Location, child: Option<RunId>) -> bool {
        self.undos.is_undone(&Subject {
            location: location.clone(),
            child,
        })
    }
}

#[cfg(test)]
mod tests;
