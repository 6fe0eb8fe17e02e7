//! Whether an execution has anything left to do, and what follows if not.

use everstep_machine::{Halt, UndoState};
use everstep_model::RunStatus;

use crate::action::Action;
use crate::conclusion::Conclusion;
use crate::execution::Host;
use crate::state::{CodeState, Driver, Leave, LookPurpose};
use crate::undoing::Missing;

enum Decision {
    /// There is something left to do.
    None,
    Conclude(Conclusion),
    /// In development mode after a second look.
    Look(LookPurpose),
}

impl<H: Host> Driver<H> {
    /// Writes what must be written now. At most one append is in flight.
    pub(crate) fn decide(&mut self) -> Action {
        if self.append.is_some() {
            return Action::Wait;
        }
        if self.reading.is_idle() {
            match self.decision() {
                Decision::Conclude(conclusion) => return self.conclude(conclusion),
                Decision::Look(purpose) => return self.look_first(purpose),
                Decision::None => {}
            }
            // The first record of a rollback may depend on how the code ended.
            if matches!(self.code, CodeState::Returned(_) | CodeState::Broken(_))
                && let Some(action) = self.next_undo()
            {
                return action;
            }
        }
        self.write()
    }

    fn decision(&mut self) -> Decision {
        let replay = &self.live.replay;
        if replay.status().is_pausing() {
            return if replay.status().is_quiet() && self.undoing.is_quiet() {
                Decision::Conclude(Conclusion::Pause)
            } else {
                Decision::None
            };
        }
        if let Some(ending) = self.code.ending(replay, &self.setup, self.now) {
            return self.end_in_order(ending);
        }
        // What must be durable first resolves something.
        if self.unsent.is_due_now() {
            return Decision::None;
        }
        let undo = replay.status().rollback().state();
        let is_startable = replay.status().startable().next().is_some() || undo == UndoState::Due;
        if replay.status().steps_in_flight().next().is_some()
            || undo == UndoState::InFlight
            || (is_startable && self.leave != Leave::Soon)
        {
            return Decision::None;
        }
        if is_startable {
            return Decision::Conclude(Conclusion::Released);
        }
        if matches!(self.code, CodeState::Running) && replay.status().is_stuck() {
            return Decision::Conclude(Conclusion::Halted(stuck()));
        }
        let status = replay.status().suspended();
        Decision::Look(LookPurpose::Conclude(Conclusion::Suspended(status)))
    }

    /// Returns the next decision on the way to the end of the run.
    fn end_in_order(&mut self, ending: Conclusion) -> Decision {
        let reason = ending.rollback_reason();
        let rolls_back = reason.is_some();
        if rolls_back && !self.unsent.records().is_empty() {
            // A result on its way to the journal may have to be undone too.
            self.unsent.expedite();
            return Decision::None;
        }
        let replay = &mut self.live.replay;
        replay.rollback().end_run(reason);
        match replay.status().rollback().state() {
            UndoState::Over => {
                let failure = replay.status().rollback().failure().cloned();
                let ending = match failure.filter(|_| rolls_back) {
                    Some(rollback_error) => ending.with_failed_rollback(rollback_error),
                    None => ending,
                };
                Decision::Look(LookPurpose::Conclude(ending))
            }
            UndoState::InFlight => Decision::None,
            // The second look was taken when the rollback began.
            UndoState::Waiting => Decision::Conclude(Conclusion::Suspended(RunStatus::RollingBack)),
            UndoState::Due if self.leave == Leave::Soon => Decision::Conclude(Conclusion::Released),
            UndoState::Due if replay.status().is_next_undo_own() => Decision::None,
            // The first record of the rollback fixes the final status and is durable before any
            // undo begins.
            UndoState::Due => match self.missing_undo() {
                Missing::None if self.live.replay.status().rollback().is_ending_decided() => {
                    Decision::None
                }
                Missing::None => Decision::Look(LookPurpose::RollBack(ending)),
                Missing::Searched => Decision::None,
                Missing::ForGood(halt) => Decision::Conclude(Conclusion::Halted(halt)),
            },
        }
    }
}

/// Returns the failure of code that awaits something that can never wake it.
fn stuck() -> Halt {
    let why = "the workflow awaits something that is not durable, and nothing can wake it again; await only what \
               ctx offers, and put everything else inside steps";
    Halt::NotDurable(why.to_owned())
}
