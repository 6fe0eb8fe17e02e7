//! Minimises a failing case: removes faults and simplifies the rest, as long as it fails in the
//! same way.

use everstep_engine::simulation::Minimiser;

use super::case::{CaseResult, Try};
use super::case_failure::CaseFailure;
use super::plan::{Fault, Plan};

/// The number of cases that are simulated at most.
const ATTEMPTS_MAX: u32 = 100;

/// The smallest case found, or none if no smaller case fails.
pub(super) fn minimise(
    plan: &Plan,
    failure: &CaseFailure,
    judge: Try<'_>,
) -> Option<(Plan, CaseResult)> {
    let attempt = |plan: &Plan| {
        let attempt = judge(plan);
        let found = attempt.failure.as_ref();
        let is_same = found.is_some_and(|found| failure.is_like(found));
        is_same.then_some(attempt)
    };
    let mut search = Minimiser::new(plan.clone(), ATTEMPTS_MAX, &attempt);
    search.remove_items(|plan| &mut plan.faults);
    for index in 0..search.smallest().faults.len() {
        let fault = search.smallest().faults.get(index);
        if let Some(simpler) = fault.and_then(Fault::at_once) {
            search.change(|plan| {
                if let Some(fault) = plan.faults.get_mut(index) {
                    *fault = simpler;
                }
            });
        }
    }
    let (smallest, attempt) = search.finish();
    Some((smallest, attempt?))
}
