//! Which way the code went: branches, loops, switches and gates.

use everstep_model::RecordRange;
use everstep_model::record::{
    BranchCompleted, BranchFailed, BranchesKind, BranchesStarted, LoopAdvanced, RaceWon, Removed,
    SwitchChosen, VersionChosen,
};

use super::phrase::{After, Count, In};
use super::{Lasted, Tell};
use crate::phrase::Listed;

impl Tell for BranchesStarted {
    fn tell(&self, _: Lasted) -> String {
        let kind = match self.kind {
            BranchesKind::Join => "Join",
            BranchesKind::Race => "Race",
        };
        let (place, branches) = (&self.location, Listed(&self.branches, ", "));
        if self.branches.is_empty() {
            return format!("{kind} `{place}` began without branches");
        }
        format!("{kind} `{place}` began with branches {branches}")
    }
}

impl Tell for BranchCompleted {
    fn tell(&self, lasted: Lasted) -> String {
        let (place, branch, after) = (&self.location, &self.branch, After(lasted.whole));
        format!("Branch `{branch}` of `{place}` completed{after}")
    }
}

impl Tell for BranchFailed {
    fn tell(&self, lasted: Lasted) -> String {
        let (place, branch, after) = (&self.location, &self.branch, After(lasted.whole));
        format!(
            "Branch `{branch}` of `{place}` failed{after}: {}",
            self.error
        )
    }
}

impl Tell for RaceWon {
    fn tell(&self, lasted: Lasted) -> String {
        let (place, winner, after) = (&self.location, &self.winner, After(lasted.whole));
        format!("Race `{place}` won by branch `{winner}`{after}")
    }
}

impl Tell for LoopAdvanced {
    fn tell(&self, lasted: Lasted) -> String {
        let (place, took, iteration) = (&self.location, In(lasted.whole), self.iteration);
        let advanced = match (self.done, iteration.checked_sub(1)) {
            (true, _) => format!("Loop `{place}` ended with iteration {iteration}{took}"),
            (false, Some(ended)) => format!("Loop `{place}` finished iteration {ended}{took}"),
            (false, None) => format!("Loop `{place}` came to iteration {iteration}"),
        };
        let size = |range: &RecordRange| {
            let between = range.last.0.saturating_sub(range.first.0);
            between.saturating_add(1)
        };
        let sizes = self.dropped.iter().map(size);
        match sizes.fold(0, u64::saturating_add) {
            0 => advanced,
            count => format!("{advanced}, and dropped {}", Count(count, "old record")),
        }
    }
}

impl Tell for SwitchChosen {
    fn tell(&self, _: Lasted) -> String {
        format!("Switch `{}` chose branch `{}`", self.location, self.branch)
    }
}

impl Tell for VersionChosen {
    fn tell(&self, _: Lasted) -> String {
        format!("Gate `{}` follows version {}", self.location, self.version)
    }
}

impl Tell for Removed {
    fn tell(&self, _: Lasted) -> String {
        let (place, kind) = (&self.location, &self.kind);
        format!("Place of `{place}` passed, which the code no longer has (it was {kind})")
    }
}
