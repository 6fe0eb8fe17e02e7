//! Looking without doing: runs code against a journal, with every step answered from it and none begun.
//!
//! Development mode does this after each activation to find hidden nondeterminism at once; tests do it with recorded
//! journals against today's code.

use std::sync::Arc;
use std::task::Poll;

use everstep_machine::{Divergence, Halt, Replay, Turn};
use everstep_model::{Body, Entry, Payload, Record, RecordNumber, Timestamp};

use super::conclusion::Conclusion;
use super::root::RunningRoot;
use super::shared::{Shared, SharedParts};
use super::undos::Undos;
use crate::definition::Definition;
use crate::error::Result;

/// What the code came to on the journal.
pub(crate) struct Verified {
    /// What it returned, if it did.
    pub(crate) returned: Option<Result<Payload>>,
    /// The first thing it said that the journal does not hold: how it goes on, or a divergence if the journal is whole.
    pub(crate) unrecorded: Option<Divergence>,
}

/// Runs the code against a journal. Nothing is written and no step begins.
pub(crate) fn verify(
    definition: &Definition,
    parts: SharedParts,
    journal: Vec<Entry>,
) -> Result<Verified, Halt> {
    let now = journal
        .last()
        .map(|entry| entry.record.time)
        .unwrap_or_default();
    let replay = Replay::new(parts.run.clone(), parts.generation, journal).dry();
    let shared = Shared::new(parts, replay);
    let verified = look(definition, &shared, now);
    shared.forget_undos();
    verified
}

/// The undos that the code gives in a pass of its function, found by replaying the journal of that pass.
pub(super) fn undos_given(
    definition: &Definition,
    parts: SharedParts,
    journal: Vec<Entry>,
) -> Undos {
    let now = journal
        .last()
        .map(|entry| entry.record.time)
        .unwrap_or_default();
    let replay = Replay::new(parts.run.clone(), parts.generation, journal).dry();
    let shared = Shared::new(parts, replay);
    // Code that does not fit any more has given what it could.
    let _ = look(definition, &shared, now);
    std::mem::take(&mut shared.state().undos)
}

fn look(definition: &Definition, shared: &Arc<Shared>, now: Timestamp) -> Result<Verified, Halt> {
    let mut root: Option<RunningRoot> = None;
    let mut returned = None;
    loop {
        let turn = shared.state().replay.turn(now);
        match turn {
            Turn::Start => {
                let input = shared
                    .state()
                    .replay
                    .facts()
                    .map(|facts| facts.input.clone());
                let input = input.unwrap_or_else(Payload::null);
                root = Some(RunningRoot::new(definition.begin(shared.clone(), input)));
            }
            Turn::Resolved(op, resolution) => {
                let waker = shared.state().resolve(op, resolution);
                if let Some(waker) = waker {
                    waker.wake();
                }
            }
            Turn::Idle | Turn::Broken(_) | Turn::Ended(_) | Turn::Pausing | Turn::Paused => break,
            Turn::Halted(halt) => return Err(halt),
        }
        if let Some(running) = &mut root
            && let Poll::Ready(result) = running.poll()
        {
            root = None;
            let error = result.as_ref().err().map(ToString::to_string);
            returned = Some(result);
            shared.state().replay.returned(error.as_deref());
        }
        if root.is_some() && shared.state().replay.defies_cancellation() {
            break;
        }
    }
    let unrecorded = unrecorded(shared);
    shared.state().replay.detach();
    drop(root);
    Ok(Verified {
        returned,
        unrecorded,
    })
}

/// The first thing the code said that the journal does not hold.
fn unrecorded(shared: &Shared) -> Option<Divergence> {
    let body: Body = shared.state().replay.take_outgoing().0.next()?;
    let location = body.location()?.clone();
    let called_site = shared.state().replay.first_unrecorded_site();
    Some(Divergence {
        record: None,
        recorded: None,
        recorded_site: None,
        called: Some((body.type_name(), location)),
        called_site,
        detail: None,
    })
}

/// Development mode's second look at an execution that is about to rest: everything it folded, and what it will write.
pub(super) fn second_look(
    definition: &Definition,
    shared: &Arc<Shared>,
    history: &[Entry],
    unsent: &[Record],
    conclusion: &Conclusion,
) -> Result<(), Box<Divergence>> {
    let next = history
        .last()
        .map_or(RecordNumber(0), |last| last.number.plus(1));
    let coming = unsent.iter().enumerate().map(|(index, record)| Entry {
        number: next.plus(index),
        record: record.clone(),
    });
    let journal = history.iter().cloned().chain(coming).collect();
    match verify(definition, shared.parts().clone(), journal) {
        Ok(verified) => match verified.unrecorded {
            Some(divergence) => Err(Box::new(divergence)),
            None => same_end(conclusion, &verified),
        },
        Err(Halt::Diverged(mut divergence)) => {
            let site = divergence
                .record
                .and_then(|number| site_of(shared, number, next, unsent));
            divergence.recorded_site = divergence.recorded_site.or(site);
            Err(divergence)
        }
        Err(Halt::NotDurable(_) | Halt::Newer(_) | Halt::Damaged(_)) => Ok(()),
    }
}

/// Where the first execution called what this record says.
fn site_of(
    shared: &Shared,
    number: RecordNumber,
    next: RecordNumber,
    unsent: &[Record],
) -> Option<everstep_machine::CallSite> {
    let state = shared.state();
    if number < next {
        return state.replay.site_of(number);
    }
    let index = usize::try_from(number.0 - next.0).ok()?;
    let before = unsent.get(..index)?;
    let said_before = before
        .iter()
        .filter(|record| record.body.is_scripted())
        .count();
    state.replay.unrecorded_site(said_before)
}

/// The function must come to the same end.
fn same_end(conclusion: &Conclusion, verified: &Verified) -> Result<(), Box<Divergence>> {
    let detail = match (conclusion, &verified.returned) {
        (Conclusion::Completed(first), Some(Ok(second))) if first == second => return Ok(()),
        (Conclusion::Completed(first), Some(Ok(second))) => {
            format!("the function returned {first:?} first and {second:?} on replay")
        }
        (Conclusion::Completed(_), Some(Err(error))) => {
            format!("the function failed on replay: {error}")
        }
        (Conclusion::Completed(_) | Conclusion::Failed(..) | Conclusion::Retry(_), None) => {
            "the function returned first and waits on replay".to_owned()
        }
        (Conclusion::Suspended(_), Some(_)) => {
            "the function waited first and returned on replay".to_owned()
        }
        _ => return Ok(()),
    };
    Err(Box::new(Divergence {
        record: None,
        recorded: None,
        recorded_site: None,
        called: None,
        called_site: None,
        detail: Some(detail),
    }))
}
