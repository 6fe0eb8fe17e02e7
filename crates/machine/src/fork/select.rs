//! Copies up to an operation: the records before it, and the later results of steps that were in
//! flight.

use std::collections::BTreeSet;

use everstep_model::record::{StepEdited, StepSoFar};
use everstep_model::{Body, Entry, Location, Payload, Record};

use super::kept::Kept;
use super::plan::{CannotFork, ForkPlan};
use super::running::RunningSteps;
use super::undone::{first_awaited, first_undone, rollback_begins};
use super::{compacted, scopes};
use crate::passing::PassingSteps;
use crate::undo::requests_end;

/// Keeps everything before an operation. If it is a step, it may get an edited result.
pub(super) fn before(
    journal: &[Entry],
    at: &Location,
    edited: Option<&Payload>,
    plan: &ForkPlan,
) -> Result<Vec<Kept>, CannotFork> {
    let repeated = scopes::outermost_loop(at);
    let unknown = || CannotFork::UnknownOperation(at.clone());
    let exact = first_of(journal, at).ok_or_else(unknown)?;
    let first = match &repeated {
        Some(whole) => match compacted::oldest_beginning(journal, whole) {
            Some(oldest) => oldest,
            None => first_of(journal, whole).ok_or_else(unknown)?,
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
    // The copy would end earlier, before something that was undone later, and so before the edited
    // step.
    if last_sound(journal, cut) != cut {
        return Err(CannotFork::Undone(at.clone()));
    }
    let started = journal.get(exact).map(|entry| (entry, &entry.record.body));
    let Some((entry, Body::StepStarted(start))) = started else {
        return Err(CannotFork::NotAStep(at.clone()));
    };
    let edited = StepEdited {
        location: at.clone(),
        result: result.clone(),
        by: plan.by.clone(),
        so_far: Some(StepSoFar {
            attempts: start.attempt,
            started_at: Some(entry.record.time),
            sensitive: start.options.is_some_and(|options| options.sensitive),
            no_return: start.options.is_some_and(|options| options.no_return),
        }),
    };
    let edited = Kept {
        number: None,
        record: Record {
            time: entry.record.time,
            body: edited.into(),
        },
    };
    // Keep the position of the start, because the code writes it there again.
    let index = kept.partition_point(|kept| kept.number < Some(entry.number));
    kept.splice(index..index, [Kept::of(entry), edited]);
    Ok(kept)
}

/// Keeps everything up to the current state of the run, or to its state before it was ended.
pub(super) fn whole(journal: &[Entry]) -> Result<Vec<Kept>, CannotFork> {
    let end = end_of_life(journal).min(begins_undone(journal));
    up_to(journal, end)
}

/// Returns the index of the first record of what the run undid when it ended.
fn begins_undone(journal: &[Entry]) -> usize {
    first_undone(journal, rollback_begins(journal)).unwrap_or(usize::MAX)
}

/// Returns the records before `cut` without requests to end the run, and the later results of steps
/// that were open at `cut`.
pub(super) fn up_to(journal: &[Entry], cut: usize) -> Result<Vec<Kept>, CannotFork> {
    let cut = last_sound(journal, cut.min(journal.len()));
    let (before, after) = journal.split_at_checked(cut).unwrap_or((journal, &[]));
    let mut open = open_steps(before);
    let others = before.iter().filter(|entry| !ends(&entry.record.body));
    let mut kept: Vec<Kept> = others.map(Kept::of).collect();
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

/// Returns the last position up to `cut` at which the journal is complete, no step is done that was
/// undone later, and the code waits for no undo.
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

/// Returns whether a record ends the run, or is about to.
fn ends(body: &Body) -> bool {
    requests_end(body) || body.terminal().is_some()
}

/// Returns the index up to which the records do not depend on the end of the run. Scripted records
/// may follow a request to end the run if the code had not seen it yet.
pub(super) fn end_of_life(journal: &[Entry]) -> usize {
    let Some((ending, effect)) = first_end(journal) else {
        return journal.len();
    };
    let (before, after) = journal.split_at_checked(effect).unwrap_or((journal, &[]));
    // A cancelled run is polled once more, so only operations that would then be refused were
    // certainly called before. After an earlier pass even those are uncertain.
    let is_repeated = |entry: &Entry| matches!(entry.record.body, Body::ExecutionRetried(_));
    let was_written_before: fn(&Body) -> bool = match ending {
        Body::CancelRequested(_) if before.iter().any(is_repeated) => return effect,
        Body::CancelRequested(_) => is_refused_when_cancelled,
        _ => Body::is_scripted,
    };
    let last = after
        .iter()
        .rposition(|entry| was_written_before(&entry.record.body));
    last.map_or(effect, |last| effect + last + 1)
}

/// Returns the first record that ends the run, or requests its end, and the index from which it has
/// an effect. A request waits for steps that are passing the point of no return.
fn first_end(journal: &[Entry]) -> Option<(&Body, usize)> {
    let mut passing = PassingSteps::default();
    let mut first = None;
    for (index, entry) in journal.iter().enumerate() {
        let body = &entry.record.body;
        if first.is_none() && ends(body) {
            first = Some(body);
        }
        if let Some(first) = first
            && (body.terminal().is_some() || !passing.is_any())
        {
            return Some((first, index));
        }
        passing.fold(body);
    }
    first.map(|first| (first, journal.len()))
}

fn is_refused_when_cancelled(body: &Body) -> bool {
    match body {
        Body::StepStarted(started) => started.options.is_some(),
        Body::Sleeping(_) | Body::Waiting(_) | Body::RpcRequested(_) => true,
        _ => false,
    }
}

/// Returns the index of the first record of an operation.
pub(super) fn first_of(journal: &[Entry], owner: &Location) -> Option<usize> {
    journal.iter().position(|entry| {
        let location = entry.record.body.location();
        location.is_some_and(|location| scopes::is_within(location, owner))
    })
}

/// Returns the steps that began and have no result.
fn open_steps(journal: &[Entry]) -> BTreeSet<Location> {
    let mut open = BTreeSet::new();
    for entry in journal {
        match &entry.record.body {
            Body::StepStarted(record) => {
                open.insert(record.location.clone());
            }
            // The next pass calls everything without a result again.
            Body::ExecutionRetried(_) => open.clear(),
            Body::StepFailed(record) if record.retry_at.is_some() => {}
            body => {
                let is_end = matches!(
                    body,
                    Body::StepFailed(_) | Body::StepAbandoned(_) | Body::ForcedFailure(_)
                );
                if let Some(step) = body.location().filter(|_| is_end).or(success(body)) {
                    open.remove(step);
                }
            }
        }
    }
    open
}

/// Returns the step that gets its result from this record.
fn success(body: &Body) -> Option<&Location> {
    match body {
        Body::StepCompleted(_) | Body::StepSkipped(_) | Body::StepEdited(_) => body.location(),
        _ => None,
    }
}
