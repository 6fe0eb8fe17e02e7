//! Moments: positions in a journal at which something took effect before its record was durable.
//!
//! An iteration begins, and the result of an ephemeral step counts, before the record is durable.
//! The record therefore stores how much of the journal was folded at that moment. A copy leaves
//! records out, so several moments of the original can share one position in the copy; a number
//! keeps their order.

use everstep_model::record::{LoopAdvanced, TookEffect};
use everstep_model::{Body, RecordNumber};

/// A position of the fold. Later moments are greater.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Moment {
    /// Everything before this record is folded.
    pub(crate) folded: RecordNumber,
    /// The order among moments at the same position. Only copies have numbers other than 0.
    pub(crate) number: u32,
}

impl Moment {
    pub(crate) fn of_iteration(record: &LoopAdvanced) -> Self {
        Self {
            folded: record.folded,
            number: record.moment,
        }
    }

    pub(crate) fn of_result(effect: &TookEffect) -> Self {
        Self {
            folded: effect.folded,
            number: effect.moment,
        }
    }

    /// Returns the moment that a record stores, if it took effect before it was durable.
    pub(crate) fn before(body: &Body) -> Option<Self> {
        match body {
            Body::LoopAdvanced(record) => Some(Self::of_iteration(record)),
            Body::StepCompleted(record) => record.early.as_deref().map(Self::of_result),
            _ => None,
        }
    }
}
