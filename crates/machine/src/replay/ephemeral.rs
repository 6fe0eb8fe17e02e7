//! Ephemeral steps: their results take effect at once and become durable with the next commit.
//!
//! Such a record stands further down the journal than it took effect, so it says at which moment that was.
//! Hot, a result is applied where the fold stands; cold, where the fold stood.

use everstep_model::record::{StepCompleted, TookEffect};
use everstep_model::{Body, Location, Payload};

use super::Replay;
use super::control::refused;
use super::operation::Resolution;
use crate::moment::Moment;

/// A result, and where it takes effect.
#[derive(Debug)]
pub(super) struct Early {
    at: TookEffect,
    location: Location,
    result: Payload,
}

impl Replay {
    /// A result of this execution takes effect before it is durable.
    pub(super) fn resolve_early(&mut self, completed: &StepCompleted) {
        if let Some(at) = &completed.early {
            self.early.push_back(Early {
                at: **at,
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

    /// Where the next result takes effect.
    pub(super) fn early_at(&self) -> Option<Moment> {
        let next = self.early.front();
        next.map(|early| Moment::of_result(&early.at))
    }

    /// Whether a result is to take effect before anything else is folded.
    pub(super) fn has_early(&self) -> bool {
        let ahead = self.unfolded.front().map(|entry| entry.number);
        let is_due = |early: &&Early| ahead.is_none_or(|ahead| early.at.folded <= ahead);
        let is_open = |early: &Early| self.operations.at(&early.location).is_some();
        self.early.iter().take_while(is_due).any(is_open)
    }

    /// Lets the next result take effect, if it does so where the fold stands. One whose step is not open never will be: the code
    /// had dropped it.
    pub(super) fn apply_early(&mut self) -> bool {
        while self.early_at().is_some_and(|at| at <= self.here) {
            let Some(early) = self.early.pop_front() else {
                return false;
            };
            let Some((op, _)) = self.operations.step_at_mut(&early.location) else {
                continue;
            };
            self.now = self.now.max(early.at.now);
            let resolution = match self.cancel {
                None => Resolution::Completed(early.result),
                Some(_) => refused(),
            };
            self.pending.push_back((op, resolution));
            return true;
        }
        false
    }
}
