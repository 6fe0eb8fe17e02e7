//! The environment of workflow code, which records its side effects. A replay has none.

use std::sync::Arc;

use everstep::RunId;
use everstep::journal::Body;
use everstep::operation::RunMetadata;
use everstep::operation::StepContext;

use crate::cluster::{Process, World};
use crate::observed::Attempt;
use crate::observed::{Stream, Violation};
use crate::program::How;

/// What the code of one process can reach.
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
    pub(crate) fn called(&self, primitive: &'static str) {
        if let Some(live) = &self.0 {
            live.world.ledger().called(primitive);
        }
    }

    /// Takes some time.
    pub(crate) async fn works(&self, ms: u64) {
        match &self.0 {
            Some(live) => live.world.sleep(std::time::Duration::from_millis(ms)).await,
            None => std::future::pending().await,
        }
    }

    /// Records the start of an attempt, and returns the number of attempts at this location in this
    /// generation of the run.
    pub(crate) fn begins(
        &self,
        run: &RunMetadata,
        place: &str,
        how: How,
        step: &StepContext,
    ) -> u32 {
        let Some(Live { world, process }) = &self.0 else {
            return 1;
        };
        let name = &process.name;
        world.say(name, || {
            format!("  {} begins step {place}, attempt {}", run.id, step.attempt)
        });
        let (broken, stream) = {
            let journals = world.journals();
            let life = journals.generations(run.id.as_str());
            let its = life.filter(|s| !s.is_removed).last();
            let its = its.filter(|stream| is_held(stream, run, process));
            let broken = its.map(|stream| may_begin(stream, place, how, step));
            (broken, its.map(|stream| stream.number))
        };
        broken.into_iter().flatten().for_each(|v| world.violated(v));
        world.ledger().begins(Attempt {
            run: run.id.to_string(),
            generation: run.generation.0,
            stream,
            place: place.to_owned(),
            key: step.idempotency_key(),
        })
    }

    /// The code continues with the result of a strict step.
    pub(crate) fn observes(&self, run: &RunMetadata, value: &str) {
        let Some(Live { world, .. }) = &self.0 else {
            return;
        };
        let is_durable = {
            let journals = world.journals();
            let mut lives = journals.generations(run.id.as_str());
            lives.any(|stream| holds_result(stream, value))
        };
        if !is_durable {
            let what = format!("{} continued with `{value}` before it was durable", run.id);
            world.violated(Violation::of(11, what));
        }
    }

    /// Records an undo. Returns whether it succeeds.
    pub(crate) fn undoes(&self, run: &RunMetadata, value: &str, child: Option<&RunId>) -> bool {
        let Some(Live { world, process }) = &self.0 else {
            return true;
        };
        let broken = {
            let journals = world.journals();
            let life = journals.generations(run.id.as_str());
            let its = life.filter(|s| !s.is_removed).last();
            its.filter(|stream| is_held(stream, run, process))
                .and_then(|stream| may_undo(stream, value, child))
        };
        broken.into_iter().for_each(|v| world.violated(v));
        // Two children may have been started at one location, each with an undo of its own.
        let value = match child {
            Some(child) => format!("{value} {child}"),
            None => value.to_owned(),
        };
        let done = world
            .ledger()
            .undoes(run.id.as_str(), run.generation.0, &value);
        world.say(&process.name, || {
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

/// Whether this is the generation of the run and the process holds it. The run may have ended, or
/// the process may have lost its claim without knowing it yet, or hold a claim that the store has
/// lost.
fn is_held(stream: &Stream, run: &RunMetadata, process: &Process) -> bool {
    let life = stream.run.as_ref().map(|(_, life)| *life);
    let is_owner = stream.owner.is_some() && stream.owner == process.node();
    life == Some(run.generation) && is_owner && !stream.has_lost_claim
}

/// Invariant 22: an effect that is recorded as undone is not undone again, and a child is not
/// undone before it has completed.
fn may_undo(stream: &Stream, value: &str, child: Option<&RunId>) -> Option<Violation> {
    let place = value.split_once(' ').map_or(value, |(_, place)| place);
    let mut is_undone = child.is_some();
    for entry in &stream.entries {
        let body = &entry.record.body;
        if body.location().is_none_or(|at| at.name.as_str() != place) {
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
        let what = format!(
            "{}: `{place}` is undone or was never done, and is undone",
            stream.label()
        );
        Violation::of(22, what)
    })
}

/// Invariants 8 and 11: the holder of a run does not start a completed step again, and a fenced
/// step starts only when its start is durable.
fn may_begin(stream: &Stream, place: &str, how: How, step: &StepContext) -> Vec<Violation> {
    let mut found = Vec::new();
    let mut is_done = false;
    let mut is_started = false;
    for entry in &stream.entries {
        match &entry.record.body {
            Body::StepCompleted(done) if done.location.name.as_str() == place => is_done = true,
            Body::UndoCompleted(undo) if undo.location.name.as_str() == place => is_done = false,
            Body::StepStarted(start) if start.location.name.as_str() == place => {
                is_started |= start.attempt == step.attempt;
            }
            _ => {}
        }
    }
    if is_done {
        let what = format!(
            "{}: `{place}` is completed and was started again",
            stream.label()
        );
        found.push(Violation::of(8, what));
    }
    if how == How::Fenced && !is_started {
        let what = format!(
            "{}: `{place}` started before its start was durable",
            stream.label()
        );
        found.push(Violation::of(11, what));
    }
    found
}
