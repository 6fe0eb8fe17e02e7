//! Compaction: which iterations are dropped when a loop advances, and which records belong to them.

use std::collections::BTreeSet;

use everstep_model::record::{Gap, IterationRange, LoopAdvanced};
use everstep_model::{RecordNumber, RecordRange, Scope, Segment, Timestamp, limits};

use super::gaps;
use super::iterations::{Iterations, joined};
use crate::undo::UndoFold;

/// How many iterations of a loop are kept, and the progress of the loop.
#[derive(Clone, Copy, Debug)]
pub(super) struct Keep {
    /// The number of ended iterations that are kept.
    pub(super) last: u64,
    /// The iteration that begins now, or the number of iterations if the loop has ended.
    pub(super) next: u64,
    /// Whether the loop has ended, so that there is no later opportunity to drop iterations.
    pub(super) at_end: bool,
    /// Time as the code sees it.
    pub(super) now: Timestamp,
}

impl Iterations {
    /// Drops iterations in batches, and adds them to the record that is about to be written.
    pub(super) fn compact(
        &mut self,
        iterations: &Scope,
        keep: Keep,
        (in_use, undos): (&BTreeSet<u64>, &mut UndoFold),
        record: &mut LoopAdvanced,
    ) {
        record.inbox_dropped = self.inbox_dropped;
        let chosen = self.choose(iterations, keep, in_use, undos);
        if chosen.is_empty() {
            return;
        }
        record.dropped = self.drop_iterations(iterations, &chosen, undos);
        record.gone = match self.loops.get(iterations) {
            Some(known) => known.gone.clone(),
            None => Vec::new(),
        };
        record.inbox_dropped = self.inbox_dropped;
        record.undo_begun = self.undos_dropped.begun;
        record.undone = self.undos_dropped.undone;
        record.gaps = self.gaps.0.clone();
    }

    /// Iterations that have ended, are old enough, and are not pinned.
    fn choose(
        &mut self,
        iterations: &Scope,
        keep: Keep,
        in_use: &BTreeSet<u64>,
        undos: &UndoFold,
    ) -> Vec<u64> {
        let Some(known) = self.loops.get(iterations) else {
            return Vec::new();
        };
        let end = keep.next.saturating_sub(keep.last).min(known.ended_before);
        let batch = if keep.at_end { 1 } else { keep.last.max(1) };
        let enough = batch + keep.last.min(keep.next);
        if (known.open.len() as u64) < enough {
            return Vec::new();
        }
        let old: Vec<u64> = known.open.range(..end).copied().collect();
        if (old.len() as u64) < batch {
            return Vec::new();
        }
        let scope = |iteration| iterations.child(Segment::Iteration(iteration));
        let has_replied = |iteration: &&u64| self.has_just_replied(&scope(**iteration), keep.now);
        let replied = old.iter().rev().filter(has_replied);
        let replied: BTreeSet<u64> = replied
            .take(limits::ANSWERED_ITERATIONS_MAX)
            .copied()
            .collect();
        let (pinned, free): (Vec<u64>, Vec<u64>) = old
            .into_iter()
            .partition(|iteration| self.must_stay(&scope(*iteration), undos));
        if let Some(known) = self.loops.get_mut(iterations) {
            for iteration in pinned {
                known.open.remove(&iteration);
                known.pinned.insert(iteration);
            }
        }
        free.into_iter()
            .filter(|iteration| !in_use.contains(iteration) && !replied.contains(iteration))
            .collect()
    }

    /// Returns whether the scope replied to an event so recently that the sender may not have read
    /// the reply.
    fn has_just_replied(&self, scope: &Scope, now: Timestamp) -> bool {
        let from_here = self.iterations.range(scope.clone()..);
        let mut inside = from_here.take_while(|(inner, _)| inner.is_within(scope));
        let is_recent = |at: Timestamp| at.after(limits::REPLY_KEPT) > now;
        inside.any(|(_, records)| records.replied_at.is_some_and(is_recent))
    }

    fn drop_iterations(
        &mut self,
        iterations: &Scope,
        chosen: &[u64],
        undos: &mut UndoFold,
    ) -> Vec<RecordRange> {
        let mut spans: Vec<Gap> = Vec::new();
        for iteration in chosen {
            let scope = iterations.child(Segment::Iteration(*iteration));
            for inner in within(&self.iterations, &scope) {
                if let Some(records) = self.iterations.remove(&inner) {
                    self.inbox_dropped += records.inbox.len() as u64;
                    self.undos_dropped.add(records.undos);
                    spans.extend(records.spans);
                }
            }
            for inner in within(&self.loops, &scope) {
                self.loops.remove(&inner);
            }
            undos.forget(&scope);
            self.forget_awaited(&scope);
        }
        let known = self.loops.entry(iterations.clone()).or_default();
        for iteration in chosen {
            known.open.remove(iteration);
        }
        let single = |iteration: &u64| IterationRange {
            first: *iteration,
            last: *iteration,
        };
        let gone = known.gone.iter().copied();
        known.gone = joined(gone.chain(chosen.iter().map(single)).collect());
        let spans = gaps::joined(spans);
        self.gaps.add(&spans);
        let range = |&Gap { first, last, .. }: &Gap| RecordRange { first, last };
        spans.iter().map(range).collect()
    }

    /// Takes over the iterations that another executor dropped.
    pub(super) fn follow(&mut self, record: &LoopAdvanced) {
        if record.dropped.is_empty() {
            return;
        }
        self.scan(record);
        let iterations = record.location.inner_scope();
        let is_gone = |number: &RecordNumber| {
            let mut ranges = record.dropped.iter();
            ranges.any(|range| (range.first..=range.last).contains(number))
        };
        let Some(known) = self.loops.get(&iterations) else {
            return;
        };
        let listed = known.open.union(&known.pinned).copied();
        let in_ranges = |iteration: &u64| {
            let mut ranges = record.gone.iter();
            ranges.any(|range| (range.first..=range.last).contains(iteration))
        };
        for iteration in listed.filter(in_ranges).collect::<Vec<_>>() {
            let scope = iterations.child(Segment::Iteration(iteration));
            for inner in within(&self.iterations, &scope) {
                if let Some(records) = self.iterations.get_mut(&inner) {
                    records.spans.retain(|span| !is_gone(&span.first));
                    records.inbox.retain(|number| !is_gone(number));
                    if records.spans.is_empty() {
                        self.iterations.remove(&inner);
                    }
                }
            }
            if within(&self.iterations, &scope).is_empty()
                && let Some(known) = self.loops.get_mut(&iterations)
            {
                known.open.remove(&iteration);
                known.pinned.remove(&iteration);
            }
        }
    }
}

/// Returns the keys that are this scope or inside it.
fn within<T>(map: &std::collections::BTreeMap<Scope, T>, scope: &Scope) -> Vec<Scope> {
    let from_here = map.range(scope.clone()..).map(|(inner, _)| inner);
    let inside = from_here.take_while(|inner| inner.is_within(scope));
    inside.cloned().collect()
}
