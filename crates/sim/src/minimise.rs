//! Making a failing seed smaller: fewer kinds of faults, fewer of them, fewer nodes, runs and requests, as long as it fails.

use crate::cluster::FaultKind;
use crate::plan::{Limits, Plan};
use crate::simulation::{Report, simulate};

/// The narrowest limits found under which a seed fails with the same invariant, and what happens then.
#[must_use]
pub fn minimise(seed: u64, limits: Limits, invariant: u8) -> (Limits, Report) {
    let fails = |limits: &Limits| {
        let report = simulate(&Plan::new(seed, limits.clone()), false);
        let is_it = |v: &crate::Violation| v.invariant == invariant;
        report.violations.iter().any(is_it).then_some(report)
    };
    let mut best = limits;
    let mut try_it = |narrower: Limits| match fails(&narrower) {
        Some(_) => {
            best = narrower;
            Some(best.clone())
        }
        None => None,
    };
    let mut current = Plan::new(seed, Limits::default()).limits;
    current.clone_from(&try_it(current.clone()).unwrap_or_default());
    for kind in FaultKind::ALL {
        let mut narrower = current.clone();
        narrower.without.insert(*kind);
        current = try_it(narrower).unwrap_or(current);
    }
    for nodes in 1..3 {
        let narrower = Limits {
            nodes: Some(nodes),
            ..current.clone()
        };
        if let Some(found) = try_it(narrower) {
            current = found;
            break;
        }
    }
    for runs in 1..6 {
        let narrower = Limits {
            runs: Some(runs),
            ..current.clone()
        };
        if let Some(found) = try_it(narrower) {
            current = found;
            break;
        }
    }
    let total = |limits: &Limits| {
        let report = simulate(&Plan::new(seed, limits.clone()), false);
        report.faults.values().sum::<u64>()
    };
    current.faults = shrink(total(&current), |faults| {
        let narrower = Limits {
            faults: Some(faults),
            ..current.clone()
        };
        try_it(narrower).is_some()
    });
    current.requests = shrink(64, |requests| {
        let narrower = Limits {
            requests: Some(requests),
            ..current.clone()
        };
        try_it(narrower).is_some()
    });
    let report = simulate(&Plan::new(seed, best.clone()), true);
    (best, report)
}

/// The smallest number up to `most` for which it still fails, if halving finds one.
fn shrink(most: u64, mut fails: impl FnMut(u64) -> bool) -> Option<u64> {
    let (mut low, mut high) = (0, most);
    let mut found = None;
    while low < high {
        let middle = (low + high) / 2;
        if fails(middle) {
            (high, found) = (middle, Some(middle));
        } else {
            low = middle + 1;
        }
    }
    found
}
