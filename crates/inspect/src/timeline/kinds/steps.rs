//! Steps and undos. An undo record may be about a step or a child.

use everstep_model::record::{
    FailureOutcome, NoReturn, StepAbandoned, StepCompleted, StepFailed, StepStarted, UndoCompleted,
    UndoFailed, UndoSkipped, UndoStarted,
};

use super::super::describe::Describe;
use super::super::details::Details;
use super::super::elapsed::Elapsed;
use super::super::line::Outcome;
use super::phrase::{After, In};

impl Describe for StepStarted {
    fn sentence(&self, _: Elapsed) -> String {
        format!(
            "Step `{}` started (attempt {})",
            self.location, self.attempt
        )
    }

    fn details(&self) -> Details<'_> {
        Details::default().attempt(self.attempt)
    }
}

impl Describe for StepCompleted {
    fn sentence(&self, elapsed: Elapsed) -> String {
        let (step, took, attempt) = (&self.location, In(elapsed.whole), self.attempt);
        format!("Step `{step}` completed{took} (attempt {attempt})")
    }

    fn details(&self) -> Details<'_> {
        Details::default()
            .outcome(Outcome::Ok)
            .attempt(self.attempt)
            .payload(&self.result)
    }
}

impl Describe for StepFailed {
    fn sentence(&self, elapsed: Elapsed) -> String {
        let (step, after, attempt) = (&self.location, After(elapsed.whole), self.attempt);
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

    fn details(&self) -> Details<'_> {
        let outcome = match self.outcome {
            FailureOutcome::Retrying => Outcome::Retrying,
            FailureOutcome::Exhausted | FailureOutcome::Fatal | FailureOutcome::RollBack => {
                Outcome::Failed
            }
            FailureOutcome::TimedOut => Outcome::TimedOut,
            FailureOutcome::Cancelled => Outcome::Cancelled,
        };
        Details::default()
            .outcome(outcome)
            .attempt(self.attempt)
            .error(&self.error)
    }
}

impl Describe for StepAbandoned {
    fn sentence(&self, elapsed: Elapsed) -> String {
        format!("Step `{}` abandoned{}", self.location, After(elapsed.whole))
    }

    fn details(&self) -> Details<'_> {
        Details::default().outcome(Outcome::Abandoned)
    }
}

impl Describe for NoReturn {
    fn sentence(&self, _: Elapsed) -> String {
        format!("Point of no return `{}` passed", self.location)
    }
}

impl Describe for UndoStarted {
    fn sentence(&self, _: Elapsed) -> String {
        let (place, attempt) = (&self.location, self.attempt);
        format!("Undo of `{place}` started (attempt {attempt})")
    }

    fn details(&self) -> Details<'_> {
        Details::default().attempt(self.attempt)
    }
}

impl Describe for UndoCompleted {
    fn sentence(&self, elapsed: Elapsed) -> String {
        let (place, took, attempt) = (&self.location, In(elapsed.whole), self.attempt);
        format!("Undo of `{place}` completed{took} (attempt {attempt})")
    }

    fn details(&self) -> Details<'_> {
        Details::default()
            .outcome(Outcome::Undone)
            .attempt(self.attempt)
    }
}

impl Describe for UndoFailed {
    fn sentence(&self, elapsed: Elapsed) -> String {
        let (place, after, attempt) = (&self.location, After(elapsed.whole), self.attempt);
        let then = match self.retry_at {
            Some(next) => format!("next attempt at {next}"),
            None => "no attempts are left".to_owned(),
        };
        let error = &self.error;
        format!("Undo of `{place}` failed{after} (attempt {attempt}): {error}; {then}")
    }

    fn details(&self) -> Details<'_> {
        let outcome = self.retry_at.map_or(Outcome::Failed, |_| Outcome::Retrying);
        Details::default()
            .outcome(outcome)
            .attempt(self.attempt)
            .error(&self.error)
    }
}

impl Describe for UndoSkipped {
    fn sentence(&self, _: Elapsed) -> String {
        let place = &self.location;
        format!("Undo of `{place}` skipped, because the point of no return was passed")
    }

    fn details(&self) -> Details<'_> {
        Details::default().outcome(Outcome::Skipped)
    }
}
