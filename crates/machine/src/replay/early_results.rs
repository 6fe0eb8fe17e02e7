//! Ephemeral steps: their results take effect at once and become durable with the next commit.
//!
//! The record of such a result follows later in the journal than the moment at which it took
//! effect, so it stores that moment. A hot run applies the result at its current position; a replay
//! applies it at the stored moment.

use std::collections::VecDeque;

use everstep_model::record::{StepCompleted, TookEffect};
use everstep_model::{Location, Payload};

use super::context::Context;
use super::operations::Resolution;
use crate::moment::Moment;

#[derive(Debug)]
struct EarlyResult {
    at: TookEffect,
    location: Location,
    result: Payload,
}

/// Results that take effect before their records are folded, in order.
#[derive(Debug, Default)]
pub(super) struct EarlyResults(VecDeque<EarlyResult>);

impl EarlyResults {
    /// Notes a result that this execution produced, or that the journal contains. A result that
    /// took effect already is ignored later, because its operation is closed.
    pub(super) fn note(&mut self, completed: &StepCompleted) {
        if let Some(at) = &completed.early {
            self.0.push_back(EarlyResult {
                at: **at,
                location: completed.location.clone(),
                result: completed.result.clone(),
            });
        }
    }

    /// Returns when the next result takes effect.
    #[inline]
    pub(super) fn next(&self) -> Option<Moment> {
        let next = self.0.front();
        next.map(|early| Moment::of_result(&early.at))
    }

    /// Returns whether a result takes effect before the next record is folded.
    pub(super) fn has_due(&self, cx: &Context) -> bool {
        let next = cx.position.next_number();
        let is_due = |early: &&EarlyResult| next.is_none_or(|next| early.at.folded <= next);
        let is_open = |early: &EarlyResult| cx.operations.at(&early.location).is_some();
        self.0.iter().take_while(is_due).any(is_open)
    }

    /// Applies the next result if it takes effect here. Results of steps that are not open are
    /// dropped: the code abandoned those steps.
    #[inline]
    pub(super) fn apply(&mut self, cx: &mut Context) -> bool {
        !self.0.is_empty() && self.apply_next(cx)
    }

    fn apply_next(&mut self, cx: &mut Context) -> bool {
        while self.next().is_some_and(|at| at <= cx.position.here) {
            let Some(early) = self.0.pop_front() else {
                return false;
            };
            let Some((op, _)) = cx.operations.step_at_mut(&early.location) else {
                continue;
            };
            cx.position.advance_time(early.at.now);
            let result = || Resolution::Completed(early.result);
            let resolution = cx.state.unless_cancelled(result);
            cx.operations.resolve(op, resolution);
            return true;
        }
        false
    }
}
