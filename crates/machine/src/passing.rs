//! Which steps are passing the point of no return, according to the journal alone. Requests to end
//! the run wait for them.

use std::collections::BTreeMap;

use everstep_model::{Body, ErrorCode, Location};

/// The open no-return steps of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PassingSteps(BTreeMap<Location, Attempts>);

/// The highest attempt that has begun, and the highest one whose outcome is known.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Attempts {
    begun: u32,
    ended: u32,
}

impl PassingSteps {
    /// Returns whether an attempt of a no-return step has started and its outcome is unknown.
    #[must_use]
    pub fn is_any(&self) -> bool {
        self.0.values().any(|step| step.begun > step.ended)
    }

    /// Takes in the next record. Most kinds change nothing here.
    pub fn fold(&mut self, body: &Body) {
        match body {
            Body::StepStarted(record) => {
                if record.options.is_some_and(|options| options.no_return) {
                    let called = Attempts { begun: 0, ended: 0 };
                    self.0.insert(record.location.clone(), called);
                }
                if let Some(step) = self.0.get_mut(&record.location) {
                    step.begun = step.begun.max(record.attempt);
                }
            }
            Body::StepFailed(record) if record.retry_at.is_some() => {
                // An attempt that timed out may have had its effect; the next one finds out.
                if !record.error.is(ErrorCode::StepTimedOut)
                    && let Some(step) = self.0.get_mut(&record.location)
                {
                    step.ended = step.begun;
                }
            }
            Body::StepCompleted(_)
            | Body::StepFailed(_)
            | Body::StepSkipped(_)
            | Body::StepEdited(_)
            | Body::StepAbandoned(_)
            | Body::ForcedFailure(_) => {
                if let Some(location) = body.location() {
                    self.0.remove(location);
                }
            }
            Body::Removed(record) => {
                let removed = record.location.inner_scope();
                let is_gone =
                    |at: &Location| *at == record.location || at.scope.is_within(&removed);
                self.0.retain(|at, _| !is_gone(at));
            }
            // The next pass calls its steps again.
            Body::ExecutionRetried(_) => self.0.clear(),
            body if body.terminal().is_some() => self.0.clear(),
            _ => {}
        }
    }
}
