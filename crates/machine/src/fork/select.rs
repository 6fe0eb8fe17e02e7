//! Up to an operation: the records before its first one, and the results that steps under way then had later.

use std::collections::BTreeSet;

use everstep_model::record::{StepEdited, StepSoFar};
use everstep_model::{Body, Entry, Location, Payload, Record};

use super::kept::Kept;
use super::plan::{CannotFork, ForkPlan};
use super::running::RunningSteps;
use super::undone::{first_awaited, first_undone, rollback_begins};
use super::{compacted, place};

/// Everything before an operation, which may get an edited result.
pub(super) fn before(
    journal: &[Entry],
    at: &Location,
    edited: Option<&Payload>,
    plan: &ForkPlan,
) -> Result<Vec<Kept>, CannotFork> {
    let repeated = place::outermost_loop(at);
    let unknown = || CannotFork::UnknownOperation(at.clone());
    let is_known = |owner: &Location| first_of(journal, owner);
    let exact = is_known(at).ok_or_else(unknown)?;
    let first = match &repeated {
        Some(whole) => match compacted::oldest_beginning(journal, whole) {
            Some(oldest) => oldest,
            None => is_known(whole).ok_or_else(unknown)?,
        },
        None => exact,
    };
    let undone = begins_undone(journal);
    let cut = first.min(end_of_life(journal)).min(undone);
    let mut kept = up_to(journal, cut)?;
    let Some(result) = edited else {
        return Ok(kept);
    };
    if undone < exact {
        return Err(CannotFork::Undone(at.clone()));
    }
    if repeated.is_some() {
        return Err(CannotFork::InsideLoop(at.clone()));
    }
    if compacted::last_whole(journal, cut) != cut {
        return Err(CannotFork::Compacted(at.clone()));
    }
    // The copy would end before something that was undone later, and the step with the edited result would not follow.
    if last_sound(journal, cut) != cut {
        return Err(CannotFork::Undone(at.clone()));
    }
    let started = journal.get(exact).map(|entry| (entry, &entry.record.body));
    let Some((entry, Body::StepStarted(start))) = started else {
        return Err(CannotFork::NotAStep(at.clone()));
    };
    let settled = StepEdited {
        location: at.clone(),
        result: result.clone(),
        by: plan.by.clone(),
        so_far: Some(StepSoFar {
            attempts: start.attempt,
            started_at: Some(entry.record.time),
            sensitive: start.options.is_some_and(|options| options.sensitive),
        }),
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
pub(super) fn whole(journal: &[Entry]) -> Result<Vec<Kept>, CannotFork> {
    let end = end_of_life(journal).min(begins_undone(journal));
    up_to(journal, end)
}

/// Where the first step began that the run undid when it ended: what is undone is not done.
fn begins_undone(journal: &[Entry]) -> usize {
    first_undone(journal, rollback_begins(journal)).unwrap_or(usize::MAX)
}

/// The records before a cut but for what was about to end the run, and the later results of steps that had none then.
pub(super) fn up_to(journal: &[Entry], cut: usize) -> Result<Vec<Kept>, CannotFork> {
    let cut = last_sound(journal, cut.min(journal.len()));
    let (before, after) = journal.split_at_checked(cut).unwrap_or((journal, &[]));
    let mut open = open_steps(before);
    let lives = before.iter().filter(|entry| !ends(&entry.record.body));
    let mut kept: Vec<Kept> = lives.map(Kept::of).collect();
    for entry in after {
        if let Some(location) = success(&entry.record.body)
            && open.remove(location)
        {
            kept.push(Kept::of(entry));
        }
    }
    let running = RunningSteps::of(journal);
    match open.iter().find(|step| running.contains(step)) {
        Some(running) => Err(CannotFork::StillRunning(running.clone())),
        None => Ok(kept),
    }
}

/// The last place up to here at which the journal is whole, no step is done that was undone behind it, and the code waits
/// for no undo.
pub(super) fn last_sound(journal: &[Entry], mut cut: usize) -> usize {
    loop {
        let whole = compacted::last_whole(journal, cut);
        let undone = first_undone(journal, whole).into_iter();
        let undone = undone.chain(first_awaited(journal, whole)).min();
        let sound = undone.map_or(whole, |undone| undone.min(whole));
        if sound == cut {
            return cut;
        }
        cut = sound;
    }
}

/// Whether a record ends the run, or is about to.
fn ends(body: &Body) -> bool {
    match body {
        Body::CancelRequested(_) | Body::DeadlinePassed(_) => true,
        Body::ForcedFailure(forced) => forced.location.is_none(),
        body => body.terminal().is_some(),
    }
}

/// How far the journal tells of the run's life: up to what ended it, and past that as far as the code did not know of it
/// yet. What the code had said is written later than what came in meanwhile.
pub(super) fn end_of_life(journal: &[Entry]) -> usize {
    let mut entries = journal.iter();
    let Some(ending) = entries.position(|entry| ends(&entry.record.body)) else {
        return journal.len();
    };
    let (before, after) = journal.split_at_checked(ending).unwrap_or((journal, &[]));
    // A cancelled run is polled once more, so only what is refused then was certainly said before. Where it remembers
    // earlier passes, not even that.
    let is_repeated = |entry: &Entry| matches!(entry.record.body, Body::ExecutionRetried(_));
    let said_before: fn(&Body) -> bool = match after.first().map(|entry| &entry.record.body) {
        Some(Body::CancelRequested(_)) if before.iter().any(is_repeated) => return ending,
        Some(Body::CancelRequested(_)) => is_refused_when_cancelled,
        _ => Body::is_scripted,
    };
    let last = after
        .iter()
        .rposition(|entry| said_before(&entry.record.body));
    last.map_or(ending, |last| ending + last + 1)
}

fn is_refused_when_cancelled(body: &Body) -> bool {
    match body {
        Body::StepStarted(started) => started.options.is_some(),
        Body::Sleeping(_) | Body::Waiting(_) | Body::RpcRequested(_) => true,
        _ => false,
    }
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
