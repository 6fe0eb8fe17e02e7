//! Leaves out faults of a case that fails, as long as it fails in the same way.

use super::campaign::Tried;
use super::complaint::Complaint;
use super::plan::Plan;

/// How many cases are tried at most.
const TRIES_MAX: u32 = 100;

/// The case with as few faults as were found to be enough; none if all are needed.
pub(super) fn minimise(
    plan: &Plan,
    complaint: &Complaint,
    judge: &dyn Fn(&Plan) -> Tried,
) -> Option<(Plan, Tried)> {
    let mut best: Option<(Plan, Tried)> = None;
    let mut tries = 0;
    let mut at_once = plan.faults.len();
    while at_once > 0 {
        let mut first = 0;
        let mut is_smaller = false;
        loop {
            let now = best.as_ref().map_or(plan, |(plan, _)| plan);
            if first >= now.faults.len() || tries >= TRIES_MAX {
                break;
            }
            let mut faults = now.faults.clone();
            faults.drain(first..(first + at_once).min(faults.len()));
            let fewer = plan.with(faults);
            tries += 1;
            let tried = judge(&fewer);
            if tried
                .complaint
                .as_ref()
                .is_some_and(|other| complaint.is_like(other))
            {
                best = Some((fewer, tried));
                is_smaller = true;
            } else {
                first += at_once;
            }
        }
        // What could not go before may go now.
        if !(is_smaller && at_once == 1) {
            at_once /= 2;
        }
        if tries >= TRIES_MAX {
            break;
        }
    }
    best
}
