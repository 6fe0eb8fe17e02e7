//! Rows that operations have in the store, such as their timers: which of them nothing needs any more.

use everstep_model::record::TimerPurpose;

use super::{Obsolete, Replay};

impl Replay {
    /// Gives rows back that were not deleted after all.
    pub fn put_back_obsolete(&mut self, rows: Vec<Obsolete>) {
        self.obsolete.extend(rows);
    }

    /// Takes the rows that nothing needs any more.
    pub fn take_obsolete(&mut self) -> Vec<Obsolete> {
        std::mem::take(&mut self.obsolete)
    }

    /// The rows a run leaves behind when it ends now.
    #[must_use]
    pub fn remaining_rows(&self) -> Vec<Obsolete> {
        let deadline = self.facts.as_ref().and_then(|facts| facts.deadline);
        let deadline = deadline.map(|due| Obsolete::Timer(due, TimerPurpose::Deadline, None));
        let open = self
            .operations
            .iter()
            .flat_map(|(_, operation)| operation.rows());
        let again = self.backoff_until;
        let again = again.map(|due| Obsolete::Timer(due, TimerPurpose::ExecutionRetry, None));
        let own = deadline.into_iter().chain(again);
        open.chain(own).chain(self.undo_timers()).collect()
    }
}
