//! Requests of operators.

use everstep_model::record::{
    CancelRequested, ForcedFailure, PauseRequested, ResumeRequested, StepEdited, StepSkipped,
};

use super::{Describe, Description, Elapsed, Outcome};
use crate::phrase::{because, by};

impl Describe for PauseRequested {
    fn describe(&self, _: Elapsed) -> Description<'_> {
        let sentence = format!("Pause requested{}{}", by(&self.by), because(&self.reason));
        Description::new(sentence).by(&self.by)
    }
}

impl Describe for ResumeRequested {
    fn describe(&self, elapsed: Elapsed) -> Description<'_> {
        let sentence = format!("Resume requested{}{}", by(&self.by), elapsed.after());
        Description::new(sentence).by(&self.by)
    }
}

impl Describe for CancelRequested {
    fn describe(&self, _: Elapsed) -> Description<'_> {
        let how = if self.rollback { "with" } else { "without" };
        let (by, reason) = (by(&self.by), because(&self.reason));
        let sentence = format!("Cancellation {how} rollback requested{by}{reason}");
        Description::new(sentence).by(&self.by)
    }
}

impl Describe for StepSkipped {
    fn describe(&self, elapsed: Elapsed) -> Description<'_> {
        let (step, by, after) = (&self.location, by(&self.by), elapsed.after());
        let sentence = format!("Step `{step}` skipped{by}{after}");
        let description = Description::new(sentence).outcome(Outcome::Skipped);
        description.by(&self.by).payload(&self.result)
    }
}

impl Describe for StepEdited {
    fn describe(&self, elapsed: Elapsed) -> Description<'_> {
        let (step, by, after) = (&self.location, by(&self.by), elapsed.after());
        let sentence = format!("Step `{step}` given its result{by}{after}");
        let description = Description::new(sentence).outcome(Outcome::Ok);
        description.by(&self.by).payload(&self.result)
    }
}

impl Describe for ForcedFailure {
    fn describe(&self, elapsed: Elapsed) -> Description<'_> {
        let (by, after, error) = (by(&self.by), elapsed.after(), &self.error);
        let subject = match &self.location {
            Some(location) => format!("`{location}`"),
            None => "Run".to_owned(),
        };
        let sentence = format!("{subject} forced to fail{by}{after}: {error}");
        let description = Description::new(sentence).outcome(Outcome::Failed);
        description.by(&self.by).error(error)
    }
}
