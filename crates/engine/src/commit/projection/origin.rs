//! The origin of a run, from its first record.

use everstep_model::{Body, Entry, Link, Seed, TraceParent};

#[derive(Clone, Debug, Default)]
pub(crate) struct Origin {
    /// Distinguishes the run from other runs that have had the same id.
    pub(crate) identity: Option<Seed>,
    /// The operation of the parent run that waits for it.
    pub(crate) parent: Option<Link>,
    /// The trace context of its start.
    pub(crate) trace: Option<TraceParent>,
}

impl Origin {
    /// Reads the origin from a journal, or from a journal's first record.
    pub(crate) fn of(journal: &[Entry]) -> Self {
        match journal.first().map(|first| &first.record.body) {
            Some(Body::Created(created)) => Self {
                identity: Some(created.identity()),
                parent: created.parent_link(),
                trace: created.trace,
            },
            _ => Self::default(),
        }
    }
}
