//! How a run begins, rests and ends.

use everstep_model::record::{
    Cancelled, Completed, Created, DeadlinePassed, Diverged, ExecutionRetried, Failed, Paused,
    Resumed, RollbackFailed, Terminated,
};

use super::phrase::{Abandoned, After, RolledBack};
use super::{Lasted, Tell};
use crate::phrase::{Because, By};

impl Tell for Created {
    fn tell(&self, _: Lasted) -> String {
        let (workflow, version) = (&self.workflow, self.version);
        let created = format!("Run of workflow `{workflow}` (version {version}) created");
        match &self.parent {
            Some(parent) => format!("{created} by run `{}` in `{}`", parent.run, parent.location),
            None => created,
        }
    }
}

impl Tell for Completed {
    fn tell(&self, lasted: Lasted) -> String {
        let (after, abandoned) = (After(lasted.whole), Abandoned(&self.abandoned));
        format!("Run completed{after}{abandoned}")
    }
}

impl Tell for Failed {
    fn tell(&self, lasted: Lasted) -> String {
        let (after, error) = (After(lasted.whole), &self.error);
        let rolled_back = RolledBack(self.rolled_back, lasted.rollback);
        let abandoned = Abandoned(&self.abandoned);
        format!("Run failed{after}: {error}{rolled_back}{abandoned}")
    }
}

impl Tell for RollbackFailed {
    fn tell(&self, lasted: Lasted) -> String {
        let (after, error) = (After(lasted.whole), &self.error);
        let (rollback, why) = (After(lasted.rollback), &self.rollback_error);
        format!("Run failed{after}: {error}; its rollback failed{rollback}: {why}")
    }
}

impl Tell for Cancelled {
    fn tell(&self, lasted: Lasted) -> String {
        let (after, reason) = (After(lasted.whole), Because(&self.reason));
        let rolled_back = RolledBack(self.rolled_back, lasted.rollback);
        let abandoned = Abandoned(&self.abandoned);
        format!("Run cancelled{after}{reason}{rolled_back}{abandoned}")
    }
}

impl Tell for Terminated {
    fn tell(&self, lasted: Lasted) -> String {
        let (by, after, reason) = (By(&self.by), After(lasted.whole), Because(&self.reason));
        let abandoned = Abandoned(&self.abandoned);
        format!("Run terminated{by}{after}{reason}{abandoned}")
    }
}

impl Tell for DeadlinePassed {
    fn tell(&self, _: Lasted) -> String {
        format!("Run passed its deadline, {}", self.deadline)
    }
}

impl Tell for Paused {
    fn tell(&self, _: Lasted) -> String {
        format!("Run paused{}", Because(&self.reason))
    }
}

impl Tell for Resumed {
    fn tell(&self, lasted: Lasted) -> String {
        format!("Run resumed{}", After(lasted.whole))
    }
}

impl Tell for Diverged {
    fn tell(&self, _: Lasted) -> String {
        let place = match &self.location {
            Some(location) => format!(" in `{location}`"),
            None => String::new(),
        };
        let error = &self.error;
        format!("Run parked{place}, because its code no longer fits its journal: {error}")
    }
}

impl Tell for ExecutionRetried {
    fn tell(&self, lasted: Lasted) -> String {
        let (after, attempt, error) = (After(lasted.whole), self.attempt, &self.error);
        let next = self.retry_at;
        format!("Workflow failed{after} (attempt {attempt}): {error}; it runs again at {next}")
    }
}
