//! Requests of operators.

use everstep_model::record::{
    CancelRequested, ForcedFailure, PauseRequested, ResumeRequested, StepEdited, StepSkipped,
};

use super::super::describe::Describe;
use super::super::details::Details;
use super::super::elapsed::Elapsed;
use super::super::line::Outcome;
use super::phrase::After;
use crate::phrase::{Because, By};

impl Describe for PauseRequested {
    fn sentence(&self, _: Elapsed) -> String {
        format!("Pause requested{}{}", By(&self.by), Because(&self.reason))
    }

    fn details(&self) -> Details<'_> {
        Details::default().by(&self.by)
    }
}

impl Describe for ResumeRequested {
    fn sentence(&self, elapsed: Elapsed) -> String {
        format!("Resume requested{}{}", By(&self.by), After(elapsed.whole))
    }

    fn details(&self) -> Details<'_> {
        Details::default().by(&self.by)
    }
}

impl Describe for CancelRequested {
    fn sentence(&self, _: Elapsed) -> String {
        let how = if self.rollback { "with" } else { "without" };
        let (by, reason) = (By(&self.by), Because(&self.reason));
        format!("Cancellation {how} rollback requested{by}{reason}")
    }

    fn details(&self) -> Details<'_> {
        Details::default().by(&self.by)
    }
}

impl Describe for StepSkipped {
    fn sentence(&self, elapsed: Elapsed) -> String {
        let (step, by, after) = (&self.location, By(&self.by), After(elapsed.whole));
        format!("Step `{step}` skipped{by}{after}")
    }

    fn details(&self) -> Details<'_> {
        Details::default()
            .by(&self.by)
            .outcome(Outcome::Skipped)
            .payload(&self.result)
    }
}

impl Describe for StepEdited {
    fn sentence(&self, elapsed: Elapsed) -> String {
        let (step, by, after) = (&self.location, By(&self.by), After(elapsed.whole));
        format!("Step `{step}` given its result{by}{after}")
    }

    fn details(&self) -> Details<'_> {
        Details::default()
            .by(&self.by)
            .outcome(Outcome::Ok)
            .payload(&self.result)
    }
}

impl Describe for ForcedFailure {
    fn sentence(&self, elapsed: Elapsed) -> String {
        let (by, after, error) = (By(&self.by), After(elapsed.whole), &self.error);
        match &self.location {
            Some(location) => format!("`{location}` forced to fail{by}{after}: {error}"),
            None => format!("Run forced to fail{by}{after}: {error}"),
        }
    }

    fn details(&self) -> Details<'_> {
        Details::default()
            .by(&self.by)
            .outcome(Outcome::Failed)
            .error(&self.error)
    }
}
