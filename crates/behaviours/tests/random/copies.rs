//! What a copy of a random program's journal must hold: every result from before the place where the copy ends, as it was.

use std::collections::HashSet;

use everstep::Payload;
use everstep::journal::record::LoopAdvanced;
use everstep::journal::{Body, Entry, Location, Timestamp};

/// A run's journal, and all that was ever written to it.
#[derive(Clone, Default)]
pub(crate) struct Told {
    pub(crate) journal: Vec<Entry>,
    pub(crate) history: Vec<Entry>,
}

/// A step's result, and when the attempt began that had it: work that is done again has others.
pub(crate) type Done = (Location, Timestamp, Payload);

/// The results of all steps that have one.
pub(crate) fn done(entries: &[Entry]) -> Vec<Done> {
    let done = entries.iter().filter_map(|entry| match &entry.record.body {
        Body::StepCompleted(done) => Some(done),
        _ => None,
    });
    let all = done.map(|done| (done.location.clone(), done.started_at, done.result.clone()));
    all.collect()
}

impl Told {
    /// The results that a copy has at least which was to end before the record of this index.
    pub(crate) fn copied(&self, end: usize) -> Vec<Done> {
        let end = self.sound(end.min(self.begins_undone()).min(self.ends()));
        let (before, after) = self.journal.split_at(end);
        // Steps in flight there have their later results.
        let open = under_way(before);
        let mut copied = done(before);
        copied.extend(
            done(after)
                .into_iter()
                .filter(|done| open.contains(&done.0)),
        );
        copied
    }

    /// Where a copy ends at the earliest so that nothing in it was undone later, and the code waits for no undo.
    fn sound(&self, end: usize) -> usize {
        let whole = self.whole(end);
        let undone = self.first_undone(whole).min(self.first_awaited(whole));
        let sound = whole.min(undone);
        if sound == end { end } else { self.sound(sound) }
    }

    /// Where a copy ends at the earliest that was to end before the record of this index: there, unless a loop is under way
    /// that has lost iterations. Then it may have to begin before the loop.
    fn whole(&self, end: usize) -> usize {
        // Before anything is missing, all is there. A copy shows no gaps.
        if !self.is_copy() && end <= self.first_gap() {
            return end;
        }
        let mut under_way = self.advances(self.journal.len());
        under_way.retain(|lossy| !lossy.gone.is_empty());
        let ended = self.advances(end);
        // A further pass goes through it once more.
        let is_over = |lossy: &LoopAdvanced| {
            let mut latest = ended.iter().rev();
            let last = latest.find(|advanced| advanced.location == lossy.location);
            last.is_some_and(|advanced| advanced.done)
        };
        let beginning = |lossy: &LoopAdvanced| {
            let before = |entry: &Entry| entry.number < lossy.began;
            self.journal.partition_point(before).max(1)
        };
        let begun = under_way.iter().filter(|lossy| !is_over(lossy));
        let begun = begun.map(|lossy| beginning(lossy)).min();
        match begun.filter(|beginning| *beginning < end) {
            Some(beginning) => self.whole(beginning),
            None => end,
        }
    }

    /// How loops went on before the record of this index.
    fn advances(&self, end: usize) -> Vec<&LoopAdvanced> {
        let advances = self.journal[..end].iter();
        let advances = advances.filter_map(|entry| match &entry.record.body {
            Body::LoopAdvanced(advanced) => Some(&**advanced),
            _ => None,
        });
        advances.collect()
    }

    /// The index of the first record before which others are missing.
    fn first_gap(&self) -> usize {
        let mut numbered = self.journal.iter().enumerate();
        let gap = numbered.find(|(index, entry)| entry.number.0 != *index as u64);
        gap.map_or(self.journal.len(), |(index, _)| index)
    }

    /// The index of what ended the run, or was about to.
    fn ends(&self) -> usize {
        let ends = |entry: &Entry| match &entry.record.body {
            Body::CancelRequested(_) => true,
            Body::ForcedFailure(forced) => forced.location.is_none(),
            body => body.terminal().is_some(),
        };
        let first = self.journal.iter().position(ends);
        first.unwrap_or(self.journal.len())
    }

    /// The index of the first record of a step that was undone when the run ended: what is undone is done again.
    fn begins_undone(&self) -> usize {
        let said = |entry: &Entry| entry.record.body.is_scripted();
        let last = self.journal.iter().rposition(said);
        self.first_undone(last.map_or(0, |last| last + 1))
    }

    /// The index of the first record of a step that was undone from there on.
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

    /// The index of the first record of a step whose undo the code waited for from there on.
    fn first_awaited(&self, from: usize) -> usize {
        let said = |entry: &Entry| entry.record.body.is_scripted();
        let last_said = self.journal.iter().rposition(said).unwrap_or(0);
        let waited = self.journal.iter().take(last_said).skip(from);
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

/// Steps that were called in the last pass and have not ended.
fn under_way(journal: &[Entry]) -> HashSet<Location> {
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
