//! What the executor does next.

use everstep_model::{Failure, RunStatus, Timestamp};

use super::attempts::Attempts;
use super::code::Access;
use super::control;
use super::divergence::Halt;
use super::execution::Replay;
use super::fold;
use super::held;
use super::operations::{OpId, Resolution};
use super::state::{Pause, Phase};
use super::waits;

/// What the executor does next.
#[derive(Clone, Debug, PartialEq)]
pub enum Turn {
    /// Call the workflow function and poll it once.
    Start,
    /// Resolve the operation and poll once.
    Resolved(OpId, Resolution),
    /// Everything known is folded: execute steps, write what is outgoing, suspend, or wait for more
    /// records.
    Idle,
    /// The deadline passed, or an operator made the run fail: drop the code and end the run.
    Broken(Box<Failure>),
    /// The run has ended.
    Ended(RunStatus),
    /// A pause was requested: let the steps in flight end, and record the pause.
    Pausing,
    /// The run is paused.
    Paused,
    /// The execution cannot continue.
    Halted(Halt),
}

impl Replay {
    /// Folds until there is something to do. Resolves at most one operation; `wall` is the
    /// executor's clock.
    pub fn turn(&mut self, wall: Timestamp) -> Turn {
        self.context.position.wall = wall;
        self.code.set_access(Access::Forbidden);
        let turn = loop {
            if let Some(turn) = self.turn_once() {
                break turn;
            }
        };
        if let Turn::Start | Turn::Resolved(..) = turn {
            self.code.begin_poll();
        }
        turn
    }

    /// Folds one record, or returns what there is to do.
    #[inline]
    fn turn_once(&mut self) -> Option<Turn> {
        let context = &mut self.context;
        if let Some(request) = held::take_request(context) {
            fold::apply(request, self);
            return None;
        }
        held::halt_if_due(context);
        if let Some(halt) = &context.state.halt {
            return Some(Turn::Halted(halt.clone()));
        }
        if let Some((op, resolution)) = self.next_resolution() {
            return Some(Turn::Resolved(op, resolution));
        }
        let context = &mut self.context;
        if let Phase::Ended(status) = context.state.phase {
            return Some(Turn::Ended(status));
        }
        // A paused run folds nothing: records that arrive meanwhile keep their order.
        if context.state.pause != Pause::No {
            if !control::pause_ends_ahead(&self.rollback, context) {
                return Some(match control::is_pause_recorded(context) {
                    true => Turn::Paused,
                    false => Turn::Pausing,
                });
            }
            context.state.pause = Pause::No;
        }
        if let Phase::Broken(failure) = &context.state.phase {
            // Later records are folded first, because late results are undone too.
            if context.position.unfolded.is_empty() {
                return Some(Turn::Broken(failure.clone()));
            }
        } else if let Some((op, events)) = self.event_queue.next_match() {
            waits::resolve(op, events, context);
            return None;
        }
        if self.early.apply(context) || self.loops.skip_to_effect(&self.early, context) {
            return None;
        }
        if let Some((op, resolution)) = self.removals.pass_dropped(context) {
            return Some(Turn::Resolved(op, resolution));
        }
        let Some(entry) = context.position.unfolded.pop_front() else {
            if context.state.is_cancelled()
                && self.attempts != Attempts::Never
                && self.status().is_at_frontier()
            {
                control::end_cancelled_steps(&mut self.context);
            }
            self.removals.end_open(&mut self.context);
            return Some(Turn::Idle);
        };
        fold::fold(entry, self).then_some(Turn::Start)
    }

    /// Returns the next operation that resolves without another record.
    #[inline]
    fn next_resolution(&mut self) -> Option<(OpId, Resolution)> {
        let context = &mut self.context;
        let crossed = self.loops.cross(self.code.poll, context);
        if let Some(resolved) = crossed.or_else(|| self.removals.pass(context)) {
            return Some(resolved);
        }
        while let Some((op, resolution)) = context.operations.pending.pop_front() {
            // A dropped operation does not resolve.
            if let Some(closed) = context.operations.close(op) {
                self.loops.count_resolved(&closed.location, &resolution);
                return Some((op, resolution));
            }
        }
        None
    }

    /// Resolves another operation before the code is polled, if the next record does. Only a
    /// planted bug uses this.
    #[cfg(feature = "planted-bugs")]
    #[doc(hidden)]
    pub fn resolve_another(&mut self) -> Option<(OpId, Resolution)> {
        use everstep_model::Body;
        if self.context.operations.pending.is_empty() {
            let next = self.context.position.unfolded.pop_front_if(|next| {
                matches!(
                    next.record.body,
                    Body::StepCompleted(_) | Body::TimerFired(_) | Body::ChildFinished(_)
                )
            })?;
            fold::fold(next, self);
        }
        let operations = &mut self.context.operations;
        let (op, resolution) = operations.pending.pop_front()?;
        let closed = operations.close(op)?;
        self.loops.count_resolved(&closed.location, &resolution);
        Some((op, resolution))
    }
}
