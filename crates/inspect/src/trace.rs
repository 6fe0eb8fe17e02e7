//! The journal as a trace: the run is the root span, with one span below it for every attempt of a
//! step, every undo, and everything the run waited for.

#![allow(
    missing_docs,
    reason = "plain data; fields are explained where their names do not"
)]

use std::collections::BTreeMap;

use everstep_machine::{RunTrace, TraceRoot};
use everstep_model::record::Created;
use everstep_model::{
    Body, Entry, Failure, Generation, Location, Name, RunId, RunStatus, SpanId, Timestamp, TraceId,
};

use crate::timeline::{Line, timeline};

#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    pub trace: TraceId,
    pub id: SpanId,
    pub parent: Option<SpanId>,
    pub of: SpanOf,
    pub start: Timestamp,
    pub end: Timestamp,
    /// Set if the run or operation failed.
    pub error: Option<Failure>,
}

/// What a span measures.
#[derive(Clone, Debug, PartialEq)]
pub enum SpanOf {
    Run {
        workflow: Name,
        version: u32,
        status: RunStatus,
    },
    Operation {
        /// `step`, `undo`, `wait`, `sleep`, `rpc` or `child`.
        kind: &'static str,
        location: Location,
        /// Only for steps and undos.
        attempt: Option<u32>,
    },
}

/// Returns the spans of a run that has ended. A run that has not ended has none, because a span is
/// exported once. Records that a generation copied belong to the spans of the generation before.
#[must_use]
pub fn spans(run: &RunId, generation: Generation, journal: &[Entry]) -> Vec<Span> {
    let (Some(first), Some(last)) = (journal.first(), journal.last()) else {
        return Vec::new();
    };
    let (Body::Created(created), Some(status)) = (&first.record.body, last.record.body.terminal())
    else {
        return Vec::new();
    };
    let trace = position(run, generation, created);
    let root = trace.run();
    let known = Known::of(journal);
    let lines = timeline(journal);
    let is_own = |line: &&Line| created.forked_from.is_none() || line.time >= first.record.time;
    let operations = lines.iter().filter(is_own);
    let mut spans: Vec<Span> = operations
        .filter_map(|line| operation(&trace, line, &known))
        .collect();
    spans.push(Span {
        trace: root.trace,
        id: root.span,
        parent: trace.parent(),
        of: SpanOf::Run {
            workflow: created.workflow.clone(),
            version: created.version,
            status,
        },
        start: first.record.time,
        end: last.record.time,
        error: lines.last().and_then(|line| line.error.clone()),
    });
    spans
}

fn position(run: &RunId, generation: Generation, created: &Created) -> RunTrace {
    TraceRoot::new(generation, created.identity(), created.trace).of(run)
}

/// Values that the record that ends an operation does not contain.
#[derive(Default)]
struct Known<'a> {
    /// The latest child of each operation.
    children: BTreeMap<&'a Location, &'a RunId>,
    /// The latest attempt of each step.
    attempts: BTreeMap<&'a Location, u32>,
}

impl<'a> Known<'a> {
    fn of(journal: &'a [Entry]) -> Self {
        let mut known = Self::default();
        for entry in journal {
            match &entry.record.body {
                Body::ChildStarted(child) => {
                    known.children.insert(&child.location, &child.run);
                }
                Body::StepStarted(step) => {
                    known.attempts.insert(&step.location, step.attempt);
                }
                _ => {}
            }
        }
        known
    }
}

/// Returns the span that ends with this line of the timeline, if there is one.
fn operation(trace: &RunTrace, line: &Line, known: &Known<'_>) -> Option<Span> {
    let (location, lasted) = (line.location.as_ref()?, line.duration?);
    let last_attempt = || known.attempts.get(location).copied();
    let attempt = line.attempt.or_else(last_attempt).unwrap_or(1);
    let ending = |kind| trace.ending_with(kind, location, line.number);
    let (kind, id) = match line.kind {
        "step_completed" | "step_failed" | "step_abandoned" | "step_skipped" | "step_edited" => {
            ("step", trace.attempt(location, attempt).span)
        }
        "undo_completed" | "undo_failed" => ("undo", trace.undo(location, attempt).span),
        "child_finished" => {
            let child = known.children.get(location)?;
            ("child", trace.child(location, child).span)
        }
        "wait_completed" | "wait_timed_out" => ("wait", ending("wait")),
        "timer_fired" => ("sleep", ending("sleep")),
        "rpc_completed" => ("rpc", ending("rpc")),
        _ => return None,
    };
    let root = trace.run();
    Some(Span {
        trace: root.trace,
        id,
        parent: Some(root.span),
        of: SpanOf::Operation {
            kind,
            location: location.clone(),
            attempt: line.attempt,
        },
        start: Timestamp::from_millis(line.time.as_millis() - millis(lasted)),
        end: line.time,
        error: line.error.clone(),
    })
}

fn millis(duration: std::time::Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
