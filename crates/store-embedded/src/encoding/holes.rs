//! Ranges of dropped records. Readers skip them, because the key-value store keeps a tombstone for
//! each deleted row until it compacts, and a long-running loop leaves millions of them.

use everstep_model::{RecordNumber, RecordRange};

/// The ranges of a stream that hold no record, in order, none touching the next.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Holes(pub(crate) Vec<RecordRange>);

impl Holes {
    /// With these ranges too, as far as they are before `end`.
    pub(crate) fn with(mut self, more: &[RecordRange], end: RecordNumber) -> Self {
        let Some(last) = end.0.checked_sub(1).map(RecordNumber) else {
            return self;
        };
        let clipped = more.iter().map(|range| RecordRange {
            first: range.first,
            last: range.last.min(last),
        });
        self.0
            .extend(clipped.filter(|range| range.first <= range.last));
        self.0.sort_by_key(|range| range.first);
        let mut joined: Vec<RecordRange> = Vec::with_capacity(self.0.len());
        for range in self.0 {
            match joined.last_mut() {
                Some(before) if range.first <= before.last.plus(1) => {
                    before.last = before.last.max(range.last);
                }
                _ => joined.push(range),
            }
        }
        Self(joined)
    }

    /// The first number from `from` on that is not in a hole.
    pub(crate) fn past(&self, from: RecordNumber) -> RecordNumber {
        let around = |range: &&RecordRange| (range.first..=range.last).contains(&from);
        let around = self.0.iter().find(around);
        around.map_or(from, |range| range.last.plus(1))
    }

    /// What lies between the holes, within `from..=to`.
    pub(crate) fn between(&self, from: RecordNumber, to: RecordNumber) -> Vec<RecordRange> {
        let mut between = Vec::new();
        let mut first = from;
        for hole in self.0.iter().filter(|hole| hole.last >= from) {
            if hole.first > to {
                break;
            }
            if hole.first > first {
                let last = RecordNumber(hole.first.0.saturating_sub(1));
                between.push(RecordRange { first, last });
            }
            first = first.max(hole.last.plus(1));
        }
        if first <= to {
            between.push(RecordRange { first, last: to });
        }
        between
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(first: u64, last: u64) -> RecordRange {
        RecordRange {
            first: RecordNumber(first),
            last: RecordNumber(last),
        }
    }

    #[test]
    fn ranges_that_touch_become_one_and_end_where_the_stream_does() {
        let holes =
            Holes::default().with(&[range(5, 6), range(1, 3), range(9, 2)], RecordNumber(20));
        assert_eq!(holes.0, [range(1, 3), range(5, 6)]);
        let holes = holes.with(&[range(4, 4), range(18, 99)], RecordNumber(20));
        assert_eq!(holes.0, [range(1, 6), range(18, 19)]);
    }

    #[test]
    fn what_lies_between_is_all_the_rest() {
        let holes = Holes(vec![range(1, 3), range(6, 6)]);
        let between = |from, to| holes.between(RecordNumber(from), RecordNumber(to));
        assert_eq!(between(0, 9), [range(0, 0), range(4, 5), range(7, 9)]);
        assert_eq!(between(2, 6), [range(4, 5)]);
        assert_eq!(between(1, 3), []);
        assert_eq!(between(7, 7), [range(7, 7)]);
        assert_eq!(holes.past(RecordNumber(2)), RecordNumber(4));
        assert_eq!(holes.past(RecordNumber(4)), RecordNumber(4));
    }
}
