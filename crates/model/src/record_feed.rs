//! Feeds: streams of the records of all runs, or of some kinds of them.

use crate::record::Body;

crate::words! {
    /// A stream that receives the records of all runs, in the order of each journal.
    pub enum RecordFeed {
        /// All records, for mirrors and audits.
        Records = "records",
        /// Failed attempts of steps and undos, and failed runs.
        Failures = "failures",
        /// What workflows emit.
        Emits = "emits",
    }
}

impl RecordFeed {
    /// Returns whether the feed contains records like this one.
    #[must_use]
    pub fn selects(self, body: &Body) -> bool {
        match self {
            Self::Records => true,
            Self::Failures => matches!(
                body,
                Body::StepFailed(_)
                    | Body::UndoFailed(_)
                    | Body::Failed(_)
                    | Body::RollbackFailed(_)
            ),
            Self::Emits => matches!(body, Body::Emitted(_)),
        }
    }
}
