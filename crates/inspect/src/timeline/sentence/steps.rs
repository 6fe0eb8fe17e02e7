//! Steps, and undoing what is done, which the record of an undo does not say whether it was a step or a child.

use everstep_model::record::{
    FailureOutcome, NoReturn, StepAbandoned, StepCompleted, StepFailed, StepStarted, UndoCompleted,
    UndoFailed, UndoSkipped, UndoStarted,
};

use super::phrase::{After, In};
use super::{Lasted, Tell};

impl Tell for StepStarted {
    fn tell(&self, _: Lasted) -> String {
        format!(
            "Step `{}` started (attempt {})",
            self.location, self.attempt
        )
    }
}

impl Tell for StepCompleted {
    fn tell(&self, lasted: Lasted) -> String {
        let (step, took, attempt) = (&self.location, In(lasted.whole), self.attempt);
        format!("Step `{step}` completed{took} (attempt {attempt})")
    }
}

impl Tell for StepFailed {
    fn tell(&self, lasted: Lasted) -> String {
        let (step, after, attempt) = (&self.location, After(lasted.whole), self.attempt);
        let failed = match self.outcome {
            FailureOutcome::TimedOut => "timed out",
            FailureOutcome::Cancelled => "was cancelled",
            FailureOutcome::Retrying
            | FailureOutcome::Exhausted
            | FailureOutcome::Fatal
            | FailureOutcome::RollBack => "failed",
        };
        let then = match (self.outcome, self.retry_at) {
            (FailureOutcome::Retrying, Some(next)) => format!("next attempt at {next}"),
            (FailureOutcome::Retrying, None) => "next attempt at once".to_owned(),
            (FailureOutcome::Exhausted, _) => "no attempts are left".to_owned(),
            (FailureOutcome::Fatal | FailureOutcome::TimedOut | FailureOutcome::Cancelled, _) => {
                "not tried again".to_owned()
            }
            (FailureOutcome::RollBack, _) => "it asks to roll back".to_owned(),
        };
        let error = &self.error;
        format!("Step `{step}` {failed}{after} (attempt {attempt}): {error}; {then}")
    }
}

impl Tell for StepAbandoned {
    fn tell(&self, lasted: Lasted) -> String {
        format!("Step `{}` abandoned{}", self.location, After(lasted.whole))
    }
}

impl Tell for NoReturn {
    fn tell(&self, _: Lasted) -> String {
        format!("Point of no return `{}` passed", self.location)
    }
}

impl Tell for UndoStarted {
    fn tell(&self, _: Lasted) -> String {
        let (place, attempt) = (&self.location, self.attempt);
        format!("Undo of `{place}` started (attempt {attempt})")
    }
}

impl Tell for UndoCompleted {
    fn tell(&self, lasted: Lasted) -> String {
        let (place, took, attempt) = (&self.location, In(lasted.whole), self.attempt);
        format!("Undo of `{place}` completed{took} (attempt {attempt})")
    }
}

impl Tell for UndoFailed {
    fn tell(&self, lasted: Lasted) -> String {
        let (place, after, attempt) = (&self.location, After(lasted.whole), self.attempt);
        let then = match self.retry_at {
            Some(next) => format!("next attempt at {next}"),
            None => "no attempts are left".to_owned(),
        };
        let error = &self.error;
        format!("Undo of `{place}` failed{after} (attempt {attempt}): {error}; {then}")
    }
}

impl Tell for UndoSkipped {
    fn tell(&self, _: Lasted) -> String {
        let place = &self.location;
        format!("Undo of `{place}` skipped, because the point of no return was passed")
    }
}
