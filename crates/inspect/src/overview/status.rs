//! What the records together say a run is doing.

use everstep_model::{Location, RunStatus};

use super::operations::Kind;
use super::{EndingView, Overview, PauseView, StepView};

impl Overview {
    /// What the run is doing, the most telling first: how it ended, what holds all of it, what it rests on.
    ///
    /// A run that rests has told the journal what on, so no record is needed for the suspension itself.
    #[must_use]
    pub fn status(&self) -> RunStatus {
        if let Some(end) = self.end {
            return end;
        }
        if self.diverged.is_some() {
            return RunStatus::Diverged;
        }
        match &self.pause {
            Some(PauseView::Paused { .. }) => return RunStatus::Paused,
            Some(PauseView::Requested(_)) => return RunStatus::Pausing,
            None => {}
        }
        // A cancelled run may roll back, and a request during a rollback changes nothing.
        if self.rollback.is_some() {
            return RunStatus::RollingBack;
        }
        if matches!(self.ending, Some(EndingView::Cancel(_))) {
            return RunStatus::Cancelling;
        }
        if !self.executed {
            return RunStatus::Queued;
        }
        self.resting_on().unwrap_or(RunStatus::Running)
    }

    /// What an executed run waits for; none if it has something to do.
    fn resting_on(&self) -> Option<RunStatus> {
        if self.ending.is_some() {
            return None;
        }
        // Between two attempts of the function nothing else moves the run.
        if self.execution_retry.is_some() {
            return Some(RunStatus::Retrying);
        }
        if self.in_flight > 0 {
            return None;
        }
        if !(self.waits.is_empty() && self.rpcs.is_empty() && self.children.is_empty()) {
            return Some(RunStatus::Waiting);
        }
        if self.in_backoff > 0 {
            return Some(RunStatus::Retrying);
        }
        (!self.sleeps.is_empty()).then_some(RunStatus::Sleeping)
    }

    /// The step at a place.
    #[must_use]
    pub fn step(&self, location: &Location) -> Option<&StepView> {
        match self.places.get(location)?.kind {
            Kind::Step { index, .. } => self.steps.get(index),
            Kind::Other => None,
        }
    }
}
