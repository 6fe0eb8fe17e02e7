//! Whether an execution has anything left to do here, and what follows when it has not.

use everstep_machine::{Halt, UndoState};

use super::conclusion::Conclusion;
use super::executor::{Executor, Leave};
use super::verify::second_look;

impl Executor {
    /// Whether nothing is left to do here, and what follows from that.
    pub(super) fn conclude_if_done(&mut self) -> Option<Conclusion> {
        let state = self.shared.state();
        if state.replay.is_pausing() {
            let is_quiet = state.replay.is_quiet() && self.undoing.is_quiet();
            return is_quiet.then_some(Conclusion::Pause);
        }
        drop(state);
        if let Some(next) = self.conclude_ending() {
            return next;
        }
        // What must be durable first resolves something.
        if self.strict {
            return None;
        }
        let state = self.shared.state();
        let undo = state.replay.undo_state();
        let in_flight = !state.replay.steps_in_flight().is_empty() || undo == UndoState::InFlight;
        let is_startable = !state.replay.startable().is_empty() || undo == UndoState::Due;
        if in_flight || (is_startable && self.leave != Leave::Soon) {
            return None;
        }
        if is_startable {
            return Some(Conclusion::Released);
        }
        if self.root.is_some() && state.replay.is_stuck() {
            let why = "the workflow awaits something that is not durable, and nothing can wake it again; await only what \
                       ctx offers, and put everything else inside steps";
            return Some(Conclusion::Halted(Halt::NotDurable(why.to_owned())));
        }
        let status = state.replay.resting_status();
        drop(state);
        Some(self.look_again(Conclusion::Suspended(status)))
    }

    /// In development mode: replays everything once more, and parks the run if the code does something else.
    pub(super) fn look_again(&mut self, conclusion: Conclusion) -> Conclusion {
        let Some(history) = &self.history else {
            return conclusion;
        };
        match second_look(
            &self.definition,
            &self.shared,
            history,
            &self.unsent,
            &conclusion,
        ) {
            Ok(()) => conclusion,
            Err(divergence) => {
                tracing::error!(run = %self.activation.run, %divergence, "hidden nondeterminism");
                Conclusion::Halted(Halt::Diverged(divergence))
            }
        }
    }
}
