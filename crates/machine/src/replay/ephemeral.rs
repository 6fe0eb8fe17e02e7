//! Ephemeral steps: their results take effect at once and become durable with the next commit.
//!
//! Such a record stands further down the journal than it took effect, so it says where that was: how much was folded then.
//! Hot, a result is applied where the fold stands; cold, where the fold stood.

use everstep_model::record::StepCompleted;
use everstep_model::{Body, Location, Payload, RecordNumber};

use super::Replay;
use super::control::cancelled;
use super::operation::Resolution;

/// A result that takes effect where the fold stands at `folded`.
#[derive(Debug)]
pub(super) struct Early {
    folded: RecordNumber,
    location: Location,
    result: Payload,
}

impl Replay {
    /// A result of this execution takes effect before it is durable.
    pub(super) fn resolve_early(&mut self, completed: &StepCompleted) {
        if let Some(folded) = completed.folded {
            self.early.push_back(Early {
                folded,
                location: completed.location.clone(),
                result: completed.result.clone(),
            });
        }
    }

    /// A result of an earlier execution took effect before it was durable. One of this execution has taken effect by now, and
    /// its operation is closed.
    pub(super) fn note_early(&mut self, body: &Body) {
        if let Body::StepCompleted(completed) = body {
            self.resolve_early(completed);
        }
    }

    /// Whether a result is to take effect before anything else is folded.
    pub(super) fn has_early(&self) -> bool {
        let is_open = |early: &Early| self.operations.at(&early.location).is_some();
        let due = self.early.iter().take_while(|early| self.is_due(early));
        due.into_iter().any(is_open)
    }

    /// Lets the next result take effect, if it does so here.
    pub(super) fn apply_early(&mut self) -> bool {
        while self.early.front().is_some_and(|early| self.is_due(early)) {
            let Some(early) = self.early.pop_front() else {
                return false;
            };
            let Some((op, _)) = self.operations.step_at_mut(&early.location) else {
                continue;
            };
            let resolution = match self.cancel {
                None => Resolution::Completed(early.result),
                Some(_) => Resolution::Refused(cancelled()),
            };
            self.pending.push_back((op, resolution));
            return true;
        }
        false
    }

    fn is_due(&self, early: &Early) -> bool {
        let next = self.unfolded.front().map(|entry| entry.number);
        next.is_none_or(|next| next >= early.folded)
    }
}
