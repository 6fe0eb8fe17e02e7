//! Rollback: which steps can be undone, in which order, and how far that is.

use everstep_model::record::{UndoCompleted, UndoFailed, UndoSkipped, UndoStarted};

use super::Replay;
use super::divergence::Halt;

impl Replay {
    pub(super) fn fold_undo_started(&mut self, _record: &UndoStarted) {
        self.halt(Halt::Newer("undo_started"));
    }

    pub(super) fn fold_undo_completed(&mut self, _record: &UndoCompleted) {
        self.halt(Halt::Newer("undo_completed"));
    }

    pub(super) fn fold_undo_failed(&mut self, _record: UndoFailed) {
        self.halt(Halt::Newer("undo_failed"));
    }

    pub(super) fn fold_undo_skipped(&mut self, _record: &UndoSkipped) {
        self.halt(Halt::Newer("undo_skipped"));
    }
}
