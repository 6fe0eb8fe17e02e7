//! Which iterations the journal still contains, and which records belong to each.
//!
//! The records of everything that is called in an iteration belong to it, as do the record that began
//! it and the inbox records that its operations took. A record inside nested loops is listed with the
//! innermost iteration; an outer iteration includes everything that is listed within its scope.

use std::collections::{BTreeMap, BTreeSet};

use everstep_model::record::{Gap, IterationRange, LoopAdvanced};
use everstep_model::{
    Body, Entry, Location, Name, Origin, RecordNumber, Scope, Segment, Timestamp,
};
use rustc_hash::FxHashMap;

use super::awaited::AwaitedUndos;
use super::gaps::Gaps;
use crate::undo::UndoFold;

/// One loop, by the scope its iterations stand in.
#[derive(Debug, Default)]
pub(super) struct Loop {
    /// Iterations that are no longer in the journal, in order.
    pub(super) gone: Vec<IterationRange>,
    /// Iterations the journal holds something of, and that nothing is known to hold.
    pub(super) open: BTreeSet<u64>,
    /// Iterations that were looked at and must stay.
    pub(super) held: BTreeSet<u64>,
    /// All iterations before this one have ended in this pass, and the journal says so.
    pub(super) ended_before: u64,
    /// How much was folded when the code first called it, in whichever pass.
    began: Option<RecordNumber>,
    /// A poll of the code, and the first iteration it came to in it.
    polled: Option<(u64, u64)>,
}

/// The records of one iteration, without those of iterations inside it.
#[derive(Debug, Default)]
pub(super) struct Records {
    pub(super) spans: Vec<Gap>,
    /// Those that came from outside, which are counted.
    pub(super) inbox: Vec<RecordNumber>,
    /// When it last answered an event.
    pub(super) replied_at: Option<Timestamp>,
    /// What of them is about undos, which is not forgotten with them.
    pub(super) undos: UndosSeen,
}

/// Whether undos began, or were passed over, and whether one succeeded.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct UndosSeen {
    pub(super) begun: bool,
    pub(super) undone: bool,
}

impl UndosSeen {
    pub(super) fn add(&mut self, more: Self) {
        self.begun |= more.begun;
        self.undone |= more.undone;
    }

    fn of(body: &Body) -> Self {
        let undone = matches!(body, Body::UndoCompleted(_));
        let begun = matches!(body, Body::UndoStarted(_) | Body::UndoSkipped(_));
        let begun = begun || undone;
        Self { begun, undone }
    }
}

#[derive(Debug, Default)]
pub(in crate::replay) struct Iterations {
    pub(super) gaps: Gaps,
    pub(super) inbox_dropped: u64,
    pub(super) undos_dropped: UndosSeen,
    pub(super) loops: BTreeMap<Scope, Loop>,
    pub(super) iterations: BTreeMap<Scope, Records>,
    /// What was undone while code waited for it that the journal still holds.
    awaited: AwaitedUndos,
    /// Where the code passed the point of no return, which must not be forgotten.
    no_return: Option<Location>,
    /// Where the code last set each attribute. These records stay, because attributes are read from the journal.
    attributes: BTreeMap<Name, Location>,
    /// Events that no recorded wait has taken, with their times.
    events: FxHashMap<RecordNumber, Timestamp>,
}

impl Iterations {
    /// Learns from a journal, before it is folded, what is missing in it.
    pub(super) fn foresee(&mut self, record: &LoopAdvanced) {
        // A copied journal has no gaps; iterations are gone from it all the same.
        if record.dropped.is_empty() && record.gone.is_empty() {
            return;
        }
        self.gaps.add(&record.gaps);
        self.inbox_dropped = self.inbox_dropped.max(record.inbox_dropped);
        self.undos_dropped.add(UndosSeen {
            begun: record.undo_begun,
            undone: record.undone,
        });
        let known = self.loops.entry(record.location.inner_scope()).or_default();
        known.gone = joined(known.gone.iter().chain(&record.gone).copied().collect());
    }

    /// Whether iterations are missing in the journal, and with them whatever the code asked for in them.
    pub(in crate::replay) fn has_forgotten(&self) -> bool {
        self.loops.values().any(|known| !known.gone.is_empty())
    }

    /// Whether an undo began, or was passed over, in an iteration that is gone.
    pub(in crate::replay) fn has_dropped_undos(&self) -> bool {
        self.undos_dropped.begun
    }

    /// Whether something was undone in an iteration that is gone.
    pub(in crate::replay) fn has_dropped_undone(&self) -> bool {
        self.undos_dropped.undone
    }

    /// The first iteration from `from` on that is not gone.
    pub(super) fn next_kept(&self, iterations: &Scope, from: u64) -> u64 {
        let gone = self.loops.get(iterations).map(|known| &known.gone);
        let mut ranges = gone.into_iter().flatten();
        let around = ranges.find(|range| (range.first..=range.last).contains(&from));
        around.map_or(from, |range| range.last + 1)
    }

    /// The code calls a loop when so much is folded.
    pub(super) fn call(&mut self, iterations: &Scope, folded: RecordNumber) {
        let known = self.loops.entry(iterations.clone()).or_default();
        known.began = Some(known.began.map_or(folded, |began| began.min(folded)));
    }

    /// How much was folded when the code first called a loop.
    pub(super) fn began(&self, iterations: &Scope) -> RecordNumber {
        let known = self.loops.get(iterations);
        known.and_then(|known| known.began).unwrap_or_default()
    }

    /// The code comes to an iteration in this poll: gives the first one it came to in it.
    pub(super) fn come_to(&mut self, iterations: &Scope, iteration: u64, poll: u64) -> u64 {
        let known = self.loops.entry(iterations.clone()).or_default();
        match known.polled {
            Some((known, first)) if known == poll => first,
            _ => {
                known.polled = Some((poll, iteration));
                iteration
            }
        }
    }

    /// The code begins an iteration.
    pub(super) fn begin(&mut self, iterations: &Scope, iteration: u64) {
        let known = self.loops.entry(iterations.clone()).or_default();
        known.open.insert(iteration);
        let scope = iterations.child(Segment::Iteration(iteration));
        self.iterations.entry(scope).or_default();
    }

    /// A new pass of the function begins: it goes through the iterations once more.
    pub(in crate::replay) fn begin_pass(&mut self) {
        for known in self.loops.values_mut() {
            known.ended_before = 0;
        }
    }

    /// A record of the journal is folded, while the code of these scopes rolls back.
    pub(in crate::replay) fn note(&mut self, entry: &Entry, askers: &[Scope]) {
        let (number, time) = (entry.number, entry.record.time);
        let body = &entry.record.body;
        match body {
            Body::Event(_) => {
                self.events.insert(number, time);
                return;
            }
            Body::LoopAdvanced(record) => return self.note_advance(record, number, time),
            _ => {}
        }
        let Some(location) = body.location() else {
            return;
        };
        if matches!(body, Body::NoReturn(_)) {
            self.no_return.get_or_insert_with(|| location.clone());
        }
        if let Body::AttributeSet(record) = body {
            let name = record.attribute.clone();
            let replaced = self.attributes.insert(name, location.clone());
            if let Some(replaced) = replaced {
                self.release(&replaced.scope);
            }
        }
        let iteration = match location.scope == Scope::ROOT {
            true => None,
            false => location.scope.iteration(),
        };
        if let Body::WaitCompleted(record) = body {
            for event in &record.events {
                let sent = self.events.remove(event);
                if let (Some(iteration), Some(sent)) = (&iteration, sent) {
                    self.put(iteration, *event, sent, Origin::Inbox);
                }
            }
        }
        if let Some(iteration) = iteration {
            self.put(&iteration, number, time, body.origin());
            if let Some(records) = self.iterations.get_mut(&iteration) {
                records.undos.add(UndosSeen::of(body));
            }
            match body {
                Body::UndoCompleted(_) | Body::UndoSkipped(_) => {
                    self.awaited.note(location, askers);
                    self.release(&location.scope);
                }
                // If it did not complete, there is nothing to undo.
                Body::ChildFinished(_) => self.release(&location.scope),
                Body::Replied(_) => self.note_replied(&iteration, time),
                _ => {}
            }
        }
    }

    fn note_replied(&mut self, iteration: &Scope, time: Timestamp) {
        if let Some(records) = self.iterations.get_mut(iteration) {
            records.replied_at = Some(time);
        }
    }

    /// An iteration is gone: what it waited for elsewhere holds nothing any more.
    pub(super) fn settle_awaited(&mut self, gone: &Scope) {
        for freed in self.awaited.let_go(gone) {
            self.release(&freed);
        }
    }

    fn note_advance(&mut self, record: &LoopAdvanced, number: RecordNumber, time: Timestamp) {
        let iterations = record.location.inner_scope();
        let owner = if record.done {
            record.location.scope.iteration()
        } else {
            Some(iterations.child(Segment::Iteration(record.iteration)))
        };
        if let Some(owner) = owner {
            self.put(&owner, number, time, Origin::Executor);
        }
        self.call(&iterations, record.began);
        let known = self.loops.entry(iterations).or_default();
        let ended_before = record.iteration + u64::from(record.done);
        known.ended_before = known.ended_before.max(ended_before);
    }

    fn put(&mut self, iteration: &Scope, number: RecordNumber, time: Timestamp, origin: Origin) {
        if !self.iterations.contains_key(iteration) {
            self.register(iteration, number);
        }
        let records = self.iterations.entry(iteration.clone()).or_default();
        if origin == Origin::Inbox {
            records.inbox.push(number);
        }
        match records.spans.last_mut() {
            Some(span) if span.last.plus(1) == number => {
                span.last = number;
                span.time = span.time.max(time);
            }
            _ => records.spans.push(Gap {
                first: number,
                last: number,
                time,
            }),
        }
    }

    /// Makes an iteration known that the code has not begun here: one of an earlier pass, or one that is gone and gets a
    /// late record, which goes with the next that are dropped.
    fn register(&mut self, iteration: &Scope, number: RecordNumber) {
        let path = iteration.segments();
        for (index, segment) in path.iter().enumerate() {
            if let Segment::Iteration(n) = segment {
                let iterations = Scope::from_segments(path.iter().take(index).cloned());
                self.call(&iterations, number);
                let known = self.loops.entry(iterations).or_default();
                known.open.insert(*n);
            }
        }
    }

    /// Something in this scope need not be undone any more: the iterations around it are to be looked at again.
    fn release(&mut self, scope: &Scope) {
        let path = scope.segments();
        for (index, segment) in path.iter().enumerate() {
            let Segment::Iteration(number) = segment else {
                continue;
            };
            let outer = Scope::from_segments(path.iter().take(index).cloned());
            if let Some(known) = self.loops.get_mut(&outer)
                && known.held.remove(number)
            {
                known.open.insert(*number);
            }
        }
    }

    pub(super) fn is_gone(&self, number: RecordNumber) -> bool {
        self.gaps.holds(number)
    }

    /// Whether a place stands in an iteration that is no longer in the journal.
    pub(in crate::replay) fn has_dropped(&self, place: &Location) -> bool {
        self.has_dropped_scope(&place.scope)
    }

    pub(super) fn has_dropped_scope(&self, scope: &Scope) -> bool {
        let path = scope.segments();
        path.iter().enumerate().any(|(index, segment)| {
            let Segment::Iteration(number) = segment else {
                return false;
            };
            let iterations = Scope::from_segments(path.iter().take(index).cloned());
            self.next_kept(&iterations, *number) > *number
        })
    }

    /// The latest time of the records from `first` on and before `end`, if all of them are gone.
    pub(super) fn time_between(&self, first: RecordNumber, end: RecordNumber) -> Option<Timestamp> {
        self.gaps.between(first, end)
    }

    /// How many inbox records are gone.
    pub(in crate::replay) fn inbox_dropped(&self) -> u64 {
        self.inbox_dropped
    }

    /// Whether a replay needs what is in this scope, though the code has left it.
    pub(super) fn must_stay(&self, scope: &Scope, undos: &UndoFold) -> bool {
        let is_inside = |location: &Location| location.scope.is_within(scope);
        undos.has_live_in(scope)
            || self.awaited.hold(scope)
            || self.no_return.as_ref().is_some_and(is_inside)
            || self.attributes.values().any(is_inside)
    }
}

/// The loop and the iteration directly below it that a location stands in.
pub(super) fn iteration_of(location: &Location, iterations: &Scope) -> Option<u64> {
    let path = location.scope.segments();
    match path.strip_prefix(iterations.segments())?.first() {
        Some(Segment::Iteration(number)) => Some(*number),
        Some(Segment::Named(..)) | None => None,
    }
}

/// The same iterations in as few ranges as possible.
pub(super) fn joined(mut ranges: Vec<IterationRange>) -> Vec<IterationRange> {
    ranges.sort_by_key(|range| range.first);
    let mut joined: Vec<IterationRange> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match joined.last_mut() {
            Some(before) if range.first <= before.last.saturating_add(1) => {
                before.last = before.last.max(range.last);
            }
            _ => joined.push(range),
        }
    }
    joined
}
