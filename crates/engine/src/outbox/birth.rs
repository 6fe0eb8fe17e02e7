//! What the first record of a run says about where it comes from.

use everstep_model::{Body, Entry, Link, Seed, TraceParent};

/// Where a run comes from.
#[derive(Clone, Debug, Default)]
pub(crate) struct Birth {
    /// What tells it from others of its id.
    pub(crate) identity: Option<Seed>,
    /// Who waits for it.
    pub(crate) parent: Option<Link>,
    /// The place in a trace from which it was started.
    pub(crate) trace: Option<TraceParent>,
}

impl Birth {
    /// That of the run with this journal, or with one that begins like this.
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
