//! Making a failing seed smaller: fewer kinds of faults, fewer of them, fewer nodes, runs and requests, as long as it fails.

use crate::campaign::simulate_caught;
use crate::plan::{FaultKind, Limits, Plan};
use crate::simulation::Report;

/// Requests that a client makes at most, for a start.
const REQUESTS: u64 = 128;

/// The narrowest limits found so far under which the seed fails as it did at first.
struct Search {
    seed: u64,
    invariant: u8,
    best: Limits,
}

impl Search {
    fn simulate(&self, limits: &Limits, is_traced: bool) -> Report {
        simulate_caught(&Plan::new(self.seed, limits.clone()), is_traced)
    }

    /// Narrows the limits, unless the seed does not fail then.
    fn narrow(&mut self, change: impl FnOnce(&mut Limits)) -> bool {
        let mut narrower = self.best.clone();
        change(&mut narrower);
        let report = self.simulate(&narrower, false);
        let mut violations = report.violations.iter();
        let fails = violations.any(|violation| violation.invariant == self.invariant);
        if fails {
            self.best = narrower;
        }
        fails
    }

    /// Halves a number for as long as the seed fails.
    fn halve(&mut self, most: u64, change: impl Fn(&mut Limits, u64)) {
        let (mut low, mut high) = (0, most);
        while low < high {
            let middle = (low + high) / 2;
            if self.narrow(|limits| change(limits, middle)) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
    }
}

/// Narrow limits under which a seed still violates an invariant, and what happens then.
#[must_use]
pub fn minimise(seed: u64, limits: Limits, invariant: u8) -> (Limits, Report) {
    let mut search = Search {
        seed,
        invariant,
        best: limits,
    };
    for kind in FaultKind::ALL {
        search.narrow(|limits| {
            limits.without.insert(*kind);
        });
    }
    let _ = (1..3).any(|nodes| search.narrow(|limits| limits.nodes = Some(nodes)));
    let _ = (1..6).any(|runs| search.narrow(|limits| limits.runs = Some(runs)));
    let faults = search.simulate(&search.best, false).faults.values().sum();
    search.halve(faults, |limits, most| limits.faults = Some(most));
    search.halve(REQUESTS, |limits, most| limits.requests = Some(most));
    let report = search.simulate(&search.best, true);
    (search.best, report)
}
