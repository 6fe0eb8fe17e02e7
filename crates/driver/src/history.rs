//! Everything that an execution folded, kept in development mode for the second look.

use everstep_model::{Body, Entry, Record, RecordNumber};

#[derive(Debug)]
pub(crate) struct History(Vec<Entry>);

impl History {
    pub(crate) fn new(journal: &[Entry]) -> Self {
        Self(journal.to_vec())
    }

    pub(crate) fn extend(&mut self, entries: &[Entry]) {
        let known = self.next_number();
        let new = entries.iter().filter(|entry| entry.number >= known);
        self.0.extend(new.cloned());
        for entry in entries {
            if let Body::LoopAdvanced(record) = &entry.record.body
                && !record.dropped.is_empty()
            {
                let is_gone = |number| {
                    let mut ranges = record.dropped.iter();
                    ranges.any(|range| (range.first..=range.last).contains(&number))
                };
                self.0.retain(|entry| !is_gone(entry.number));
            }
        }
    }

    /// Returns the journal as it will be when these records are written.
    pub(crate) fn with(&self, unsent: &[Record]) -> Vec<Entry> {
        let next = self.next_number();
        let coming = unsent.iter().enumerate().map(|(index, record)| Entry {
            number: next.plus(index),
            record: record.clone(),
        });
        self.0.iter().cloned().chain(coming).collect()
    }

    pub(crate) fn next_number(&self) -> RecordNumber {
        let last = self.0.last();
        last.map_or(RecordNumber(0), |last| last.number.plus(1))
    }
}
