//! A record that the copy keeps.

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
