//! Loops behind a gap: a loop whose next iteration is gone waits for a later one, and begins it at
//! the moment at which it began; at once, if the iterations between waited for nothing.
//!
//! An iteration begins before its record is durable, so the record stores the moment. The position
//! of the record in the script shows which lines came before it.

use std::collections::BTreeMap;

use everstep_model::record::LoopAdvanced;
use everstep_model::{Body, Location};

use super::{Advance, Loops, iteration_scope};
use crate::moment::Moment;
use crate::replay::context::Context;
use crate::replay::early_results::EarlyResults;
use crate::replay::operations::{OpId, Resolution};

/// What a loop waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Until {
    /// The fold reaches the moment at which this iteration began.
    Begun(u64),
    /// The record that begins this iteration is folded.
    Durable(u64),
}

#[derive(Debug, Default)]
pub(super) struct Waiting(pub(super) BTreeMap<OpId, (Location, Until)>);

impl Waiting {
    fn find(&self, record: &LoopAdvanced, until: Until) -> Option<OpId> {
        let mut waiting = self.0.iter();
        let found = waiting.find(|(_, known)| known.0 == record.location && known.1 == until);
        found.map(|(op, _)| *op)
    }
}

impl Loops {
    /// Resolves a loop that continues now, because the fold has reached the moment at which a later
    /// iteration of it began.
    #[inline]
    pub(in crate::replay) fn cross(
        &mut self,
        poll: u64,
        cx: &mut Context,
    ) -> Option<(OpId, Resolution)> {
        if self.waiting.0.is_empty() {
            return None;
        }
        self.cross_next(poll, cx)
    }

    fn cross_next(&mut self, poll: u64, cx: &mut Context) -> Option<(OpId, Resolution)> {
        let (op, record) = self.next_crossing(cx)?;
        let is_early = cx.position.here < Moment::of_iteration(record);
        if is_early || !self.has_resolved_as_much(record) {
            return None;
        }
        let record = self.take_advance(cx)?;
        cx.position.advance_time(record.now);
        if record.durable {
            let until = Until::Durable(record.iteration);
            self.waiting.0.insert(op, (record.location, until));
            return None;
        }
        self.waiting.0.remove(&op);
        cx.operations.close(op)?;
        // The next poll corresponds to the one in which the iteration began.
        let first = record.iteration.saturating_sub(record.at_once);
        let scope = record.location.inner_scope();
        self.iterations.reach(&scope, first, poll + 1);
        Some((op, Resolution::Iteration(record.iteration, record.state)))
    }

    /// Continues a loop that has reached iteration `here`, while all iterations before `next` are
    /// gone: at once if the original did so in the same poll, otherwise by waiting.
    pub(super) fn continue_behind_gap(
        &mut self,
        location: &Location,
        here: u64,
        next: u64,
        cx: &mut Context,
    ) -> Advance {
        let is_at_once = matches!(cx.script.next_expected(), Some(Body::LoopAdvanced(record))
            if !record.done
                && record.iteration == next
                && record.location == *location
                && here >= next.saturating_sub(record.at_once));
        let until = match is_at_once.then(|| self.take_advance(cx)).flatten() {
            Some(record) if record.durable => Until::Durable(next),
            Some(record) => return Advance::Iteration(next, Some(record.state)),
            None => Until::Begun(next),
        };
        Advance::Wait(self.wait(location, until, cx))
    }

    /// Takes the next record of the script, which begins an iteration.
    fn take_advance(&mut self, cx: &mut Context) -> Option<LoopAdvanced> {
        let Some(Body::LoopAdvanced(record)) = cx.script.pop_expected() else {
            return None;
        };
        self.iterations.follow(&record);
        let scope = record.location.inner_scope();
        self.iterations.begin(&scope, record.iteration);
        Some(*record)
    }

    /// Returns whether as many operations have resolved at this position as when the iteration
    /// began.
    fn has_resolved_as_much(&self, record: &LoopAdvanced) -> bool {
        let resolved = &self.resolved;
        let mut elsewhere = record.resolved_inside.iter();
        resolved.seen_from(&record.location.scope) >= record.resolved
            && elsewhere.all(|before| {
                let iteration = iteration_scope(&before.location, before.iteration);
                resolved.inside(&iteration) >= before.count
                    || self.iterations.has_dropped(&iteration)
            })
    }

    /// Moves the fold to the next moment at which a loop continues or a result takes effect, if all
    /// records up to it are gone and nothing is left to do here.
    #[inline]
    pub(in crate::replay) fn skip_to_effect(
        &mut self,
        early: &EarlyResults,
        cx: &mut Context,
    ) -> bool {
        let has_effects = !self.waiting.0.is_empty() || early.next().is_some();
        has_effects && self.skip_to_next(early, cx)
    }

    fn skip_to_next(&mut self, early: &EarlyResults, cx: &mut Context) -> bool {
        let crossing = self.next_crossing(cx);
        let crossing = crossing.map(|(_, record)| Moment::of_iteration(record));
        let Some(there) = crossing.into_iter().chain(early.next()).min() else {
            return false;
        };
        let position = &mut cx.position;
        let next = position.next_number();
        if position.here >= there || next.is_some_and(|next| next < there.folded) {
            return false;
        }
        let here = position.here.folded;
        let gaps = &self.iterations.gaps;
        let is_near = here == there.folded || gaps.time_between(here, there.folded).is_some();
        if is_near {
            position.here = there;
            self.resolved.clear();
        }
        is_near
    }

    /// Returns the loop that waits for the next record of the script, and that record.
    fn next_crossing<'a>(&self, cx: &'a Context) -> Option<(OpId, &'a LoopAdvanced)> {
        let Some(Body::LoopAdvanced(record)) = cx.script.next_expected() else {
            return None;
        };
        let op = self.waiting.find(record, Until::Begun(record.iteration))?;
        (!record.done).then_some((op, record))
    }

    /// Resolves a loop that waits until the record of its next iteration is durable.
    pub(in crate::replay) fn fold_advanced(&mut self, record: &LoopAdvanced, cx: &mut Context) {
        let until = Until::Durable(record.iteration);
        if let Some(op) = self.waiting.find(record, until) {
            self.waiting.0.remove(&op);
            let iteration = Resolution::Iteration(record.iteration, record.state.clone());
            cx.operations.resolve(op, iteration);
        }
    }

    /// Forgets a loop that the code dropped while it waited.
    pub(in crate::replay) fn forget(&mut self, op: OpId) {
        self.waiting.0.remove(&op);
    }
}
