//! Undos: when one begins, what its end means, and where undos of earlier passes come from.
//!
//! The fold decides which undo is next and when it may begin; the shell runs it.

use everstep_machine::{Halt, Replay, UndoEnd, UndoState};
use everstep_model::{RecordNumber, RunStatus, Timestamp};

use crate::action::{Action, ReadFor};
use crate::append::Then;
use crate::conclusion::Conclusion;
use crate::execution::Host;
use crate::state::{CodeState, Driver, EarlierPasses, Search, Stage, Undoing};

/// Whether the code lacks an undo that is to run.
pub(crate) enum Missing {
    None,
    /// Earlier passes are being read or searched for it.
    Searched,
    /// No pass supplied it.
    ForGood(Halt),
}

impl<H: Host> Driver<H> {
    /// Begins the next undo when it is due.
    pub(crate) fn next_undo(&mut self) -> Option<Action> {
        if !self.undoing.is_quiet()
            || self.live.replay.status().rollback().state() != UndoState::Due
        {
            return None;
        }
        match self.missing_undo() {
            Missing::None => {}
            Missing::Searched if matches!(self.stage, Stage::Searching(_)) => {
                return Some(self.continue_search());
            }
            Missing::Searched => return self.queue.pop_front(),
            Missing::ForGood(halt) => return Some(self.conclude(Conclusion::Halted(halt))),
        }
        let start = self.live.replay.begin_undo().map(Box::new);
        self.unsent.collect(&mut self.live.replay, self.now);
        self.undoing.attempt.clone_from(&start);
        start.map(Action::BeginUndo)
    }

    /// Takes in the end of the attempt in flight.
    pub fn undo_ended(&mut self, end: UndoEnd, now: Timestamp) {
        let Some(start) = self.undoing.attempt.take() else {
            return;
        };
        self.now = now;
        self.live.replay.end_undo(&start, end, now);
        self.unsent.collect(&mut self.live.replay, self.now);
    }

    /// Returns whether an undo is missing. The first time, earlier passes are searched for it.
    pub(crate) fn missing_undo(&mut self) -> Missing {
        if let Stage::Searching(_) = self.stage {
            return Missing::Searched;
        }
        let host = &self.live.host;
        let missing = self
            .live
            .replay
            .rollback()
            .missing_undo(|at| host.has_undo(at));
        let Some(missing) = missing else {
            return Missing::None;
        };
        match &mut self.undoing.earlier {
            EarlierPasses::NotNeeded if self.live.replay.run().pass > 1 => {
                let read = Action::Read(ReadFor::Undos, RecordNumber(0));
                self.queue.push_back(read);
                self.undoing.earlier = EarlierPasses::Reading;
                Missing::Searched
            }
            EarlierPasses::Reading => Missing::Searched,
            EarlierPasses::Read(journal) => {
                let journal = std::mem::take(journal);
                self.undoing.earlier = EarlierPasses::Searched;
                if let Some(search) = Search::new(&self.setup, journal) {
                    self.enter(Stage::Searching(Box::new(search)));
                }
                self.missing_undo()
            }
            EarlierPasses::NotNeeded | EarlierPasses::Searched => {
                Missing::ForGood(Halt::Diverged(Box::new(missing)))
            }
        }
    }
}

impl Undoing {
    /// Returns whether the next append changes the status of the run in lists, because its code
    /// begins or leaves a rollback. Requests of operators take precedence, and set the status
    /// themselves.
    pub(crate) fn shown_as(&self, code: &CodeState, replay: &Replay) -> Then {
        let status = replay.status();
        if !matches!(code, CodeState::Running)
            || status.is_pausing()
            || status.cancellation().is_some()
        {
            return Then::Continue;
        }
        let rolls_back = status.rollback().state() != UndoState::Over;
        // An earlier process may have ended before it changed the status.
        let unknown = status.has_begun_undoing() && !rolls_back;
        match (self.is_shown.unwrap_or(unknown), rolls_back) {
            (false, true) => Then::GoOnAs(RunStatus::RollingBack),
            (true, false) => Then::GoOnAs(RunStatus::Running),
            (false, false) | (true, true) => Then::Continue,
        }
    }
}
