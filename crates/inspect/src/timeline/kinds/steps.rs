//! Steps and undos. An undo record may be about a step or a child.

use everstep_model::record::{
    FailureOutcome, NoReturn, StepAbandoned, StepCompleted, StepFailed, StepStarted, UndoCompleted,
    UndoFailed, UndoSkipped, UndoStarted,
};

use super::{Describe, Description, Elapsed, Outcome};

impl Describe for StepStarted {
    fn describe(&self, _: Elapsed) -> Description<'_> {
        let (step, attempt) = (&self.location, self.attempt);
        let sentence = format!("Step `{step}` started (attempt {attempt})");
        Description::new(sentence).attempt(attempt)
    }
}

impl Describe for StepCompleted {
    fn describe(&self, elapsed: Elapsed) -> Description<'_> {
        let (step, took, attempt) = (&self.location, elapsed.took(), self.attempt);
        let passed = match self.no_return {
            true => ", and passed the point of no return",
            false => "",
        };
        let sentence = format!("Step `{step}` completed{took} (attempt {attempt}){passed}");
        let description = Description::new(sentence).outcome(Outcome::Ok);
        description.attempt(attempt).payload(&self.result)
    }
}

impl Describe for StepFailed {
    fn describe(&self, elapsed: Elapsed) -> Description<'_> {
        let (step, after, attempt) = (&self.location, elapsed.after(), self.attempt);
        let last = "not tried again";
        let (failed, outcome, then) = match self.outcome {
            FailureOutcome::Retrying => ("failed", Outcome::Retrying, ""),
            FailureOutcome::Exhausted => ("failed", Outcome::Failed, "no attempts are left"),
            FailureOutcome::Fatal => ("failed", Outcome::Failed, last),
            FailureOutcome::RollBack => ("failed", Outcome::Failed, "it requests a rollback"),
            FailureOutcome::TimedOut => ("timed out", Outcome::TimedOut, last),
            FailureOutcome::Cancelled => ("was cancelled", Outcome::Cancelled, last),
        };
        let then = match (self.outcome, self.retry_at) {
            (FailureOutcome::Retrying, Some(next)) => format!("next attempt at {next}"),
            (FailureOutcome::Retrying, None) => "next attempt at once".to_owned(),
            _ => then.to_owned(),
        };
        let error = &self.error;
        let sentence =
            format!("Step `{step}` {failed}{after} (attempt {attempt}): {error}; {then}");
        let description = Description::new(sentence).outcome(outcome);
        description.attempt(attempt).error(error)
    }
}

impl Describe for StepAbandoned {
    fn describe(&self, elapsed: Elapsed) -> Description<'_> {
        let sentence = format!("Step `{}` abandoned{}", self.location, elapsed.after());
        Description::new(sentence).outcome(Outcome::Abandoned)
    }
}

impl Describe for NoReturn {
    fn describe(&self, _: Elapsed) -> Description<'_> {
        Description::new(format!("Point of no return `{}` passed", self.location))
    }
}

impl Describe for UndoStarted {
    fn describe(&self, _: Elapsed) -> Description<'_> {
        let (at, attempt) = (&self.location, self.attempt);
        let sentence = format!("Undo of `{at}` started (attempt {attempt})");
        Description::new(sentence).attempt(attempt)
    }
}

impl Describe for UndoCompleted {
    fn describe(&self, elapsed: Elapsed) -> Description<'_> {
        let (at, took, attempt) = (&self.location, elapsed.took(), self.attempt);
        let sentence = format!("Undo of `{at}` completed{took} (attempt {attempt})");
        Description::new(sentence)
            .outcome(Outcome::Undone)
            .attempt(attempt)
    }
}

impl Describe for UndoFailed {
    fn describe(&self, elapsed: Elapsed) -> Description<'_> {
        let (at, after, attempt) = (&self.location, elapsed.after(), self.attempt);
        let (outcome, then) = match self.retry_at {
            Some(next) => (Outcome::Retrying, format!("next attempt at {next}")),
            None => (Outcome::Failed, "no attempts are left".to_owned()),
        };
        let error = &self.error;
        let sentence = format!("Undo of `{at}` failed{after} (attempt {attempt}): {error}; {then}");
        let description = Description::new(sentence).outcome(outcome);
        description.attempt(attempt).error(error)
    }
}

impl Describe for UndoSkipped {
    fn describe(&self, _: Elapsed) -> Description<'_> {
        let at = &self.location;
        let sentence = format!("Undo of `{at}` skipped, because the point of no return was passed");
        Description::new(sentence).outcome(Outcome::Skipped)
    }
}
