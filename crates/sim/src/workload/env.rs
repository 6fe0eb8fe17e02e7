//! The environment of workflow code, which records its side effects. A replay has none.

use std::sync::Arc;

use everstep::RunId;
use everstep::journal::Body;
use everstep::operation::RunMetadata;
use everstep::operation::StepContext;

use crate::cluster::{Process, World};
use crate::observed::{Attempt, Journals, Stream, Violation};
use crate::program::How;

/// The part of a simulation that the code of one process can use.
#[derive(Clone, Default)]
pub struct Env(Option<Live>);

#[derive(Clone)]
struct Live {
    world: Arc<World>,
    process: Arc<Process>,
}

impl Env {
    pub(crate) fn live(world: &Arc<World>, process: &Arc<Process>) -> Self {
        Self(Some(Live {
            world: world.clone(),
            process: process.clone(),
        }))
    }

    /// Records the call of an operation, possibly in a replay.
    pub(crate) fn record_call(&self, primitive: &'static str) {
        if let Some(live) = &self.0 {
            live.world.ledger().record_call(primitive);
        }
    }

    /// Takes some time.
    pub(crate) async fn work(&self, ms: u64) {
        match &self.0 {
            Some(live) => live.world.sleep(std::time::Duration::from_millis(ms)).await,
            None => std::future::pending().await,
        }
    }

    /// Records the start of an attempt, and returns the number of attempts at this location in this
    /// generation of the run.
    pub(crate) fn begin_attempt(
        &self,
        run: &RunMetadata,
        location: &str,
        how: How,
        step: &StepContext,
    ) -> u32 {
        let Some(Live { world, process }) = &self.0 else {
            return 1;
        };
        let name = &process.name;
        world.log(name, || {
            format!(
                "  {} begins step {location}, attempt {}",
                run.id, step.attempt
            )
        });
        let (broken, stream) = {
            let journals = world.journals();
            let held = held_stream(&journals, run, process);
            let broken = held.map(|stream| may_begin(stream, location, how, step));
            (broken, held.map(|stream| stream.number))
        };
        broken.into_iter().flatten().for_each(|v| world.violated(v));
        world.ledger().record_attempt(Attempt {
            run: run.id.to_string(),
            generation: run.generation.0,
            stream,
            location: location.to_owned(),
            key: step.idempotency_key(),
        })
    }

    /// Checks that the result of a strict step is durable when the code continues with it.
    pub(crate) fn observe_result(&self, run: &RunMetadata, value: &str) {
        let Some(Live { world, .. }) = &self.0 else {
            return;
        };
        let is_durable = {
            let journals = world.journals();
            let mut generations = journals.generations(run.id.as_str());
            generations.any(|stream| holds_result(stream, value))
        };
        if !is_durable {
            let what = format!("{} continued with `{value}` before it was durable", run.id);
            world.violated(Violation::of(11, what));
        }
    }

    /// Records an undo. Returns whether it succeeds.
    pub(crate) fn undo(&self, run: &RunMetadata, value: &str, child: Option<&RunId>) -> bool {
        let Some(Live { world, process }) = &self.0 else {
            return true;
        };
        let broken = {
            let journals = world.journals();
            held_stream(&journals, run, process).and_then(|stream| may_undo(stream, value, child))
        };
        broken.into_iter().for_each(|v| world.violated(v));
        // Two children may have been started at one location, each with an undo of its own.
        let value = match child {
            Some(child) => format!("{value} {child}"),
            None => value.to_owned(),
        };
        let done = world
            .ledger()
            .record_undo(run.id.as_str(), run.generation.0, &value);
        world.log(&process.name, || {
            format!("  {} undoes `{value}`: {done}", run.id)
        });
        done
    }
}

fn holds_result(stream: &Stream, value: &str) -> bool {
    let is_it = |result: &everstep::Payload| {
        let decoded: Result<String, _> = result.decode();
        decoded.is_ok_and(|decoded| decoded == value)
    };
    stream.entries.iter().any(|entry| match &entry.record.body {
        Body::StepCompleted(done) => is_it(&done.result),
        Body::StepSkipped(done) => is_it(&done.result),
        Body::StepEdited(done) => is_it(&done.result),
        _ => false,
    })
}

/// Returns the journal of the run if this generation is current and the process holds it. The run
/// may have ended, the claim may be lost although the process has not noticed it yet, or the store
/// may have lost it.
fn held_stream<'a>(
    journals: &'a Journals,
    run: &'a RunMetadata,
    process: &Process,
) -> Option<&'a Stream> {
    let generations = journals.generations(run.id.as_str());
    let stream = generations.filter(|stream| !stream.is_removed).last()?;
    let is_current = stream.generation() == Some(run.generation);
    let is_owner = stream.owner.is_some() && stream.owner == process.node();
    (is_current && is_owner && !stream.has_lost_claim).then_some(stream)
}

/// Invariant 22: an effect that is recorded as undone is not undone again, and a child is not
/// undone before it has completed.
fn may_undo(stream: &Stream, value: &str, child: Option<&RunId>) -> Option<Violation> {
    let location = value
        .split_once(' ')
        .map_or(value, |(_, location)| location);
    let mut is_undone = child.is_some();
    for entry in &stream.entries {
        let body = &entry.record.body;
        if body
            .location()
            .is_none_or(|at| at.name.as_str() != location)
        {
            continue;
        }
        match body {
            Body::UndoCompleted(undo) if undo.run.as_ref() == child => is_undone = true,
            Body::StepCompleted(_) if child.is_none() => is_undone = false,
            Body::ChildFinished(done) if done.run.as_ref() == child => is_undone = false,
            _ => {}
        }
    }
    is_undone.then(|| {
        let what = format!("`{location}` is undone again, or was never done");
        stream.violation(22, what)
    })
}

/// Invariants 8 and 11: the holder of a run does not start a completed step again, and a fenced
/// step starts only when its start is durable.
fn may_begin(stream: &Stream, location: &str, how: How, step: &StepContext) -> Vec<Violation> {
    let mut found = Vec::new();
    let mut is_done = false;
    let mut is_started = false;
    for entry in &stream.entries {
        match &entry.record.body {
            Body::StepCompleted(done) if done.location.name.as_str() == location => is_done = true,
            Body::UndoCompleted(undo) if undo.location.name.as_str() == location => is_done = false,
            Body::StepStarted(start) if start.location.name.as_str() == location => {
                is_started |= start.attempt == step.attempt;
            }
            _ => {}
        }
    }
    if is_done {
        let what = format!("`{location}` is completed and was started again");
        found.push(stream.violation(8, what));
    }
    if matches!(how, How::Fenced | How::NoReturn) && !is_started {
        let what = format!("`{location}` started before its start was durable");
        found.push(stream.violation(11, what));
    }
    found
}
