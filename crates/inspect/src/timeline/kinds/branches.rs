//! Branches, loops, switches and version gates.

use everstep_model::RecordRange;
use everstep_model::record::{
    BranchCompleted, BranchFailed, BranchesKind, BranchesStarted, LoopAdvanced, RaceWon, Removed,
    SwitchChosen, VersionChosen,
};

use super::{Describe, Description, Elapsed, Outcome};
use crate::phrase::{Count, Listed};

impl Describe for BranchesStarted {
    fn describe(&self, _: Elapsed) -> Description<'_> {
        let kind = match self.kind {
            BranchesKind::Join => "Join",
            BranchesKind::Race => "Race",
        };
        let (at, branches) = (&self.location, Listed(&self.branches, ", "));
        Description::new(if self.branches.is_empty() {
            format!("{kind} `{at}` began without branches")
        } else {
            format!("{kind} `{at}` began with branches {branches}")
        })
    }
}

impl Describe for BranchCompleted {
    fn describe(&self, elapsed: Elapsed) -> Description<'_> {
        let (at, branch, after) = (&self.location, &self.branch, elapsed.after());
        let sentence = format!("Branch `{branch}` of `{at}` completed{after}");
        Description::new(sentence).outcome(Outcome::Ok)
    }
}

impl Describe for BranchFailed {
    fn describe(&self, elapsed: Elapsed) -> Description<'_> {
        let (at, branch, after) = (&self.location, &self.branch, elapsed.after());
        let sentence = format!("Branch `{branch}` of `{at}` failed{after}: {}", self.error);
        let description = Description::new(sentence).outcome(Outcome::Failed);
        description.error(&self.error)
    }
}

impl Describe for RaceWon {
    fn describe(&self, elapsed: Elapsed) -> Description<'_> {
        let (at, winner, after) = (&self.location, &self.winner, elapsed.after());
        let sentence = format!("Race `{at}` won by branch `{winner}`{after}");
        Description::new(sentence).outcome(Outcome::Ok)
    }
}

impl Describe for LoopAdvanced {
    fn describe(&self, elapsed: Elapsed) -> Description<'_> {
        let (at, took, iteration) = (&self.location, elapsed.took(), self.iteration);
        let mut sentence = match (self.done, iteration.checked_sub(1)) {
            (true, _) => format!("Loop `{at}` ended with iteration {iteration}{took}"),
            (false, Some(ended)) => format!("Loop `{at}` finished iteration {ended}{took}"),
            (false, None) => format!("Loop `{at}` reached iteration {iteration}"),
        };
        let size = |range: &RecordRange| {
            let between = range.last.0.saturating_sub(range.first.0);
            between.saturating_add(1)
        };
        let dropped = self.dropped.iter().map(size).fold(0, u64::saturating_add);
        if dropped > 0 {
            sentence.push_str(&format!(", and dropped {}", Count(dropped, "old record")));
        }
        let description = Description::new(sentence).outcome(Outcome::Ok);
        description.payload(&self.state)
    }
}

impl Describe for SwitchChosen {
    fn describe(&self, _: Elapsed) -> Description<'_> {
        let (at, branch) = (&self.location, &self.branch);
        Description::new(format!("Switch `{at}` chose branch `{branch}`"))
    }
}

impl Describe for VersionChosen {
    fn describe(&self, _: Elapsed) -> Description<'_> {
        let (at, version) = (&self.location, self.version);
        Description::new(format!("Gate `{at}` follows version {version}"))
    }
}

impl Describe for Removed {
    fn describe(&self, _: Elapsed) -> Description<'_> {
        let (at, kind) = (&self.location, &self.kind);
        Description::new(format!(
            "Operation `{at}` ({kind}) skipped, because the code no longer has it"
        ))
    }
}
