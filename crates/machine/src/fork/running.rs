//! Steps with an attempt in flight, which a copy must not cut off.

use std::collections::BTreeMap;

use everstep_model::record::{FailureOutcome, TimerPurpose};
use everstep_model::{Body, Entry, Location, Timestamp};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Attempt {
    Running,
    /// Waits for its next attempt, which begins at this time.
    Retrying(Option<Timestamp>),
}

/// The steps of a run that has not ended whose latest attempt has begun, or is due, and has no
/// result.
pub(super) struct RunningSteps<'a>(BTreeMap<&'a Location, Attempt>);

impl<'a> RunningSteps<'a> {
    pub(super) fn of(journal: &'a [Entry]) -> Self {
        let mut steps = Self(BTreeMap::new());
        for entry in journal {
            if entry.record.body.terminal().is_some() {
                return Self(BTreeMap::new());
            }
            steps.fold(&entry.record.body);
        }
        steps
    }

    pub(super) fn contains(&self, step: &Location) -> bool {
        self.0.get(step) == Some(&Attempt::Running)
    }

    fn fold(&mut self, body: &'a Body) {
        match body {
            Body::StepStarted(record) => {
                self.0.insert(&record.location, Attempt::Running);
            }
            Body::StepFailed(record) if record.outcome == FailureOutcome::Retrying => {
                self.0
                    .insert(&record.location, Attempt::Retrying(record.retry_at));
            }
            Body::TimerFired(record) if record.purpose == TimerPurpose::Retry => {
                let step = record.location.as_ref().and_then(|at| self.0.get_mut(at));
                if let Some(attempt) = step
                    && let Attempt::Retrying(retry_at) = *attempt
                    && retry_at.is_none_or(|retry_at| retry_at <= record.due)
                {
                    *attempt = Attempt::Running;
                }
            }
            Body::StepCompleted(_)
            | Body::StepFailed(_)
            | Body::StepAbandoned(_)
            | Body::StepSkipped(_)
            | Body::StepEdited(_)
            | Body::ForcedFailure(_)
            | Body::UndoCompleted(_) => {
                if let Some(location) = body.location() {
                    self.0.remove(location);
                }
            }
            _ => {}
        }
    }
}
