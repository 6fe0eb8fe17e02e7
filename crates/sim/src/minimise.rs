//! Minimises a failing seed: fewer kinds of faults, fewer faults, nodes, runs and requests, as long
//! as the same invariant is violated.

use everstep_engine::simulation::Minimiser;

use crate::campaign::simulate_caught;
use crate::plan::{FaultKind, Limits, Plan};
use crate::simulation::Report;

/// The number of requests of a client that the search starts with.
const REQUESTS_MAX: u64 = 128;

/// Returns the narrowest limits found under which a seed violates an invariant, and the report of
/// that simulation.
#[must_use]
pub fn minimise(seed: u64, limits: Limits, invariant: u8) -> (Limits, Report) {
    let simulate =
        |limits: &Limits, is_traced| simulate_caught(&Plan::new(seed, limits.clone()), is_traced);
    let attempt = |limits: &Limits| {
        let report = simulate(limits, false);
        let mut violations = report.violations.iter();
        let fails = violations.any(|violation| violation.invariant == invariant);
        fails.then_some(report)
    };
    let mut search = Minimiser::new(limits, u32::MAX, &attempt);
    for kind in FaultKind::ALL {
        search.change(|limits| {
            limits.without.insert(*kind);
        });
    }
    let _ = (1..3).any(|nodes| search.change(|limits| limits.nodes = Some(nodes)));
    let _ = (1..6).any(|runs| search.change(|limits| limits.runs = Some(runs)));
    let faults = simulate(search.smallest(), false).faults.values().sum();
    search.lower(faults, |limits, most| limits.faults = Some(most));
    search.lower(REQUESTS_MAX, |limits, most| limits.requests = Some(most));
    let (limits, _) = search.finish();
    let report = simulate(&limits, true);
    (limits, report)
}
