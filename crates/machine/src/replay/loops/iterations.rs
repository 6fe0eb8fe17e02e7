//! Which iterations the journal still contains, and which records belong to each.
//!
//! The records of everything that is called in an iteration belong to it, as do the record that
//! began it and the inbox records that its operations took. A record inside nested loops is listed
//! with the innermost iteration; an outer iteration includes everything that is listed within its
//! scope.

use std::collections::{BTreeMap, BTreeSet};

use everstep_model::record::{Gap, IterationRange, LoopAdvanced};
use everstep_model::{
    Body, Entry, Location, Name, Origin, RecordNumber, Scope, Segment, Timestamp,
};
use rustc_hash::FxHashMap;

use super::awaited::AwaitedUndos;
use super::gaps::Gaps;
use crate::undo::UndoFold;

/// One loop. The key is the scope of its iterations.
#[derive(Debug, Default)]
pub(super) struct Loop {
    /// Iterations that are no longer in the journal, in order.
    pub(super) gone: Vec<IterationRange>,
    /// Iterations that the journal contains and that are not known to be pinned.
    pub(super) open: BTreeSet<u64>,
    /// Iterations that were examined and must be kept.
    pub(super) pinned: BTreeSet<u64>,
    /// All iterations before this one have ended in this pass, according to the journal.
    pub(super) ended_before: u64,
    /// The number of folded records when any pass first called it.
    began: Option<RecordNumber>,
    /// A poll of the code, and the first iteration that the code reached in it.
    polled: Option<(u64, u64)>,
}

/// The records of one iteration, without those of iterations inside it.
#[derive(Debug, Default)]
pub(super) struct Records {
    pub(super) spans: Vec<Gap>,
    /// The inbox records among them.
    pub(super) inbox: Vec<RecordNumber>,
    /// When it last replied to an event.
    pub(super) replied_at: Option<Timestamp>,
    /// What the records say about undos, which is kept when they are dropped.
    pub(super) undos: UndosSeen,
}

/// Whether undos began or were skipped, and whether one succeeded.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::replay) struct UndosSeen {
    pub(in crate::replay) begun: bool,
    pub(in crate::replay) undone: bool,
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
    pub(in crate::replay) inbox_dropped: u64,
    /// Undos in dropped iterations.
    pub(in crate::replay) undos_dropped: UndosSeen,
    pub(super) loops: BTreeMap<Scope, Loop>,
    pub(super) iterations: BTreeMap<Scope, Records>,
    /// Undos in kept iterations that code waited for.
    awaited: AwaitedUndos,
    /// Where the code passed the point of no return. Its iteration is pinned.
    no_return: Option<Location>,
    /// Where the code last set each attribute. Only the newest record of an attribute pins its
    /// iteration, because attributes are read from the journal.
    attributes: BTreeMap<Name, Location>,
    /// Events that no recorded wait has taken, with their times.
    events: FxHashMap<RecordNumber, Timestamp>,
}

impl Iterations {
    /// Collects from a journal, before it is folded, what is missing in it.
    pub(super) fn scan(&mut self, record: &LoopAdvanced) {
        // A copied journal has no gaps, but lacks the same iterations.
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

    /// Returns whether iterations were dropped, and with them rollbacks that the code requested in
    /// them.
    pub(in crate::replay) fn has_forgotten(&self) -> bool {
        self.loops.values().any(|known| !known.gone.is_empty())
    }

    /// Returns the first iteration from `from` on that was not dropped.
    pub(super) fn next_kept(&self, iterations: &Scope, from: u64) -> u64 {
        let gone = self.loops.get(iterations).map(|known| &known.gone);
        let mut ranges = gone.into_iter().flatten();
        let around = ranges.find(|range| (range.first..=range.last).contains(&from));
        around.map_or(from, |range| range.last + 1)
    }

    /// Notes a call of a loop, with the number of folded records.
    pub(super) fn call(&mut self, iterations: &Scope, folded: RecordNumber) {
        let known = self.loops.entry(iterations.clone()).or_default();
        known.began = Some(known.began.map_or(folded, |began| began.min(folded)));
    }

    /// Returns the number of folded records when the code first called a loop.
    pub(super) fn began(&self, iterations: &Scope) -> RecordNumber {
        let known = self.loops.get(iterations);
        known.and_then(|known| known.began).unwrap_or_default()
    }

    /// Notes that the code reaches an iteration in this poll. Returns the first one that it reached
    /// in the poll.
    pub(super) fn reach(&mut self, iterations: &Scope, iteration: u64, poll: u64) -> u64 {
        let known = self.loops.entry(iterations.clone()).or_default();
        match known.polled {
            Some((known, first)) if known == poll => first,
            _ => {
                known.polled = Some((poll, iteration));
                iteration
            }
        }
    }

    /// Notes that the code begins an iteration.
    pub(super) fn begin(&mut self, iterations: &Scope, iteration: u64) {
        let known = self.loops.entry(iterations.clone()).or_default();
        known.open.insert(iteration);
        let scope = iterations.child(Segment::Iteration(iteration));
        self.iterations.entry(scope).or_default();
    }

    /// Begins a pass of the function, which executes the iterations again.
    pub(in crate::replay) fn begin_pass(&mut self) {
        for known in self.loops.values_mut() {
            known.ended_before = 0;
        }
    }

    /// Folds a record, while calls in these scopes wait for a rollback.
    pub(in crate::replay) fn note(&mut self, entry: &Entry, rolling_back: &[Scope]) {
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
        if body.passes_no_return() {
            self.no_return.get_or_insert_with(|| location.clone());
        }
        if let Body::AttributeSet(record) = body {
            let name = record.attribute.clone();
            if let Some(replaced) = self.attributes.insert(name, location.clone()) {
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
                if let Body::Replied(_) = body {
                    records.replied_at = Some(time);
                }
            }
            match body {
                Body::UndoCompleted(_) | Body::UndoSkipped(_) => {
                    self.awaited.note(location, rolling_back);
                    self.release(&location.scope);
                }
                // If it did not complete, there is nothing to undo.
                Body::ChildFinished(_) => self.release(&location.scope),
                _ => {}
            }
        }
    }

    /// Releases what calls in a dropped iteration waited for.
    pub(super) fn forget_awaited(&mut self, gone: &Scope) {
        for freed in self.awaited.forget(gone) {
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

    /// Registers an iteration that the code has not begun: one of an earlier pass, or a dropped one
    /// with a late record, which is dropped with the next batch.
    fn register(&mut self, iteration: &Scope, number: RecordNumber) {
        for (iterations, iteration) in iterations_around(iteration) {
            self.call(&iterations, number);
            let known = self.loops.entry(iterations).or_default();
            known.open.insert(iteration);
        }
    }

    /// Examines the iterations around a scope again, because something in it no longer pins them.
    fn release(&mut self, scope: &Scope) {
        for (iterations, number) in iterations_around(scope) {
            if let Some(known) = self.loops.get_mut(&iterations)
                && known.pinned.remove(&number)
            {
                known.open.insert(number);
            }
        }
    }

    /// Returns whether a scope is in a dropped iteration.
    pub(in crate::replay) fn has_dropped(&self, scope: &Scope) -> bool {
        let mut around = iterations_around(scope);
        around.any(|(iterations, number)| self.next_kept(&iterations, number) > number)
    }

    /// Returns whether a replay needs the records of a scope that the code has left.
    pub(super) fn must_stay(&self, scope: &Scope, undos: &UndoFold) -> bool {
        let is_inside = |location: &Location| location.scope.is_within(scope);
        undos.has_live_in(scope)
            || self.awaited.pin(scope)
            || self.no_return.as_ref().is_some_and(is_inside)
            || self.attributes.values().any(is_inside)
    }
}

/// Returns the iterations around a scope, outermost first: the scope of each loop's iterations, and
/// the number.
fn iterations_around(scope: &Scope) -> impl Iterator<Item = (Scope, u64)> {
    let path = scope.segments();
    let numbered = path.iter().enumerate();
    numbered.filter_map(|(index, segment)| match segment {
        Segment::Iteration(number) => Some((
            Scope::from_segments(path.iter().take(index).cloned()),
            *number,
        )),
        Segment::Named(..) => None,
    })
}

/// Returns the iteration of a loop that contains a location.
pub(in crate::replay) fn iteration_of(location: &Location, iterations: &Scope) -> Option<u64> {
    let path = location.scope.segments();
    match path.strip_prefix(iterations.segments())?.first() {
        Some(Segment::Iteration(number)) => Some(*number),
        Some(Segment::Named(..)) | None => None,
    }
}

/// Merges adjacent and overlapping ranges.
pub(super) fn joined(mut ranges: Vec<IterationRange>) -> Vec<IterationRange> {
    ranges.sort_by_key(|range| range.first);
    ranges.dedup_by(|next, range| {
        let touches = next.first <= range.last.saturating_add(1);
        if touches {
            range.last = range.last.max(next.last);
        }
        touches
    });
    ranges
}
