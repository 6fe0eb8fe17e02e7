//! All journals of the key-value store: none is missing, and the last one is not too short.

use std::path::Path;

use everstep_store::StoreError;

use crate::directory::extent;
use crate::directory::journal_check::{self, Role};
use crate::failure;

/// The intact journals of a store.
pub(crate) struct Journals {
    /// The sequence number of the last batch.
    last_seqno: Option<u64>,
    /// Whether no journal was removed yet, which happens when its rows have been flushed.
    are_complete: bool,
}

impl Journals {
    /// Checks that no journal is missing between two others, because the oldest ones are removed
    /// first, and that the last one is not shorter than when the store was closed.
    pub(crate) fn check(path: &Path, data: &Path, place: &str) -> Result<Self, StoreError> {
        let numbers = extent::journals(data).map_err(failure::of_io(place))?;
        let consecutive = numbers.is_sorted_by(|a, b| a + 1 == *b);
        let Some((active, sealed)) = numbers.split_last().filter(|_| consecutive) else {
            return Err(StoreError::corrupt(place, "a journal is missing"));
        };
        let mut last_seqno = None;
        for number in sealed {
            let last = journal_check::check(&extent::journal(data, *number), Role::Sealed)?;
            last_seqno = last_seqno.max(last);
        }
        let whole_to = match extent::noted(path) {
            Some((number, _)) if number > *active => {
                return Err(StoreError::corrupt(place, "the last journal is missing"));
            }
            Some((number, end)) if number == *active => end,
            _ => 0,
        };
        let role = Role::Active { whole_to };
        let last = journal_check::check(&extent::journal(data, *active), role)?;
        Ok(Self {
            last_seqno: last_seqno.max(last),
            are_complete: numbers.first() == Some(&0),
        })
    }

    /// Refuses journals that end before a row that was flushed: a row is in the journal first, and
    /// a journal is removed only after later ones were started. Journals without any batch show
    /// nothing if earlier ones were removed.
    pub(crate) fn must_reach(&self, flushed: Option<u64>, place: &str) -> Result<(), StoreError> {
        let is_known = self.are_complete || self.last_seqno.is_some();
        if is_known && flushed > self.last_seqno {
            let detail = "the last journal is shorter than the flushed tables show";
            return Err(StoreError::corrupt(place, detail));
        }
        Ok(())
    }
}
