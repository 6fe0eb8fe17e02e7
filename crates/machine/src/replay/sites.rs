//! Where in the source the code called what, for reports of hidden nondeterminism.

use everstep_model::RecordNumber;

use super::Replay;
use super::divergence::CallSite;

impl Replay {
    /// Where the code called the n-th of those operations that are not in the journal yet.
    #[must_use]
    pub fn unrecorded_site(&self, n: usize) -> Option<CallSite> {
        self.script.unrecorded_site(n)
    }

    /// Where the code called the first operation that is not in the journal yet.
    #[must_use]
    pub fn first_unrecorded_site(&self) -> Option<CallSite> {
        self.unrecorded_site(0)
    }

    /// Remembers where the code called what, for reports of hidden nondeterminism.
    pub fn keep_call_sites(&mut self) {
        self.script.keep_sites();
    }

    /// Where the code called what a record of the script says, if that was in this execution.
    #[must_use]
    pub fn site_of(&self, number: RecordNumber) -> Option<CallSite> {
        self.script.site_of(number)
    }
}
