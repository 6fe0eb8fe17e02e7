//! Checks copies of random programs' journals: a copy contains every result from before the cut,
//! unchanged.

use std::collections::HashSet;

use everstep::Payload;
use everstep::journal::record::LoopAdvanced;
use everstep::journal::{Body, Entry, Location, Timestamp};
use everstep_machine::PassingSteps;

/// The journal of a run, and everything that was ever written to it.
#[derive(Clone, Default)]
pub(crate) struct Journals {
    pub(crate) journal: Vec<Entry>,
    pub(crate) history: Vec<Entry>,
}

/// The result of a step and the start of the successful attempt, both of which differ if the work
/// is repeated.
pub(crate) type Done = (Location, Timestamp, Payload);

/// Returns the results of all completed steps.
pub(crate) fn done(entries: &[Entry]) -> Vec<Done> {
    let done = entries.iter().filter_map(|entry| match &entry.record.body {
        Body::StepCompleted(done) => Some(done),
        _ => None,
    });
    let all = done.map(|done| (done.location.clone(), done.started_at, done.result.clone()));
    all.collect()
}

impl Journals {
    /// Returns the results that a copy cut before the record at index `end` must contain.
    pub(crate) fn copied(&self, end: usize) -> Vec<Done> {
        let end = self.consistent_end(
            end.min(self.first_undone_at_end())
                .min(self.first_ending_record()),
        );
        let (before, after) = self.journal.split_at(end);
        // Steps in flight at the cut have their later results.
        let open = steps_in_flight(before);
        let mut copied = done(before);
        copied.extend(
            done(after)
                .into_iter()
                .filter(|done| open.contains(&done.0)),
        );
        copied
    }

    /// Returns the earliest possible end of a copy in which nothing was undone later and the code
    /// waits for no undo.
    fn consistent_end(&self, end: usize) -> usize {
        let complete = self.first_complete_end(end);
        let undone = self
            .first_undone(complete)
            .min(self.first_awaited(complete));
        let consistent = complete.min(undone);
        if consistent == end {
            end
        } else {
            self.consistent_end(consistent)
        }
    }

    /// Returns the earliest possible end of a copy that is cut before the record at index `end`.
    /// That is `end`, unless a loop in progress has dropped iterations. Then the copy may have to
    /// end before the loop.
    fn first_complete_end(&self, end: usize) -> usize {
        // Nothing is missing before the first gap. In a copy, gaps are not visible.
        if !self.is_copy() && end <= self.first_gap() {
            return end;
        }
        let mut lossy_loops = self.advances(self.journal.len());
        lossy_loops.retain(|lossy| !lossy.gone.is_empty());
        let ended = self.advances(end);
        // A further pass executes the loop again.
        let is_over = |lossy: &LoopAdvanced| {
            let mut latest = ended.iter().rev();
            let last = latest.find(|advanced| advanced.location == lossy.location);
            last.is_some_and(|advanced| advanced.done)
        };
        let beginning = |lossy: &LoopAdvanced| {
            let before = |entry: &Entry| entry.number < lossy.began;
            self.journal.partition_point(before).max(1)
        };
        let starts = lossy_loops.iter().filter(|lossy| !is_over(lossy));
        let starts = starts.map(|lossy| beginning(lossy)).min();
        match starts.filter(|beginning| *beginning < end) {
            Some(beginning) => self.first_complete_end(beginning),
            None => end,
        }
    }

    /// Returns the progress of all loops before the record at index `end`.
    fn advances(&self, end: usize) -> Vec<&LoopAdvanced> {
        let advances = self.journal[..end].iter();
        let advances = advances.filter_map(|entry| match &entry.record.body {
            Body::LoopAdvanced(advanced) => Some(&**advanced),
            _ => None,
        });
        advances.collect()
    }

    /// Returns the index of the first record after a gap.
    fn first_gap(&self) -> usize {
        let mut numbered = self.journal.iter().enumerate();
        let gap = numbered.find(|(index, entry)| entry.number.0 != *index as u64);
        gap.map_or(self.journal.len(), |(index, _)| index)
    }

    /// Returns the index of the record that ended the run or requested its end. A request has no
    /// effect while a step is passing the point of no return.
    fn first_ending_record(&self) -> usize {
        let ends = |entry: &Entry| match &entry.record.body {
            Body::CancelRequested(_) => true,
            Body::ForcedFailure(forced) => forced.location.is_none(),
            body => body.terminal().is_some(),
        };
        let mut passing = PassingSteps::default();
        let mut is_requested = false;
        for (index, entry) in self.journal.iter().enumerate() {
            let body = &entry.record.body;
            is_requested |= ends(entry);
            if is_requested && (body.terminal().is_some() || !passing.is_any()) {
                return index;
            }
            passing.fold(body);
        }
        self.journal.len()
    }

    /// Returns the index of the first record of a step that was undone when the run ended. Such
    /// steps are repeated.
    fn first_undone_at_end(&self) -> usize {
        let is_scripted = |entry: &Entry| entry.record.body.is_scripted();
        let last = self.journal.iter().rposition(is_scripted);
        self.first_undone(last.map_or(0, |last| last + 1))
    }

    /// Returns the index of the first record of a step that was undone after index `from`.
    fn first_undone(&self, from: usize) -> usize {
        let undone = self.journal.iter().skip(from);
        let undone: HashSet<&Location> = undone
            .filter_map(|entry| match &entry.record.body {
                Body::UndoCompleted(undone) => Some(&undone.location),
                _ => None,
            })
            .collect();
        let is_undone = |entry: &Entry| {
            let location = entry.record.body.location();
            location.is_some_and(|location| undone.contains(location))
        };
        let first = self.journal.iter().position(is_undone);
        first.unwrap_or(self.journal.len())
    }

    /// Returns the index of the first record of a step whose undo the code awaited after index
    /// `from`.
    fn first_awaited(&self, from: usize) -> usize {
        let is_scripted = |entry: &Entry| entry.record.body.is_scripted();
        let last_scripted = self.journal.iter().rposition(is_scripted).unwrap_or(0);
        let waited = self.journal.iter().take(last_scripted).skip(from);
        let awaited: HashSet<&Location> = waited
            .filter_map(|entry| match &entry.record.body {
                Body::UndoStarted(undo) => Some(&undo.location),
                Body::UndoSkipped(undo) => Some(&undo.location),
                Body::UndoFailed(undo) => Some(&undo.location),
                _ => None,
            })
            .collect();
        let is_awaited = |entry: &Entry| {
            let location = entry.record.body.location();
            location.is_some_and(|location| awaited.contains(location))
        };
        let first = self.journal.iter().position(is_awaited);
        first.unwrap_or(self.journal.len())
    }

    fn is_copy(&self) -> bool {
        let created = self.journal.first().map(|first| &first.record.body);
        matches!(created, Some(Body::Created(created)) if created.forked_from.is_some())
    }
}

/// Returns the steps that were called in the last pass and have not ended.
fn steps_in_flight(journal: &[Entry]) -> HashSet<Location> {
    let mut open = HashSet::new();
    for entry in journal {
        match &entry.record.body {
            Body::StepStarted(step) => drop(open.insert(step.location.clone())),
            Body::StepCompleted(step) => drop(open.remove(&step.location)),
            Body::StepFailed(step) if step.retry_at.is_none() => {
                open.remove(&step.location);
            }
            Body::StepAbandoned(step) => drop(open.remove(&step.location)),
            Body::ExecutionRetried(_) => open.clear(),
            _ => {}
        }
    }
    open
}
