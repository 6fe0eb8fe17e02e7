//! How a line of the script differs from the recorded one.

use everstep_model::{Body, Name};

/// A difference between two lines.
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
    let detail = of_waits(recorded, now).or_else(|| of_branches(recorded, now));
    let detail = detail.or_else(|| of_others(recorded, now));
    detail.map(Difference::Detail)
}

fn of_waits(recorded: &Body, now: &Body) -> Option<String> {
    match (recorded, now) {
        (Body::WaitCompleted(recorded), Body::WaitCompleted(now))
            if recorded.events != now.events =>
        {
            let (then, now) = (&recorded.events, &now.events);
            Some(format!(
                "the wait took records {then:?} then and {now:?} now"
            ))
        }
        (Body::Waiting(recorded), Body::Waiting(now)) if recorded.names != now.names => {
            let (then, now) = (&recorded.names, &now.names);
            Some(format!("it waited for {then:?} then and for {now:?} now"))
        }
        (Body::RpcRequested(recorded), Body::RpcRequested(now))
            if recorded.method != now.method =>
        {
            let (then, now) = (&recorded.method, &now.method);
            Some(format!("it asked `{then}` then and `{now}` now"))
        }
        _ => None,
    }
}

fn of_branches(recorded: &Body, now: &Body) -> Option<String> {
    match (recorded, now) {
        (Body::BranchesStarted(recorded), Body::BranchesStarted(now))
            if (recorded.kind, &recorded.branches) != (now.kind, &now.branches) =>
        {
            let (then, now) = (list(&recorded.branches), list(&now.branches));
            Some(format!("its branches were {then} then and are {now} now"))
        }
        (Body::BranchCompleted(recorded), Body::BranchCompleted(now))
            if recorded.branch != now.branch =>
        {
            let (then, now) = (&recorded.branch, &now.branch);
            Some(format!("branch `{then}` ended then, `{now}` now"))
        }
        (Body::BranchFailed(recorded), Body::BranchFailed(now))
            if recorded.branch != now.branch =>
        {
            let (then, now) = (&recorded.branch, &now.branch);
            Some(format!("branch `{then}` failed then, `{now}` now"))
        }
        (Body::RaceWon(recorded), Body::RaceWon(now)) if recorded.winner != now.winner => {
            let (then, now) = (&recorded.winner, &now.winner);
            Some(format!("`{then}` won then and `{now}` now"))
        }
        _ => None,
    }
}

fn of_others(recorded: &Body, now: &Body) -> Option<String> {
    match (recorded, now) {
        (Body::ChildStarted(recorded), Body::ChildStarted(now))
            if (&recorded.workflow, recorded.detached) != (&now.workflow, now.detached) =>
        {
            let kind = |detached| if detached { "detached" } else { "awaited" };
            Some(format!(
                "it started `{}` ({}) then and `{}` ({}) now",
                recorded.workflow,
                kind(recorded.detached),
                now.workflow,
                kind(now.detached)
            ))
        }
        (Body::LoopAdvanced(recorded), Body::LoopAdvanced(now))
            if (recorded.iteration, recorded.done) != (now.iteration, now.done) =>
        {
            Some(format!(
                "the loop {} then and {} now",
                advance(recorded.iteration, recorded.done),
                advance(now.iteration, now.done)
            ))
        }
        (Body::Removed(recorded), Body::Removed(now)) if recorded.kind != now.kind => {
            let (then, now) = (&recorded.kind, &now.kind);
            Some(format!(
                "a `{then}` was removed there then, and a `{now}` now"
            ))
        }
        _ => None,
    }
}

fn advance(iteration: u64, done: bool) -> String {
    if done {
        format!("ended with iteration {iteration}")
    } else {
        format!("went on to iteration {iteration}")
    }
}

fn list(names: &[Name]) -> String {
    let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}
