//! Ranges of dropped records. Readers skip them, because the key-value store keeps a tombstone for
//! each deleted row until it compacts, and a long-running loop leaves millions of them.

use everstep_model::{RecordNumber, RecordRange};

/// The ranges of a stream without records, in order, not adjacent to each other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Holes(pub(crate) Vec<RecordRange>);

impl Holes {
    /// Adds ranges, as far as they are before `end`.
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

    /// Returns the first number from `from` on that is not in a hole.
    pub(crate) fn past(&self, from: RecordNumber) -> RecordNumber {
        let around = |range: &&RecordRange| (range.first..=range.last).contains(&from);
        let around = self.0.iter().find(around);
        around.map_or(from, |range| range.last.plus(1))
    }

    /// Returns the ranges between the holes, within `from..=to`.
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
mod tests;
