//! How a line of the script differs from the recorded one.

use everstep_model::{Body, Name};

/// Compares a line with the recorded one. Fails without a detail if they are different operations,
/// and with one if the same operation has other properties. Durations, arguments and texts may
/// change under a running workflow.
pub(super) fn compare(recorded: &Body, now: &Body) -> Result<(), Option<String>> {
    if recorded.type_name() != now.type_name() || recorded.location() != now.location() {
        return Err(None);
    }
    match detail(recorded, now) {
        None => Ok(()),
        detail => Err(detail),
    }
}

fn detail(recorded: &Body, now: &Body) -> Option<String> {
    Some(match (recorded, now) {
        (Body::WaitCompleted(then), Body::WaitCompleted(now)) if then.events != now.events => {
            let (then, now) = (&then.events, &now.events);
            format!("the wait took records {then:?} then and {now:?} now")
        }
        (Body::Waiting(then), Body::Waiting(now)) if then.names != now.names => {
            let (then, now) = (&then.names, &now.names);
            format!("it waited for {then:?} then and for {now:?} now")
        }
        (Body::RpcRequested(then), Body::RpcRequested(now)) if then.method != now.method => {
            format!("it called `{}` then and `{}` now", then.method, now.method)
        }
        (Body::BranchesStarted(then), Body::BranchesStarted(now))
            if then.kind != now.kind || then.branches != now.branches =>
        {
            let (then, now) = (quoted(&then.branches), quoted(&now.branches));
            format!("its branches were {then} then and are {now} now")
        }
        (Body::BranchCompleted(then), Body::BranchCompleted(now)) if then.branch != now.branch => {
            format!("branch `{}` ended then, `{}` now", then.branch, now.branch)
        }
        (Body::BranchFailed(then), Body::BranchFailed(now)) if then.branch != now.branch => {
            format!("branch `{}` failed then, `{}` now", then.branch, now.branch)
        }
        (Body::RaceWon(then), Body::RaceWon(now)) if then.winner != now.winner => {
            format!("`{}` won then and `{}` now", then.winner, now.winner)
        }
        (Body::ChildStarted(then), Body::ChildStarted(now))
            if then.workflow != now.workflow || then.detached != now.detached =>
        {
            let kind = |detached| if detached { "detached" } else { "awaited" };
            let (was, is) = (kind(then.detached), kind(now.detached));
            let (then, now) = (&then.workflow, &now.workflow);
            format!("it started `{then}` ({was}) then and `{now}` ({is}) now")
        }
        (Body::LoopAdvanced(then), Body::LoopAdvanced(now))
            if then.iteration != now.iteration || then.done != now.done =>
        {
            let advance = |iteration, done| match done {
                true => format!("ended with iteration {iteration}"),
                false => format!("went on to iteration {iteration}"),
            };
            let then = advance(then.iteration, then.done);
            let now = advance(now.iteration, now.done);
            format!("the loop {then} then and {now} now")
        }
        (Body::Removed(then), Body::Removed(now)) if then.kind != now.kind => {
            let (then, now) = (&then.kind, &now.kind);
            format!("a `{then}` was removed there then, and a `{now}` now")
        }
        _ => return None,
    })
}

/// Returns the names in backticks, separated by commas.
pub(in crate::replay) fn quoted(names: &[Name]) -> String {
    let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}
