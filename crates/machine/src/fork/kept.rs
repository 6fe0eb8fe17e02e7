//! The records that a copy keeps, and their numbers in the original and in the copy.

use everstep_model::{Entry, Record, RecordNumber};

/// A record of the copy, with its number in the original if it has one.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Kept {
    pub(super) number: Option<RecordNumber>,
    pub(super) record: Record,
}

impl Kept {
    pub(super) fn of(entry: &Entry) -> Self {
        Self {
            number: Some(entry.number),
            record: entry.record.clone(),
        }
    }
}

/// Maps record numbers of the original to those of the copy.
pub(super) struct Numbers(Vec<(RecordNumber, RecordNumber)>);

impl Numbers {
    pub(super) fn of(kept: &[Kept]) -> Self {
        let numbered = kept.iter().enumerate();
        let pairs =
            numbered.filter_map(|(index, kept)| Some((kept.number?, RecordNumber(0).plus(index))));
        Self(pairs.collect())
    }

    /// Returns the number of a record in the copy, if the copy has it.
    pub(super) fn new_of(&self, old: RecordNumber) -> Option<RecordNumber> {
        let index = self.0.binary_search_by_key(&old, |(old, _)| *old).ok()?;
        self.0.get(index).map(|(_, new)| *new)
    }

    /// Returns whether the copy has the record right before this one.
    pub(super) fn has_before(&self, old: RecordNumber) -> bool {
        let before = old.0.checked_sub(1).map(RecordNumber);
        before.is_none_or(|before| self.new_of(before).is_some())
    }

    /// Returns the position in the copy after everything that came before this record.
    pub(super) fn position_of(&self, old: RecordNumber) -> RecordNumber {
        let index = self.0.partition_point(|(known, _)| *known < old);
        let before = index.checked_sub(1).and_then(|last| self.0.get(last));
        before.map_or(RecordNumber(0), |(_, new)| new.plus(1))
    }
}
