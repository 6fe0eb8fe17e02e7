//! Going on after a gap: a loop whose next iteration is gone waits for a later one, and begins it where it began; at once,
//! if nothing was waited for in the iterations between.
//!
//! That iteration began before its record was durable. So the record says at which moment that was; its place in the
//! script says what the code had said before.

use std::collections::BTreeMap;

use everstep_model::record::LoopAdvanced;
use everstep_model::{Body, Location};

use super::super::Replay;
use super::super::operation::{OpId, Resolution};
use super::Advance;
use crate::moment::Moment;

/// What a loop waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Until {
    /// The fold comes to where this iteration began.
    Said(u64),
    /// The record that begins this iteration is folded.
    Durable(u64),
}

/// The loops that wait.
#[derive(Debug, Default)]
pub(super) struct Jumps(BTreeMap<OpId, (Location, Until)>);

impl Jumps {
    pub(super) fn wait(&mut self, op: OpId, place: Location, until: Until) {
        self.0.insert(op, (place, until));
    }

    fn waiting(&self, record: &LoopAdvanced, until: Until) -> Option<OpId> {
        let mut waiting = self.0.iter();
        let is_it = |known: &(Location, Until)| known.0 == record.location && known.1 == until;
        waiting.find(|(_, known)| is_it(known)).map(|(op, _)| *op)
    }
}

impl Replay {
    /// A loop that goes on now, because the fold stands where a later iteration of it began.
    pub(in super::super) fn jump(&mut self) -> Option<(OpId, Resolution)> {
        let (op, record) = self.next_jump()?;
        if self.here < Moment::of_iteration(record) || !self.has_resolved_as_much(record) {
            return None;
        }
        let record = self.take_advance()?;
        self.now = self.now.max(record.now);
        if record.durable {
            let until = Until::Durable(record.iteration);
            self.loops.jumps.wait(op, record.location, until);
            return None;
        }
        self.loops.jumps.0.remove(&op);
        self.operations.close(op)?;
        // The next poll stands for the one in which the iteration began.
        let (first, poll) = (
            record.iteration.saturating_sub(record.at_once),
            self.poll + 1,
        );
        let iterations = record.location.inner_scope();
        self.loops.kept.come_to(&iterations, first, poll);
        Some((op, Resolution::Iteration(record.iteration, record.state)))
    }

    /// The code comes to an iteration that is gone, as are all before `next`: it goes on with that one at once, if it did so
    /// in the poll in which it came here, and waits for it otherwise.
    pub(super) fn go_on_behind_gap(&mut self, place: &Location, here: u64, next: u64) -> Advance {
        let is_at_once = match self.script.next_expected() {
            Some(Body::LoopAdvanced(record)) => {
                let is_it = !record.done && record.iteration == next && record.location == *place;
                is_it && here >= next.saturating_sub(record.at_once)
            }
            _ => false,
        };
        let advanced = if is_at_once {
            self.take_advance()
        } else {
            None
        };
        match advanced {
            Some(record) if record.durable => {
                Advance::Wait(self.wait_for_iteration(place, Until::Durable(next)))
            }
            Some(record) => Advance::Iteration(next, Some(record.state)),
            None => Advance::Wait(self.wait_for_iteration(place, Until::Said(next))),
        }
    }

    /// Takes the record that comes next in the script, which begins an iteration.
    fn take_advance(&mut self) -> Option<LoopAdvanced> {
        let Some(Body::LoopAdvanced(record)) = self.script.pop_expected() else {
            return None;
        };
        self.loops.kept.follow(&record);
        let iterations = record.location.inner_scope();
        self.loops.kept.begin(&iterations, record.iteration);
        Some(*record)
    }

    /// Whether as many operations have resolved where the fold stands as when the iteration began.
    fn has_resolved_as_much(&self, record: &LoopAdvanced) -> bool {
        let resolved = &self.loops.resolved;
        let mut elsewhere = record.resolved_inside.iter();
        resolved.seen_from(&record.location.scope) >= record.resolved
            && elsewhere.all(|before| {
                let iteration = Self::iteration_scope(&before.location, before.iteration);
                resolved.inside(&iteration) >= before.count
                    || self.loops.kept.has_dropped_scope(&iteration)
            })
    }

    /// Nothing is left to do where the fold stands, and all records are gone up to the moment when a loop goes on or a result
    /// takes effect: goes there.
    pub(in super::super) fn cross_to_effect(&mut self) -> bool {
        let jump = self.next_jump();
        let jump = jump.map(|(_, record)| Moment::of_iteration(record));
        let Some(there) = jump.into_iter().chain(self.early_at()).min() else {
            return false;
        };
        let has_more = self
            .unfolded
            .front()
            .is_some_and(|entry| entry.number < there.folded);
        if self.here >= there || has_more {
            return false;
        }
        let next = self.here.folded;
        let is_near =
            next == there.folded || self.loops.kept.time_between(next, there.folded).is_some();
        if is_near {
            self.here = there;
            self.loops.resolved.clear();
        }
        is_near
    }

    /// A loop that waits for what comes next in the script, and what that is.
    fn next_jump(&self) -> Option<(OpId, &LoopAdvanced)> {
        if self.loops.jumps.0.is_empty() {
            return None;
        }
        let Some(Body::LoopAdvanced(record)) = self.script.next_expected() else {
            return None;
        };
        let op = self
            .loops
            .jumps
            .waiting(record, Until::Said(record.iteration))?;
        (!record.done).then_some((op, record))
    }

    /// The record that begins an iteration is durable.
    pub(in super::super) fn fold_loop_advanced(&mut self, record: &LoopAdvanced) {
        let until = Until::Durable(record.iteration);
        if let Some(op) = self.loops.jumps.waiting(record, until) {
            self.loops.jumps.0.remove(&op);
            let iteration = Resolution::Iteration(record.iteration, record.state.clone());
            self.pending.push_back((op, iteration));
        }
    }

    /// The code gave up a loop that waited.
    pub(in super::super) fn leave_loop(&mut self, op: OpId) {
        self.loops.jumps.0.remove(&op);
    }
}
