//! Undos, dropped operations and the end of the code.

use everstep_model::{Failure, Timestamp};

use super::children;
use super::code::Access;
use super::divergence::Halt;
use super::execution::Replay;
use super::held;
use super::operations::{Kind, OpId};
use super::rollback::{UndoEnd, UndoStart};
use super::state::Phase;
use super::steps;

impl Replay {
    /// Begins the next undo if it is due and everything known is folded.
    pub fn begin_undo(&mut self) -> Option<UndoStart> {
        if !self.status().may_undo(self.attempts) {
            return None;
        }
        let outgoing = &mut self.context.outgoing;
        self.rollback.begin_undo(self.attempts, outgoing)
    }

    /// Records the end of an attempt to undo a step or child. After a failure either another one
    /// follows, or the rollback has failed.
    pub fn end_undo(&mut self, start: &UndoStart, end: UndoEnd, now: Timestamp) {
        let outgoing = &mut self.context.outgoing;
        self.rollback.end_undo(start, end, now, outgoing);
    }

    /// Records that the code dropped an operation before it resolved.
    pub fn drop_operation(&mut self, op: OpId) {
        if self.code.access == Access::Detached {
            return;
        }
        let context = &mut self.context;
        if !self.code.may_drop(op, context) {
            return;
        }
        let Some(operation) = context.operations.close(op) else {
            return;
        };
        context.outgoing.obsolete.extend(operation.rows());
        match operation.kind {
            Kind::Step(step) => steps::abandon(operation.location, &step, context),
            Kind::Wait { .. } => self.event_queue.forget(op),
            Kind::Child(child) => children::leave(operation.location, &child, context),
            Kind::Loop => self.loops.forget(op),
            Kind::Removed => self.removals.forget(op),
            Kind::Sleep { .. } | Kind::Rpc { .. } | Kind::Race | Kind::Rollback | Kind::Refused => {
            }
        }
    }

    /// Records that the function returned or panicked. Recorded lines that it did not reach are a
    /// divergence.
    pub fn returned(&mut self, error: Option<&str>) {
        let context = &mut self.context;
        if context.state.is_running() {
            context.state.phase = Phase::Returned;
        }
        self.code.check_return(context);
        // Only records that this execution knows count, because the code returned without the
        // others.
        if let Err(mut divergence) = context.script.check_end() {
            divergence.detail = error.map(|error| format!("it failed before: {error}"));
            context.state.halt(Halt::Diverged(divergence));
        }
    }

    /// Halts the run because its code used something that is not durable. Code that has ended
    /// cannot halt the run.
    pub fn halt_not_durable(&mut self, why: String) {
        if self.context.state.is_running() {
            held::halt_not_durable(why, &mut self.context);
        }
    }

    /// Halts the run because its records were refused, for this reason.
    pub fn halt_refused(&mut self, reason: Failure) {
        self.context
            .state
            .halt_anyway(Halt::Refused(Box::new(reason)));
    }
}
