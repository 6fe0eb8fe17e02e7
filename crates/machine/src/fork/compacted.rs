//! Copies of compacted loops. Dropped iterations cannot be repeated, so a copy must not end among
//! them.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use everstep_model::record::{IterationRange, LoopAdvanced};
use everstep_model::{Body, Entry, Location};

use super::kept::Kept;

/// Returns the iterations of each loop that are no longer in the journal.
fn gone(journal: &[Entry]) -> BTreeMap<&Location, &[IterationRange]> {
    let advances = advances(journal).filter(|(_, advanced)| !advanced.gone.is_empty());
    let latest = advances.map(|(_, advanced)| (&advanced.location, advanced.gone.as_slice()));
    latest.collect()
}

fn advances(journal: &[Entry]) -> impl DoubleEndedIterator<Item = (usize, &LoopAdvanced)> {
    let entries = journal.iter().enumerate();
    entries.filter_map(|(index, entry)| match &entry.record.body {
        Body::LoopAdvanced(advanced) => Some((index, &**advanced)),
        _ => None,
    })
}

fn holds(ranges: &[IterationRange], iteration: u64) -> bool {
    let mut ranges = ranges.iter();
    ranges.any(|range| (range.first..=range.last).contains(&iteration))
}

/// Returns where a loop can begin again whose first iterations were dropped: with the oldest
/// iteration that is left. `None` if the loop is complete.
pub(super) fn oldest_beginning(journal: &[Entry], whole: &Location) -> Option<usize> {
    let gone = gone(journal);
    holds(gone.get(whole)?, 0).then_some(())?;
    let mut left = advances(journal).filter(|(_, advanced)| advanced.location == *whole);
    left.next().map(|(index, _)| index + 1)
}

/// Returns the last position up to `cut` at which the journal is complete. What is missing before
/// it belongs to iterations that a later iteration of the same loop has left.
pub(super) fn last_whole(journal: &[Entry], mut cut: usize) -> usize {
    let gone = gone(journal);
    loop {
        let earlier = gone
            .iter()
            .filter_map(|(location, gone)| whole_without(journal, cut, location, gone));
        match earlier.min() {
            Some(earlier) => cut = earlier,
            None => return cut,
        }
    }
}

/// Returns an earlier position at which the journal is complete, if it is not complete at `cut`
/// because the loop may have continued there with a dropped iteration.
fn whole_without(
    journal: &[Entry],
    cut: usize,
    location: &Location,
    gone: &[IterationRange],
) -> Option<usize> {
    let (before, _) = journal.split_at_checked(cut)?;
    let mut known = advances(before).rev();
    let last = known.find(|(_, advanced)| advanced.location == *location);
    // The last record of the loop, and its next iteration.
    let (sign, next) = match last {
        Some((_, advanced)) if advanced.done => return None,
        Some((index, advanced)) => (index + 1, advanced.iteration + 1),
        None => {
            let began = beginning(journal, location)?;
            (began, u64::from(!holds(gone, 0)))
        }
    };
    if sign >= cut || !holds(gone, next) {
        return None;
    }
    // A copy does not show where its original had gaps.
    if is_copy(journal) {
        Some(sign)
    } else {
        first_gap(before, sign - 1)
    }
}

/// Returns the index after which all records of a loop follow.
fn beginning(journal: &[Entry], location: &Location) -> Option<usize> {
    let mut left = advances(journal).filter(|(_, advanced)| advanced.location == *location);
    let (_, any) = left.next()?;
    let index = journal.partition_point(|entry| entry.number < any.began);
    // Nothing comes before `created`.
    Some(index.max(1))
}

fn is_copy(journal: &[Entry]) -> bool {
    let created = journal.first().map(|first| &first.record.body);
    matches!(created, Some(Body::Created(created)) if created.forked_from.is_some())
}

/// Returns the index of the first record after `from` that follows a gap.
fn first_gap(journal: &[Entry], from: usize) -> Option<usize> {
    let pairs = journal.windows(2).enumerate().skip(from);
    let mut gaps = pairs.filter(|(_, pair)| match pair {
        [before, after] => before.number.plus(1) != after.number,
        _ => false,
    });
    gaps.next().map(|(index, _)| index + 1)
}

/// Lists the iterations that compaction dropped after the end of the copy in the last copied
/// `loop_advanced` of each loop. No copied record names them otherwise.
pub(super) fn name_gone_iterations(journal: &[Entry], kept: &mut [Kept]) {
    for (location, gone) in gone(journal) {
        let last = kept.iter_mut().rev().find_map(|kept| {
            let body = &mut kept.record.body;
            match body {
                Body::LoopAdvanced(advanced) if advanced.location == *location => Some(advanced),
                _ => None,
            }
        });
        if let Some(last) = last {
            last.gone = before(gone, last.iteration, last.done);
        }
    }
}

/// Returns whether an operation was in an iteration that the copy neither has nor repeats.
pub(super) fn is_gone(operation: &Location, kept: &[Kept]) -> bool {
    let mut around = operation.scope.iteration();
    while let Some(scope) = around {
        let Some((whole, iteration)) = scope.as_iteration() else {
            return false;
        };
        let last = kept.iter().rev().find_map(|kept| match &kept.record.body {
            Body::LoopAdvanced(advanced) if advanced.location == whole => Some(advanced),
            _ => None,
        });
        if last.is_some_and(|last| holds(&last.gone, iteration)) {
            return true;
        }
        around = whole.scope.iteration();
    }
    false
}

/// Returns the part of the ranges before an iteration; all of them if the loop has ended.
fn before(gone: &[IterationRange], iteration: u64, done: bool) -> Vec<IterationRange> {
    let end = if done { u64::MAX } else { iteration };
    let clipped = gone.iter().filter(|range| range.first < end);
    clipped
        .map(|range| IterationRange {
            first: range.first,
            last: range.last.min(end.saturating_sub(1)),
        })
        .collect()
}

/// Moves the record after a gap to no earlier a time than that of the dropped records, because the
/// copy has no gaps and time must not go back.
pub(super) fn keep_time_order(journal: &[Entry], kept: &mut [Kept]) {
    let mut latest_first = advances(journal).rev().map(|(_, advanced)| advanced);
    let last = latest_first.find(|advanced| !advanced.gaps.is_empty());
    for gap in last.into_iter().flat_map(|advanced| &advanced.gaps) {
        let next = kept.partition_point(|kept| kept.number <= Some(gap.last));
        if let Some(next) = kept.get_mut(next) {
            next.record.time = next.record.time.max(gap.time);
        }
    }
}
