//! Moments: where in a journal something takes effect that becomes durable later.
//!
//! An iteration begins, and the result of an ephemeral step counts, before its own record is durable. So the record says
//! when that was: how much of the journal was folded. A copy leaves records out, and moments that lay between them come
//! to stand at one place of it; they are told apart by a number, so that the copy passes through them in the same order.

use everstep_model::record::{LoopAdvanced, TookEffect};
use everstep_model::{Body, RecordNumber};

/// Where a fold stands, or stood when something took effect. Later ones are greater.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Moment {
    /// Everything before this record is folded.
    pub(crate) folded: RecordNumber,
    /// Which of the moments at that place it is. Only copies have others than 0.
    pub(crate) number: u32,
}

impl Moment {
    /// When the iteration began that a record tells of.
    pub(crate) fn of_iteration(record: &LoopAdvanced) -> Self {
        Self {
            folded: record.folded,
            number: record.moment,
        }
    }

    /// When a result took effect.
    pub(crate) fn of_result(effect: &TookEffect) -> Self {
        Self {
            folded: effect.folded,
            number: effect.moment,
        }
    }

    /// When that took effect which a record tells of, if it was before the record was durable.
    pub(crate) fn before(body: &Body) -> Option<Self> {
        match body {
            Body::LoopAdvanced(record) => Some(Self::of_iteration(record)),
            Body::StepCompleted(record) => record.early.as_deref().map(Self::of_result),
            _ => None,
        }
    }
}
