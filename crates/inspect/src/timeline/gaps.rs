//! Gaps: where compaction dropped the records of a loop's old iterations.
//!
//! `loop_advanced` names the ranges that it drops. A reader that still has those records shows
//! them, so a gap is where numbers are missing; the named ranges only show which loop dropped them.

use std::fmt;

use everstep_model::{Body, Entry, Location, RecordNumber, RecordRange};

/// The dropped ranges that a journal names, with the loops that dropped them.
#[derive(Debug)]
pub(super) struct Gaps<'a>(Vec<(RecordRange, &'a Location)>);

/// Dropped records. Displayed as a sentence.
#[derive(Debug, PartialEq)]
pub(super) struct Gap {
    pub(super) range: RecordRange,
    /// The loop that dropped them, if it is a single one and its record is still present.
    pub(super) owner: Option<Location>,
}

impl<'a> Gaps<'a> {
    pub(super) fn of(entries: &'a [Entry]) -> Self {
        let mut named = Vec::new();
        for entry in entries {
            if let Body::LoopAdvanced(advanced) = &entry.record.body {
                let ranges = advanced.dropped.iter();
                named.extend(ranges.map(|range| (*range, &advanced.location)));
            }
        }
        Self(named)
    }

    /// Returns the gap between two consecutive records, if there is one.
    pub(super) fn between(&self, before: RecordNumber, after: RecordNumber) -> Option<Gap> {
        let first = RecordNumber(before.0.checked_add(1)?);
        if after <= first {
            return None;
        }
        let last = RecordNumber(after.0.saturating_sub(1));
        let range = RecordRange { first, last };
        let owner = self.owner(range).cloned();
        Some(Gap { range, owner })
    }

    fn owner(&self, gap: RecordRange) -> Option<&'a Location> {
        let meets = |range: &RecordRange| range.first <= gap.last && gap.first <= range.last;
        let mut owners = self.0.iter().filter(|(range, _)| meets(range));
        let (_, owner) = owners.next()?;
        owners.all(|(_, other)| other == owner).then_some(*owner)
    }
}

impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RecordRange { first, last } = self.range;
        match last.0.saturating_sub(first.0).saturating_add(1) {
            1 => write!(f, "1 record (number {first})")?,
            count => write!(f, "{count} records (numbers {first} to {last})")?,
        }
        f.write_str(" dropped by compaction")?;
        match &self.owner {
            Some(owner) => write!(f, " of loop `{owner}`"),
            None => Ok(()),
        }
    }
}
