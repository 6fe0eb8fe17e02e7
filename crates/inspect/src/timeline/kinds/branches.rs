//! Branches, loops, switches and version gates.

use everstep_model::RecordRange;
use everstep_model::record::{
    BranchCompleted, BranchFailed, BranchesKind, BranchesStarted, LoopAdvanced, RaceWon, Removed,
    SwitchChosen, VersionChosen,
};

use super::super::describe::Describe;
use super::super::details::Details;
use super::super::elapsed::Elapsed;
use super::super::line::Outcome;
use super::phrase::{After, Count, In};
use crate::phrase::Listed;

impl Describe for BranchesStarted {
    fn sentence(&self, _: Elapsed) -> String {
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

impl Describe for BranchCompleted {
    fn sentence(&self, elapsed: Elapsed) -> String {
        let (place, branch, after) = (&self.location, &self.branch, After(elapsed.whole));
        format!("Branch `{branch}` of `{place}` completed{after}")
    }

    fn details(&self) -> Details<'_> {
        Details::default().outcome(Outcome::Ok)
    }
}

impl Describe for BranchFailed {
    fn sentence(&self, elapsed: Elapsed) -> String {
        let (place, branch, after) = (&self.location, &self.branch, After(elapsed.whole));
        format!(
            "Branch `{branch}` of `{place}` failed{after}: {}",
            self.error
        )
    }

    fn details(&self) -> Details<'_> {
        Details::default()
            .outcome(Outcome::Failed)
            .error(&self.error)
    }
}

impl Describe for RaceWon {
    fn sentence(&self, elapsed: Elapsed) -> String {
        let (place, winner, after) = (&self.location, &self.winner, After(elapsed.whole));
        format!("Race `{place}` won by branch `{winner}`{after}")
    }

    fn details(&self) -> Details<'_> {
        Details::default().outcome(Outcome::Ok)
    }
}

impl Describe for LoopAdvanced {
    fn sentence(&self, elapsed: Elapsed) -> String {
        let (place, took, iteration) = (&self.location, In(elapsed.whole), self.iteration);
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

    fn details(&self) -> Details<'_> {
        Details::default().outcome(Outcome::Ok).payload(&self.state)
    }
}

impl Describe for SwitchChosen {
    fn sentence(&self, _: Elapsed) -> String {
        format!("Switch `{}` chose branch `{}`", self.location, self.branch)
    }
}

impl Describe for VersionChosen {
    fn sentence(&self, _: Elapsed) -> String {
        format!("Gate `{}` follows version {}", self.location, self.version)
    }
}

impl Describe for Removed {
    fn sentence(&self, _: Elapsed) -> String {
        let (place, kind) = (&self.location, &self.kind);
        format!("Place of `{place}` passed, which the code no longer has (it was {kind})")
    }
}
