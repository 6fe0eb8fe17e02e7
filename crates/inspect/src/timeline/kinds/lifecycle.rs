//! Creation, pauses and ends of a run.

use everstep_model::Location;
use everstep_model::record::{
    Cancelled, Completed, Created, DeadlinePassed, Diverged, ExecutionRetried, Failed, Paused,
    Resumed, RollbackFailed, Terminated,
};

use super::{Describe, Description, Elapsed, Outcome};
use crate::phrase::{Count, Part, because, by, located, part};

impl Describe for Created {
    fn describe(&self, _: Elapsed) -> Description<'_> {
        let (workflow, version) = (&self.workflow, self.version);
        let mut sentence = format!("Run of workflow `{workflow}` (version {version}) created");
        if let Some(parent) = &self.parent {
            sentence.push_str(&format!(
                " by run `{}` in `{}`",
                parent.run, parent.location
            ));
        }
        Description::new(sentence).payload(&self.input)
    }
}

impl Describe for Completed {
    fn describe(&self, elapsed: Elapsed) -> Description<'_> {
        let (after, abandoned) = (elapsed.after(), steps_abandoned(&self.abandoned));
        let sentence = format!("Run completed{after}{abandoned}");
        let description = Description::new(sentence).outcome(Outcome::Ok);
        description.payload(&self.result)
    }
}

impl Describe for Failed {
    fn describe(&self, elapsed: Elapsed) -> Description<'_> {
        let (after, error) = (elapsed.after(), &self.error);
        let rolled_back = rolled_back(self.rolled_back, elapsed);
        let abandoned = steps_abandoned(&self.abandoned);
        let sentence = format!("Run failed{after}: {error}{rolled_back}{abandoned}");
        Description::new(sentence)
            .outcome(Outcome::Failed)
            .error(error)
    }
}

impl Describe for RollbackFailed {
    fn describe(&self, elapsed: Elapsed) -> Description<'_> {
        let (after, error) = (elapsed.after(), &self.error);
        let (rollback, why) = (elapsed.of_rollback().after(), &self.rollback_error);
        let sentence = format!("Run failed{after}: {error}; its rollback failed{rollback}: {why}");
        Description::new(sentence)
            .outcome(Outcome::Failed)
            .error(error)
    }
}

impl Describe for Cancelled {
    fn describe(&self, elapsed: Elapsed) -> Description<'_> {
        let (after, reason) = (elapsed.after(), because(&self.reason));
        let rolled_back = rolled_back(self.rolled_back, elapsed);
        let abandoned = steps_abandoned(&self.abandoned);
        let sentence = format!("Run cancelled{after}{reason}{rolled_back}{abandoned}");
        Description::new(sentence).outcome(Outcome::Cancelled)
    }
}

impl Describe for Terminated {
    fn describe(&self, elapsed: Elapsed) -> Description<'_> {
        let (by, after, reason) = (by(&self.by), elapsed.after(), because(&self.reason));
        let abandoned = steps_abandoned(&self.abandoned);
        let sentence = format!("Run terminated{by}{after}{reason}{abandoned}");
        let description = Description::new(sentence).outcome(Outcome::Terminated);
        description.by(&self.by)
    }
}

impl Describe for DeadlinePassed {
    fn describe(&self, _: Elapsed) -> Description<'_> {
        let sentence = format!("Run passed its deadline, {}", self.deadline);
        Description::new(sentence).outcome(Outcome::TimedOut)
    }
}

impl Describe for Paused {
    fn describe(&self, _: Elapsed) -> Description<'_> {
        Description {
            error: self.reason.as_ref(),
            ..Description::new(format!("Run paused{}", because(&self.reason)))
        }
    }
}

impl Describe for Resumed {
    fn describe(&self, elapsed: Elapsed) -> Description<'_> {
        Description::new(format!("Run resumed{}", elapsed.after()))
    }
}

impl Describe for Diverged {
    fn describe(&self, _: Elapsed) -> Description<'_> {
        let (at, error) = (located(" in `", self.location.as_ref()), &self.error);
        let why = "because its code no longer fits its journal";
        Description::new(format!("Run parked{at}, {why}: {error}")).error(error)
    }
}

impl Describe for ExecutionRetried {
    fn describe(&self, elapsed: Elapsed) -> Description<'_> {
        let (after, attempt, error) = (elapsed.after(), self.attempt, &self.error);
        let next = self.retry_at;
        let sentence =
            format!("Workflow failed{after} (attempt {attempt}): {error}; it runs again at {next}");
        let description = Description::new(sentence).outcome(Outcome::Retrying);
        description.attempt(attempt).error(error)
    }
}

/// `; 2 steps abandoned`
fn steps_abandoned(steps: &[Location]) -> Part<String> {
    let count = Some(steps.len() as u64).filter(|count| *count > 0);
    part(
        "; ",
        count.map(|count| format!("{} abandoned", Count(count, "step"))),
    )
}

/// `; rolled back in 3s`
fn rolled_back(is_rolled_back: bool, elapsed: Elapsed) -> Part<String> {
    let took = elapsed.of_rollback().took();
    part("; ", is_rolled_back.then(|| format!("rolled back{took}")))
}
