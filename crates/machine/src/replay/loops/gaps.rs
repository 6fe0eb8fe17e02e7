//! The gaps of a journal: which records were dropped, and the time of the run there.

use everstep_model::record::Gap;
use everstep_model::{RecordNumber, RecordRange, Timestamp};

/// Sorted gaps that do not touch each other.
#[derive(Clone, Debug, Default)]
pub(super) struct Gaps(Vec<Gap>);

impl Gaps {
    pub(super) fn as_slice(&self) -> &[Gap] {
        &self.0
    }

    pub(super) fn add(&mut self, more: &[Gap]) {
        self.0.extend_from_slice(more);
        self.0 = joined(std::mem::take(&mut self.0));
    }

    /// Whether a record was dropped.
    pub(super) fn contains(&self, number: RecordNumber) -> bool {
        self.around(number).is_some()
    }

    /// The latest time of the records from `first` to before `end`, if all of them were dropped.
    pub(super) fn between(&self, first: RecordNumber, end: RecordNumber) -> Option<Timestamp> {
        let gap = self.around(first)?;
        (gap.last.plus(1) >= end).then_some(gap.time)
    }

    fn around(&self, number: RecordNumber) -> Option<&Gap> {
        let after = self.0.partition_point(|gap| gap.first <= number);
        let gap = self.0.get(after.checked_sub(1)?)?;
        (number <= gap.last).then_some(gap)
    }
}

/// Merges adjacent and overlapping gaps.
pub(super) fn joined(mut gaps: Vec<Gap>) -> Vec<Gap> {
    gaps.sort_by_key(|gap| gap.first);
    let mut joined: Vec<Gap> = Vec::with_capacity(gaps.len());
    for gap in gaps {
        match joined.last_mut() {
            Some(before) if gap.first <= before.last.plus(1) => {
                before.last = before.last.max(gap.last);
                before.time = before.time.max(gap.time);
            }
            _ => joined.push(gap),
        }
    }
    joined
}

pub(super) fn range(gap: &Gap) -> RecordRange {
    RecordRange {
        first: gap.first,
        last: gap.last,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gap(first: u64, last: u64, time: u64) -> Gap {
        Gap {
            first: RecordNumber(first),
            last: RecordNumber(last),
            time: Timestamp::from_millis(time),
        }
    }

    #[test]
    fn neighbours_become_one_gap_with_the_later_time() {
        let mut gaps = Gaps::default();
        gaps.add(&[gap(8, 9, 1), gap(1, 3, 7)]);
        gaps.add(&[gap(4, 6, 2)]);
        assert_eq!(gaps.as_slice(), [gap(1, 6, 7), gap(8, 9, 1)]);
        gaps.add(&[gap(7, 7, 3)]);
        assert_eq!(gaps.as_slice(), [gap(1, 9, 7)]);
    }

    #[test]
    fn a_hole_is_legal_only_if_all_of_it_was_dropped() {
        let mut gaps = Gaps::default();
        gaps.add(&[gap(3, 5, 1), gap(9, 9, 2)]);
        let between = |first, end| gaps.between(RecordNumber(first), RecordNumber(end));
        assert_eq!(between(3, 6), Some(Timestamp::from_millis(1)));
        assert_eq!(between(4, 5), Some(Timestamp::from_millis(1)));
        assert_eq!(between(3, 7), None);
        assert_eq!(between(2, 4), None);
        assert_eq!(between(5, 10), None);
        assert!(gaps.contains(RecordNumber(9)) && !gaps.contains(RecordNumber(8)));
    }
}
