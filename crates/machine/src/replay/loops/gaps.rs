//! The gaps of a journal: which records were dropped, and the time of the run there.

use everstep_model::record::Gap;
use everstep_model::{RecordNumber, Timestamp};

/// Sorted gaps that do not touch each other.
#[derive(Clone, Debug, Default)]
pub(super) struct Gaps(pub(super) Vec<Gap>);

impl Gaps {
    pub(super) fn add(&mut self, more: &[Gap]) {
        self.0.extend_from_slice(more);
        self.0 = joined(std::mem::take(&mut self.0));
    }

    /// Returns the latest time of the records from `first` to before `end`, if all of them were
    /// dropped.
    pub(super) fn time_between(&self, first: RecordNumber, end: RecordNumber) -> Option<Timestamp> {
        let gap = self.around(first)?;
        (gap.last.plus(1) >= end).then_some(gap.time)
    }

    /// Returns the gap that contains a record.
    pub(super) fn around(&self, number: RecordNumber) -> Option<&Gap> {
        let after = self.0.partition_point(|gap| gap.first <= number);
        let gap = self.0.get(after.checked_sub(1)?)?;
        (number <= gap.last).then_some(gap)
    }
}

/// Merges adjacent and overlapping gaps.
pub(super) fn joined(mut gaps: Vec<Gap>) -> Vec<Gap> {
    gaps.sort_by_key(|gap| gap.first);
    gaps.dedup_by(|next, gap| {
        let touches = next.first <= gap.last.plus(1);
        if touches {
            gap.last = gap.last.max(next.last);
            gap.time = gap.time.max(next.time);
        }
        touches
    });
    gaps
}

#[cfg(test)]
mod tests;
