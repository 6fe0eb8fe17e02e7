//! Creation, pauses and ends of a run.

use everstep_model::record::{
    Cancelled, Completed, Created, DeadlinePassed, Diverged, ExecutionRetried, Failed, Paused,
    Resumed, RollbackFailed, Terminated,
};

use super::super::describe::Describe;
use super::super::details::Details;
use super::super::elapsed::Elapsed;
use super::super::line::Outcome;
use super::phrase::{Abandoned, After, RolledBack};
use crate::phrase::{Because, By};

impl Describe for Created {
    fn sentence(&self, _: Elapsed) -> String {
        let (workflow, version) = (&self.workflow, self.version);
        let created = format!("Run of workflow `{workflow}` (version {version}) created");
        match &self.parent {
            Some(parent) => format!("{created} by run `{}` in `{}`", parent.run, parent.location),
            None => created,
        }
    }

    fn details(&self) -> Details<'_> {
        Details::default().payload(&self.input)
    }
}

impl Describe for Completed {
    fn sentence(&self, elapsed: Elapsed) -> String {
        let (after, abandoned) = (After(elapsed.whole), Abandoned(&self.abandoned));
        format!("Run completed{after}{abandoned}")
    }

    fn details(&self) -> Details<'_> {
        Details::default()
            .outcome(Outcome::Ok)
            .payload(&self.result)
    }
}

impl Describe for Failed {
    fn sentence(&self, elapsed: Elapsed) -> String {
        let (after, error) = (After(elapsed.whole), &self.error);
        let rolled_back = RolledBack(self.rolled_back, elapsed.rollback);
        let abandoned = Abandoned(&self.abandoned);
        format!("Run failed{after}: {error}{rolled_back}{abandoned}")
    }

    fn details(&self) -> Details<'_> {
        Details::default()
            .outcome(Outcome::Failed)
            .error(&self.error)
    }
}

impl Describe for RollbackFailed {
    fn sentence(&self, elapsed: Elapsed) -> String {
        let (after, error) = (After(elapsed.whole), &self.error);
        let (rollback, why) = (After(elapsed.rollback), &self.rollback_error);
        format!("Run failed{after}: {error}; its rollback failed{rollback}: {why}")
    }

    fn details(&self) -> Details<'_> {
        Details::default()
            .outcome(Outcome::Failed)
            .error(&self.error)
    }
}

impl Describe for Cancelled {
    fn sentence(&self, elapsed: Elapsed) -> String {
        let (after, reason) = (After(elapsed.whole), Because(&self.reason));
        let rolled_back = RolledBack(self.rolled_back, elapsed.rollback);
        let abandoned = Abandoned(&self.abandoned);
        format!("Run cancelled{after}{reason}{rolled_back}{abandoned}")
    }

    fn details(&self) -> Details<'_> {
        Details::default().outcome(Outcome::Cancelled)
    }
}

impl Describe for Terminated {
    fn sentence(&self, elapsed: Elapsed) -> String {
        let (by, after, reason) = (By(&self.by), After(elapsed.whole), Because(&self.reason));
        let abandoned = Abandoned(&self.abandoned);
        format!("Run terminated{by}{after}{reason}{abandoned}")
    }

    fn details(&self) -> Details<'_> {
        Details::default().by(&self.by).outcome(Outcome::Terminated)
    }
}

impl Describe for DeadlinePassed {
    fn sentence(&self, _: Elapsed) -> String {
        format!("Run passed its deadline, {}", self.deadline)
    }

    fn details(&self) -> Details<'_> {
        Details::default().outcome(Outcome::TimedOut)
    }
}

impl Describe for Paused {
    fn sentence(&self, _: Elapsed) -> String {
        format!("Run paused{}", Because(&self.reason))
    }

    fn details(&self) -> Details<'_> {
        Details {
            error: self.reason.as_ref(),
            ..Details::default()
        }
    }
}

impl Describe for Resumed {
    fn sentence(&self, elapsed: Elapsed) -> String {
        format!("Run resumed{}", After(elapsed.whole))
    }
}

impl Describe for Diverged {
    fn sentence(&self, _: Elapsed) -> String {
        let place = match &self.location {
            Some(location) => format!(" in `{location}`"),
            None => String::new(),
        };
        let error = &self.error;
        format!("Run parked{place}, because its code no longer fits its journal: {error}")
    }

    fn details(&self) -> Details<'_> {
        Details::default().error(&self.error)
    }
}

impl Describe for ExecutionRetried {
    fn sentence(&self, elapsed: Elapsed) -> String {
        let (after, attempt, error) = (After(elapsed.whole), self.attempt, &self.error);
        let next = self.retry_at;
        format!("Workflow failed{after} (attempt {attempt}): {error}; it runs again at {next}")
    }

    fn details(&self) -> Details<'_> {
        Details::default()
            .outcome(Outcome::Retrying)
            .attempt(self.attempt)
            .error(&self.error)
    }
}
