//! Loops: where each begins, how it advances from one iteration to the next, and what it leaves in
//! the journal.
//!
//! The record that begins an iteration is written when the one before it returns, and the body
//! continues in the same poll. The record belongs to the iteration that it begins. Old iterations
//! are dropped from the journal (`compact.rs`). A replay that reaches a loop whose next iteration
//! is gone waits until the fold has reached the beginning of a later one (`gap_crossing.rs`).

mod awaited;
mod compact;
mod earlier_passes;
mod gap_crossing;
mod gaps;
mod iterations;
mod resolved;

#[cfg(test)]
mod memory_tests;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use everstep_model::planted::{self, Bug};
use everstep_model::record::LoopAdvanced;
use everstep_model::{Body, Entry, Location, Payload, RecordNumber, Scope, Segment};

use super::context::Context;
use super::divergence::{CallSite, Halt};
use super::operations::{Kind, OpId, Resolution};
use super::scopes::Scopes;
use crate::undo::UndoFold;
use compact::Keep;
use earlier_passes::EarlierLoops;
use gap_crossing::{Until, Waiting};
use iterations::Iterations;
pub(super) use iterations::iteration_of;
use resolved::ResolvedHere;

/// The number of unwritten lines of the script from which on an iteration begins only when its
/// record is durable. It limits code that loops without waiting for anything.
const UNWRITTEN_MAX: usize = 64;

#[derive(Debug, Default)]
pub(super) struct Loops {
    pub(super) iterations: Iterations,
    waiting: Waiting,
    pub(super) earlier: EarlierLoops,
    resolved: ResolvedHere,
    /// Whether iterations were dropped since `Replay::take_has_dropped`.
    pub(super) has_dropped: bool,
}

/// How a loop continues.
#[derive(Clone, Debug, PartialEq)]
pub enum Advance {
    /// With this iteration and state. The first iteration has no state; the code supplies it.
    Iteration(u64, Option<Payload>),
    /// With the resolution of this operation.
    Wait(OpId),
    /// It has ended with this result.
    Done(Payload),
}

/// An iteration that has returned.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "plain data")]
pub struct IterationEnd<'a> {
    pub location: &'a Location,
    pub iteration: u64,
    /// Whether it ends the loop.
    pub done: bool,
    /// The number of ended iterations that the journal keeps.
    pub keep: u64,
}

/// Returns the scope of an iteration.
#[must_use]
pub fn iteration_scope(location: &Location, iteration: u64) -> Scope {
    location.inner_scope().child(Segment::Iteration(iteration))
}

impl Loops {
    pub(super) fn call(
        &mut self,
        location: Location,
        poll: u64,
        cx: &mut Context,
    ) -> Option<(Location, Advance)> {
        let scope = location.inner_scope();
        self.iterations.call(&scope, cx.position.here.folded);
        self.iterations.reach(&scope, 0, poll);
        let first = self.iterations.next_kept(&scope, 0);
        let may_be_ahead = first > 0 || cx.run.pass > 1;
        if may_be_ahead && cx.script.has_iteration_ahead(&location, first) {
            let advance = self.continue_behind_gap(&location, 0, first, cx);
            return Some((location, advance));
        }
        let state = self.earlier.state(&location, first);
        if state.is_none() && first > 0 {
            halt_on_missing(&location, first, cx);
            return None;
        }
        self.iterations.begin(&scope, first);
        Some((location, Advance::Iteration(first, state)))
    }

    /// Advances a loop with the state of the next iteration, or ends it with its result.
    pub(super) fn advance(
        &mut self,
        end: IterationEnd<'_>,
        (value, site): (Payload, CallSite),
        poll: u64,
        (scopes, undos): (&mut Scopes, &mut UndoFold),
        cx: &mut Context,
    ) -> Option<Advance> {
        let IterationEnd {
            location,
            iteration,
            ..
        } = end;
        let ended = iteration_scope(location, iteration);
        scopes.forget(&ended);
        self.resolved.forget(&ended);
        let scope = location.inner_scope();
        let next = self.iterations.next_kept(&scope, iteration + 1);
        let first = self.iterations.reach(&scope, iteration + 1, poll);
        if next > iteration + 1 && cx.script.has_iteration_ahead(location, next) {
            return Some(self.continue_behind_gap(location, iteration + 1, next, cx));
        }
        // What an earlier pass did here still holds.
        let earlier = self.earlier.after(location, iteration, next);
        if earlier.is_none() && next > iteration + 1 {
            halt_on_missing(location, next, cx);
            return None;
        }
        if earlier.is_none() && cx.state.is_cancelled() {
            return Some(Advance::Wait(cx.open_refused(location.clone())));
        }
        let (done, state) = earlier.unwrap_or((end.done, value));
        let here = cx.position.here;
        let record = LoopAdvanced {
            location: location.clone(),
            iteration: if done { iteration } else { next },
            state,
            done,
            folded: here.folded,
            resolved: self.resolved.seen_from(&location.scope),
            now: cx.position.now,
            dropped: Vec::new(),
            gone: Vec::new(),
            inbox_dropped: 0,
            gaps: Vec::new(),
            durable: !done && cx.script.unwritten() >= UNWRITTEN_MAX,
            began: self.iterations.began(&scope),
            resolved_inside: self.resolved.elsewhere(&location.scope),
            undo_begun: false,
            undone: false,
            moment: here.number,
            at_once: next.saturating_sub(first),
        };
        self.write_advance(record, end.keep, site, undos, cx)
    }

    fn write_advance(
        &mut self,
        mut record: LoopAdvanced,
        keep: u64,
        site: CallSite,
        undos: &mut UndoFold,
        cx: &mut Context,
    ) -> Option<Advance> {
        let location = record.location.clone();
        let scope = location.inner_scope();
        if planted::is(Bug::LoopUnrecorded) && !record.done {
            self.iterations.begin(&scope, record.iteration);
            return Some(Advance::Iteration(record.iteration, Some(record.state)));
        }
        let is_new = cx.script.is_at_end();
        if is_new {
            let keep = Keep {
                last: keep,
                next: record.iteration + u64::from(record.done),
                at_end: record.done,
                now: record.now,
            };
            let in_use = iterations_in_use(&scope, cx);
            let iterations = &mut self.iterations;
            iterations.compact(&scope, keep, (&in_use, undos), &mut record);
            self.has_dropped |= !record.dropped.is_empty();
        }
        let Some(Body::LoopAdvanced(written)) = cx.add_line(record, Some(site)) else {
            return None;
        };
        if !is_new {
            self.iterations.follow(&written);
        }
        if written.done {
            return Some(Advance::Done(written.state));
        }
        self.iterations.begin(&scope, written.iteration);
        if written.durable {
            if is_new {
                cx.outgoing.require_durable();
            }
            let op = self.wait(&location, Until::Durable(written.iteration), cx);
            return Some(Advance::Wait(op));
        }
        Some(Advance::Iteration(written.iteration, Some(written.state)))
    }

    fn wait(&mut self, location: &Location, until: Until, cx: &mut Context) -> OpId {
        let op = cx.operations.open(location.clone(), Kind::Loop);
        self.waiting.0.insert(op, (location.clone(), until));
        op
    }

    /// Collects from a journal, before it is folded, what is missing in it, and removes records
    /// that were dropped later.
    pub(super) fn scan(&mut self, mut journal: Vec<Entry>) -> Vec<Entry> {
        let mut has_gaps = false;
        for entry in &journal {
            if let Body::LoopAdvanced(record) = &entry.record.body {
                has_gaps |= !record.gaps.is_empty();
                self.iterations.scan(record);
            }
        }
        if has_gaps {
            journal.retain(|entry| !self.is_gone(entry.number));
        }
        journal
    }

    /// Moves the fold over a gap in front of a record. Returns whether the loops explain the gap.
    #[inline]
    pub(super) fn cross_gap(&self, entry: &Entry, cx: &mut Context) -> bool {
        let next = cx.position.here.folded;
        if entry.number == next {
            return true;
        }
        self.cross_dropped(next, entry, cx)
    }

    fn cross_dropped(&self, next: RecordNumber, entry: &Entry, cx: &mut Context) -> bool {
        if let Some(time) = self.iterations.gaps.time_between(next, entry.number) {
            cx.position.advance_time(time);
            return true;
        }
        let message = format!("record {} follows record {next}", entry.number);
        cx.state.halt(Halt::Damaged(message));
        false
    }

    /// Notes a record that is folded while the code of these scopes rolls back.
    pub(super) fn fold(&mut self, entry: &Entry, rolling_back: &[Scope]) {
        self.resolved.clear();
        self.iterations.note(entry, rolling_back);
    }

    /// Counts an operation that resolves at the position of the fold. A loop resolves inside its
    /// next iteration.
    pub(super) fn count_resolved(&mut self, location: &Location, resolution: &Resolution) {
        match resolution {
            Resolution::Iteration(number, _) => {
                self.resolved.count(&iteration_scope(location, *number));
            }
            _ => self.resolved.count(&location.scope),
        }
    }

    /// Returns whether an earlier pass executed code in the iteration around a scope.
    pub(super) fn was_executed_earlier(&self, scope: &Scope, cx: &Context) -> bool {
        match scope.iteration() {
            Some(iteration) => self.earlier.has_called_in(&iteration),
            None => !cx.earlier.is_empty(),
        }
    }

    pub(super) fn is_gone(&self, number: RecordNumber) -> bool {
        self.iterations.gaps.around(number).is_some()
    }

    /// Returns whether iterations of a loop are no longer in the journal.
    pub(super) fn has_gone(&self, location: &Location) -> bool {
        self.iterations.next_kept(&location.inner_scope(), 0) > 0
    }
}

/// Iterations with an operation that is still open, because the code moved it out of the body.
fn iterations_in_use(iterations: &Scope, cx: &Context) -> BTreeSet<u64> {
    let open = cx.operations.iter();
    open.filter_map(|(_, operation)| iteration_of(&operation.location, iterations))
        .collect()
}

fn halt_on_missing(location: &Location, iteration: u64, cx: &mut Context) {
    cx.state.halt(Halt::Damaged(format!(
        "iteration {iteration} of loop `{location}` should be there, and is not"
    )));
}
