//! Replies to events: each event is answered once per pass of the function.

use std::collections::HashSet;

use everstep_model::RecordNumber;

#[derive(Debug, Default)]
pub(super) struct Replies(HashSet<RecordNumber>);

impl Replies {
    /// Returns whether the event was not answered before.
    pub(super) fn add(&mut self, event: RecordNumber) -> bool {
        self.0.insert(event)
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Forgets events that are no longer in the journal.
    pub(super) fn forget(&mut self, is_gone: impl Fn(RecordNumber) -> bool) {
        self.0.retain(|event| !is_gone(*event));
    }
}
