//! How a line of the script differs from the recorded one.

use everstep_model::{Body, Name};

pub(super) enum Difference {
    /// They are different operations.
    Operation,
    /// They are the same operation with different properties.
    Detail(String),
}

/// Returns `None` if both are the same operation. Durations, arguments and texts may change under a
/// running workflow.
pub(super) fn difference(recorded: &Body, now: &Body) -> Option<Difference> {
    if recorded.type_name() != now.type_name() || recorded.location() != now.location() {
        return Some(Difference::Operation);
    }
    detail(recorded, now).map(Difference::Detail)
}

fn detail(recorded: &Body, now: &Body) -> Option<String> {
    match (recorded, now) {
        (Body::WaitCompleted(then), Body::WaitCompleted(now)) => {
            differ(&then.events, &now.events, |then, now| {
                format!("the wait took records {then:?} then and {now:?} now")
            })
        }
        (Body::Waiting(then), Body::Waiting(now)) => {
            differ(&then.names, &now.names, |then, now| {
                format!("it waited for {then:?} then and for {now:?} now")
            })
        }
        (Body::RpcRequested(then), Body::RpcRequested(now)) => {
            differ(&then.method, &now.method, |then, now| {
                format!("it called `{then}` then and `{now}` now")
            })
        }
        (Body::BranchesStarted(then), Body::BranchesStarted(now)) => {
            let kinds = (then.kind, &then.branches);
            differ(&kinds, &(now.kind, &now.branches), |then, now| {
                let (then, now) = (quoted(then.1), quoted(now.1));
                format!("its branches were {then} then and are {now} now")
            })
        }
        (Body::BranchCompleted(then), Body::BranchCompleted(now)) => {
            differ(&then.branch, &now.branch, |then, now| {
                format!("branch `{then}` ended then, `{now}` now")
            })
        }
        (Body::BranchFailed(then), Body::BranchFailed(now)) => {
            differ(&then.branch, &now.branch, |then, now| {
                format!("branch `{then}` failed then, `{now}` now")
            })
        }
        (Body::RaceWon(then), Body::RaceWon(now)) => {
            differ(&then.winner, &now.winner, |then, now| {
                format!("`{then}` won then and `{now}` now")
            })
        }
        (Body::ChildStarted(then), Body::ChildStarted(now)) => {
            let started = (&then.workflow, then.detached);
            differ(&started, &(&now.workflow, now.detached), |then, now| {
                let kind = |detached| if detached { "detached" } else { "awaited" };
                let (was, is) = (kind(then.1), kind(now.1));
                format!(
                    "it started `{}` ({was}) then and `{}` ({is}) now",
                    then.0, now.0
                )
            })
        }
        (Body::LoopAdvanced(then), Body::LoopAdvanced(now)) => {
            let advanced = (then.iteration, then.done);
            differ(&advanced, &(now.iteration, now.done), |then, now| {
                format!("the loop {} then and {} now", advance(*then), advance(*now))
            })
        }
        (Body::Removed(then), Body::Removed(now)) => differ(&then.kind, &now.kind, |then, now| {
            format!("a `{then}` was removed there then, and a `{now}` now")
        }),
        _ => None,
    }
}

fn differ<T: PartialEq>(then: &T, now: &T, text: impl Fn(&T, &T) -> String) -> Option<String> {
    (then != now).then(|| text(then, now))
}

fn advance((iteration, done): (u64, bool)) -> String {
    if done {
        format!("ended with iteration {iteration}")
    } else {
        format!("went on to iteration {iteration}")
    }
}

/// Returns the names in backticks, separated by commas.
pub(in crate::replay) fn quoted(names: &[Name]) -> String {
    let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}
