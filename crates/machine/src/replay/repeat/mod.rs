//! Loops: where each begins, how it goes from one iteration to the next, and what it leaves in the journal.
//!
//! The record that begins an iteration is said when the one before it returned, and the body goes on in the same poll. It
//! belongs to the iteration it begins. Old iterations are dropped from the journal (`compact.rs`); a replay that comes
//! to a loop whose next iteration is gone waits until the fold has come to where a later one began (`jump.rs`).

mod awaited;
mod compact;
mod gaps;
mod jump;
mod kept;
mod memory;
#[cfg(test)]
mod memory_tests;
mod resolved;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use everstep_model::planted::{self, Bug};
use everstep_model::record::LoopAdvanced;
use everstep_model::{Body, Entry, Location, Name, Payload, Scope, Segment};

use super::Replay;
use super::divergence::{CallSite, Halt};
use super::operation::{Kind, OpId, Resolution};
use compact::Keep;
use jump::{Jumps, Until};
use kept::Kept;
use memory::Memory;
use resolved::ResolvedHere;

/// How many lines of the script may be unwritten when an iteration begins at once. Code that never waits, and only
/// goes round, is held up here until it is durable.
const UNWRITTEN_MAX: usize = 64;

/// Everything an execution knows about its loops.
#[derive(Debug, Default)]
pub(super) struct Loops {
    pub(super) kept: Kept,
    jumps: Jumps,
    memory: Memory,
    pub(super) resolved: ResolvedHere,
    /// Whether iterations were dropped and not everybody has heard of it.
    has_dropped: bool,
}

impl Loops {
    /// Whether iterations of a loop at this place are no longer in the journal.
    pub(super) fn has_gone(&self, place: &Location) -> bool {
        self.kept.next_kept(&place.inner_scope(), 0) > 0
    }
}

/// How a loop goes on.
#[derive(Clone, Debug, PartialEq)]
pub enum Advance {
    /// With this iteration; without a state it is the first, and begins with what the code gave.
    Iteration(u64, Option<Payload>),
    /// With whatever this operation resolves to.
    Wait(OpId),
    /// It is over, and this is what it returns.
    Done(Payload),
}

/// The iteration of a loop that has just returned.
#[derive(Clone, Copy, Debug)]
pub struct Returned<'a> {
    /// The loop.
    pub place: &'a Location,
    /// The iteration.
    pub iteration: u64,
    /// Whether it ends the loop.
    pub done: bool,
    /// How many ended iterations the journal keeps.
    pub keep: u64,
}

impl Replay {
    /// Begins a loop, and gives its place.
    pub fn call_loop(
        &mut self,
        scope: &Scope,
        name: &Name,
        site: CallSite,
    ) -> Option<(Location, Advance)> {
        let place = self.call(scope, name, "loop_advanced", site)?;
        let iterations = place.inner_scope();
        self.loops.kept.call(&iterations, self.here.folded);
        self.loops.kept.come_to(&iterations, 0, self.poll);
        let first = self.loops.kept.next_kept(&iterations, 0);
        let may_be_ahead = first > 0 || self.pass > 1;
        if may_be_ahead && self.script.holds_advance(&place, first) {
            let advance = self.go_on_behind_gap(&place, 0, first);
            return Some((place, advance));
        }
        let state = self.loops.memory.state(&place, first);
        if state.is_none() && first > 0 {
            self.halt_on_lost_iteration(&place, first);
            return None;
        }
        self.loops.kept.begin(&iterations, first);
        Some((place, Advance::Iteration(first, state)))
    }

    /// The scope of an iteration.
    #[must_use]
    pub fn iteration_scope(place: &Location, iteration: u64) -> Scope {
        place.inner_scope().child(Segment::Iteration(iteration))
    }

    /// An iteration returned, with the state of the next or the result of the loop.
    pub fn advance_loop(
        &mut self,
        returned: Returned<'_>,
        value: Payload,
        site: CallSite,
    ) -> Option<Advance> {
        let Returned {
            place, iteration, ..
        } = returned;
        if !self.may_call("loop_advanced", place, site) {
            return None;
        }
        let ended = Self::iteration_scope(place, iteration);
        self.scopes.forget(&ended);
        self.loops.resolved.forget(&ended);
        let iterations = place.inner_scope();
        let next = self.loops.kept.next_kept(&iterations, iteration + 1);
        let first = (self.loops.kept).come_to(&iterations, iteration + 1, self.poll);
        if next > iteration + 1 && self.script.holds_advance(place, next) {
            return Some(self.go_on_behind_gap(place, iteration + 1, next));
        }
        // What an earlier pass came to here stands.
        let known = self.loops.memory.after(place, iteration, next);
        if known.is_none() && next > iteration + 1 {
            self.halt_on_lost_iteration(place, next);
            return None;
        }
        if known.is_none() && self.cancel.is_some() {
            return Some(Advance::Wait(self.open_refused(place.clone())));
        }
        let (done, state) = known.unwrap_or((returned.done, value));
        let record = LoopAdvanced {
            location: place.clone(),
            iteration: if done { iteration } else { next },
            state,
            done,
            folded: self.here.folded,
            resolved: self.loops.resolved.seen_from(&place.scope),
            now: self.now,
            dropped: Vec::new(),
            gone: Vec::new(),
            inbox_dropped: 0,
            gaps: Vec::new(),
            durable: !done && self.script.unwritten() >= UNWRITTEN_MAX,
            began: self.loops.kept.began(&iterations),
            resolved_inside: self.loops.resolved.elsewhere(&place.scope),
            undo_begun: false,
            undone: false,
            moment: self.here.number,
            at_once: next.saturating_sub(first),
        };
        self.say_advance(record, returned.keep, site)
    }

    fn say_advance(
        &mut self,
        mut record: LoopAdvanced,
        keep: u64,
        site: CallSite,
    ) -> Option<Advance> {
        let place = record.location.clone();
        let iterations = place.inner_scope();
        if planted::is(Bug::LoopUnrecorded) && !record.done {
            self.loops.kept.begin(&iterations, record.iteration);
            return Some(Advance::Iteration(record.iteration, Some(record.state)));
        }
        let is_new = self.script.next_expected().is_none();
        if is_new {
            let keep = Keep {
                last: keep,
                next: record.iteration + u64::from(record.done),
                at_end: record.done,
                now: record.now,
            };
            let in_use = self.iterations_in_use(&iterations);
            let (kept, undos) = (&mut self.loops.kept, &mut self.rollback.log.fold);
            kept.compact(&iterations, keep, (&in_use, undos), &mut record);
            if !record.dropped.is_empty() {
                self.forget_dropped();
            }
        }
        let Some(Body::LoopAdvanced(said)) = self.say_at(record.into(), Some(site)) else {
            return None;
        };
        if !is_new {
            self.loops.kept.follow(&said);
        }
        if said.done {
            return Some(Advance::Done(said.state));
        }
        self.loops.kept.begin(&iterations, said.iteration);
        if said.durable {
            self.strict |= is_new;
            let op = self.wait_for_iteration(&place, Until::Durable(said.iteration));
            return Some(Advance::Wait(op));
        }
        Some(Advance::Iteration(said.iteration, Some(said.state)))
    }

    /// Iterations with an operation that is still open, because the code took it out of the body.
    fn iterations_in_use(&self, iterations: &Scope) -> BTreeSet<u64> {
        let open = self.operations.iter();
        open.filter_map(|(_, operation)| kept::iteration_of(&operation.location, iterations))
            .collect()
    }

    fn wait_for_iteration(&mut self, place: &Location, until: Until) -> OpId {
        let op = self.operations.open(place.clone(), Kind::Loop);
        self.loops.jumps.wait(op, place.clone(), until);
        op
    }

    fn halt_on_lost_iteration(&mut self, place: &Location, iteration: u64) {
        self.halt(Halt::Damaged(format!(
            "iteration {iteration} of loop `{place}` should be there, and is not"
        )));
    }

    /// Learns what is missing in a journal before it is folded, and leaves out what was there before it was dropped.
    pub(super) fn foresee(&mut self, mut journal: Vec<Entry>) -> Vec<Entry> {
        let mut has_gaps = false;
        for entry in &journal {
            if let Body::LoopAdvanced(record) = &entry.record.body {
                has_gaps |= !record.gaps.is_empty();
                self.loops.kept.foresee(record);
            }
        }
        if has_gaps {
            let kept = &self.loops.kept;
            journal.retain(|entry| !kept.is_gone(entry.number));
        }
        self.inbox_known = self.loops.kept.inbox_dropped();
        journal
    }

    /// Crosses a gap in the journal, if it is one that a loop left.
    pub(super) fn cross_gap(&mut self, entry: &Entry) -> bool {
        let next = self.here.folded;
        if entry.number == next {
            return true;
        }
        let gap = self.loops.kept.time_between(next, entry.number);
        if let Some(time) = gap {
            self.now = self.now.max(time);
            return true;
        }
        self.halt(Halt::Damaged(format!(
            "record {} follows record {next}",
            entry.number
        )));
        false
    }

    /// An operation resolves where the fold stands. A loop that goes on does so inside its next iteration.
    pub(super) fn count_resolved(&mut self, place: &Location, resolution: &Resolution) {
        let resolved = &mut self.loops.resolved;
        match resolution {
            Resolution::Iteration(number, _) => {
                resolved.count(&Self::iteration_scope(place, *number));
            }
            _ => resolved.count(&place.scope),
        }
    }

    /// Learns from a record of an earlier pass.
    pub(super) fn learn_loop(&mut self, body: &Body) {
        self.loops.memory.learn(body);
    }

    /// Whether an earlier pass began the iteration that this scope stands in.
    pub(super) fn was_begun_before(&self, scope: &Scope) -> bool {
        match scope.iteration() {
            Some(iteration) => self.loops.memory.knows(&iteration),
            None => !self.memo.is_empty(),
        }
    }

    /// What was remembered of iterations that are gone now is of no use: a replay would not know it either.
    fn forget_dropped(&mut self) {
        let kept = &self.loops.kept;
        self.script.forget_sites(|number| kept.is_gone(number));
        self.replied.retain(|event| !kept.is_gone(*event));
        self.loops.has_dropped = true;
    }

    /// Whether iterations were dropped since this was last asked.
    pub fn take_has_dropped(&mut self) -> bool {
        std::mem::take(&mut self.loops.has_dropped)
    }

    /// Whether a place stands in an iteration that is no longer in the journal, so that nothing there happens any more.
    #[must_use]
    pub fn has_dropped(&self, place: &Location) -> bool {
        self.loops.kept.has_dropped(place)
    }
}
