//! Up to an operation: the records before its first one, and the results that steps under way then had later.

use std::collections::BTreeSet;

use everstep_model::record::StepEdited;
use everstep_model::{Body, Entry, Location, Payload, Record, StepStatus};

use super::{CannotFork, ForkPlan, Kept, place};
use crate::overview::Overview;

/// Everything before an operation, which may get an edited result.
pub(super) fn before(
    journal: &[Entry],
    overview: &Overview,
    at: &Location,
    edited: Option<&Payload>,
    plan: &ForkPlan,
) -> Result<Vec<Kept>, CannotFork> {
    let repeated = place::outermost_loop(at);
    let unknown = || CannotFork::UnknownOperation(at.clone());
    let is_known = |owner: &Location| first_of(journal, owner);
    let exact = is_known(at).ok_or_else(unknown)?;
    let first = match &repeated {
        Some(whole) => is_known(whole).ok_or_else(unknown)?,
        None => exact,
    };
    let cut = first.min(ending(journal));
    let mut kept = up_to(journal, overview, cut)?;
    let Some(result) = edited else {
        return Ok(kept);
    };
    if repeated.is_some() {
        return Err(CannotFork::InsideLoop(at.clone()));
    }
    let started = journal.get(exact).map(|entry| (entry, &entry.record.body));
    let Some((entry, Body::StepStarted(_))) = started else {
        return Err(CannotFork::NotAStep(at.clone()));
    };
    let settled = StepEdited {
        location: at.clone(),
        result: result.clone(),
        by: plan.by.clone(),
    };
    let settled = Kept {
        number: None,
        record: Record {
            time: entry.record.time,
            body: settled.into(),
        },
    };
    // Where the original said that the step began, which is where the code says it again.
    let place = kept.partition_point(|kept| kept.number < Some(entry.number));
    kept.splice(place..place, [Kept::of(entry), settled]);
    Ok(kept)
}

/// Everything up to where the run is, or was before something ended it.
pub(super) fn whole(journal: &[Entry], overview: &Overview) -> Result<Vec<Kept>, CannotFork> {
    up_to(journal, overview, ending(journal))
}

/// The records before a cut, and the later results of steps that had none then.
pub(super) fn up_to(
    journal: &[Entry],
    overview: &Overview,
    cut: usize,
) -> Result<Vec<Kept>, CannotFork> {
    let (before, after) = journal.split_at_checked(cut).unwrap_or((journal, &[]));
    let mut open = open_steps(before);
    let mut kept: Vec<Kept> = before.iter().map(Kept::of).collect();
    for entry in after {
        if let Some(location) = success(&entry.record.body)
            && open.remove(location)
        {
            kept.push(Kept::of(entry));
        }
    }
    let is_running = |location: &&Location| {
        let step = overview.step(location);
        overview.end.is_none() && step.is_some_and(|step| step.status == StepStatus::Running)
    };
    match open.iter().find(is_running) {
        Some(running) => Err(CannotFork::StillRunning(running.clone())),
        None => Ok(kept),
    }
}

/// Where something began to end the run; the length of the journal if nothing did.
pub(super) fn ending(journal: &[Entry]) -> usize {
    let ends = |entry: &Entry| match &entry.record.body {
        Body::CancelRequested(_) | Body::DeadlinePassed(_) => true,
        Body::ForcedFailure(forced) => forced.location.is_none(),
        body => body.terminal().is_some(),
    };
    journal.iter().position(ends).unwrap_or(journal.len())
}

/// The index of the first record of an operation.
pub(super) fn first_of(journal: &[Entry], owner: &Location) -> Option<usize> {
    journal.iter().position(|entry| {
        let location = entry.record.body.location();
        location.is_some_and(|location| place::is_within(location, owner))
    })
}

/// Steps that began and have no result yet.
fn open_steps(journal: &[Entry]) -> BTreeSet<Location> {
    let mut open = BTreeSet::new();
    for entry in journal {
        match &entry.record.body {
            Body::StepStarted(record) => {
                open.insert(record.location.clone());
            }
            Body::StepFailed(record) if record.retry_at.is_none() => {
                open.remove(&record.location);
            }
            Body::StepAbandoned(record) => {
                open.remove(&record.location);
            }
            Body::ForcedFailure(record) => {
                if let Some(location) = &record.location {
                    open.remove(location);
                }
            }
            // The next pass calls again whatever has no result.
            Body::ExecutionRetried(_) => open.clear(),
            body => {
                if let Some(location) = success(body) {
                    open.remove(location);
                }
            }
        }
    }
    open
}

/// The step that has its result by this record.
fn success(body: &Body) -> Option<&Location> {
    match body {
        Body::StepCompleted(record) => Some(&record.location),
        Body::StepSkipped(record) => Some(&record.location),
        Body::StepEdited(record) => Some(&record.location),
        _ => None,
    }
}
