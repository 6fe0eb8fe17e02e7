//! What operators asked for.

use everstep_model::record::{
    CancelRequested, ForcedFailure, PauseRequested, ResumeRequested, StepEdited, StepSkipped,
};

use super::phrase::After;
use super::{Lasted, Tell};
use crate::phrase::{Because, By};

impl Tell for PauseRequested {
    fn tell(&self, _: Lasted) -> String {
        format!("Pause requested{}{}", By(&self.by), Because(&self.reason))
    }
}

impl Tell for ResumeRequested {
    fn tell(&self, lasted: Lasted) -> String {
        format!("Resume requested{}{}", By(&self.by), After(lasted.whole))
    }
}

impl Tell for CancelRequested {
    fn tell(&self, _: Lasted) -> String {
        let how = if self.rollback { "with" } else { "without" };
        let (by, reason) = (By(&self.by), Because(&self.reason));
        format!("Cancellation {how} rollback requested{by}{reason}")
    }
}

impl Tell for StepSkipped {
    fn tell(&self, lasted: Lasted) -> String {
        let (step, by, after) = (&self.location, By(&self.by), After(lasted.whole));
        format!("Step `{step}` skipped{by}{after}")
    }
}

impl Tell for StepEdited {
    fn tell(&self, lasted: Lasted) -> String {
        let (step, by, after) = (&self.location, By(&self.by), After(lasted.whole));
        format!("Step `{step}` given its result{by}{after}")
    }
}

impl Tell for ForcedFailure {
    fn tell(&self, lasted: Lasted) -> String {
        let (by, after, error) = (By(&self.by), After(lasted.whole), &self.error);
        match &self.location {
            Some(location) => format!("`{location}` forced to fail{by}{after}: {error}"),
            None => format!("Run forced to fail{by}{after}: {error}"),
        }
    }
}
