//! The progress of a rollback.

use everstep_model::record::{UndoCompleted, UndoFailed, UndoStarted};
use everstep_model::{Location, RunId, Timestamp};

use super::fold::{Overview, Stamp};
use super::views::RollbackView;
use everstep_machine::Subject;

impl Overview {
    pub(super) fn no_return(&mut self, at: Stamp) {
        self.no_return_at.get_or_insert(at.time);
    }

    pub(super) fn undo_started(&mut self, at: Stamp, record: &UndoStarted) {
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

    /// If there is no further attempt, the record that ends the run reports the failed rollback.
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

    /// A timer does not name the child it is for, so the due time decides whether it is for this
    /// undo.
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
mod tests {
    use everstep_model::record::TimerPurpose;

    use super::*;
    use crate::samples::*;

    fn undone(run: &RunId) -> UndoCompleted {
        UndoCompleted {
            location: at("ship:0"),
            attempt: 1,
            run: Some(run.clone()),
        }
    }

    fn retried(run: &RunId, retry_at: u64) -> UndoFailed {
        UndoFailed {
            location: at("ship:0"),
            attempt: 1,
            error: failure("refused"),
            retry_at: Some(time(retry_at)),
            run: Some(run.clone()),
        }
    }

    #[test]
    fn undos_of_two_children_in_one_place_are_told_apart() {
        let [first, second] = ["ship-1", "ship-2"].map(|id| RunId::new(id).unwrap());
        let retries = |journal: &Journal| {
            let rollback = journal.overview().rollback;
            matches!(rollback, Some(RollbackView::Retrying { attempt: 1, .. }))
        };
        let children = two_children("ship:0");
        let waits = children.with(undone(&second)).with(retried(&first, 50));
        assert!(retries(&waits), "the other one is undone, not this");
        let timer = |due| fired(TimerPurpose::Undo, Some("ship:0"), time(due));
        assert!(retries(&waits.clone().with(timer(80))), "the other's timer");
        assert!(!retries(&waits.clone().with(timer(50))));
        assert!(!retries(&waits.with(retried(&second, 90))), "it is undone");
    }

    #[test]
    fn an_undone_child_is_no_step_even_if_nothing_else_is_known_of_it() {
        let run = RunId::new("ship-1").unwrap();
        let journal = Journal::created().with(undone(&run));
        assert!(journal.overview().steps.is_empty());
        assert!(journal.with(retried(&run, 50)).overview().rollback == Some(RollbackView::Between));
    }
}
