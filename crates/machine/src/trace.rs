//! The journal as a trace: the run is the root span, and under it hangs one span for every attempt of a step, every undo, and
//! everything the run waited for.
//!
//! Ids follow from the run and the place, so a step's work can say where it belongs long before its span is written, and a
//! journal read twice, by whomever, gives the same trace.

use std::collections::BTreeMap;

use everstep_model::record::Created;
use everstep_model::{
    Body, Entry, Failure, Generation, Location, Name, RunId, RunStatus, Seed, SpanId, Timestamp,
    TraceId, TraceParent,
};

use crate::timeline::{Line, timeline};

/// What a run's place in a trace follows from, together with its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceRoot {
    generation: Generation,
    identity: Seed,
    above: Option<TraceParent>,
}

impl TraceRoot {
    /// That of a life of a run.
    #[must_use]
    pub fn new(generation: Generation, identity: Seed, above: Option<TraceParent>) -> Self {
        Self {
            generation,
            identity,
            above,
        }
    }

    fn of_created(generation: Generation, created: &Created) -> Self {
        Self::new(generation, created.identity(), created.trace)
    }

    /// The place itself: in the trace of whoever started the run, or in one of its own.
    #[must_use]
    pub fn of(self, run: &RunId) -> RunTrace {
        let identity = self.identity.0.to_be_bytes();
        let life = self.generation.0.to_be_bytes();
        let own: [&[u8]; 3] = [run.as_str().as_bytes(), &identity, &life];
        let above = self.above;
        RunTrace {
            trace: above.map_or_else(|| TraceId::of(&own), |above| above.trace),
            root: SpanId::of(&own),
            parent: above.map(|above| above.span),
        }
    }
}

/// Where a run and its operations stand in a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunTrace {
    trace: TraceId,
    root: SpanId,
    parent: Option<SpanId>,
}

impl RunTrace {
    /// The root span, for what hangs under the run as a whole.
    #[must_use]
    pub fn run(&self) -> TraceParent {
        self.below(self.root)
    }

    /// An attempt of a step, for what its work does.
    #[must_use]
    pub fn attempt(&self, step: &Location, attempt: u32) -> TraceParent {
        self.below(self.id("step", step, &attempt.to_be_bytes()))
    }

    /// An attempt to undo a step or child, for what its work does.
    #[must_use]
    pub fn undo(&self, step: &Location, attempt: u32) -> TraceParent {
        self.below(self.id("undo", step, &attempt.to_be_bytes()))
    }

    /// A child that the run waits for, for the child's own trace.
    #[must_use]
    pub fn child(&self, at: &Location, child: &RunId) -> TraceParent {
        self.below(self.id("child", at, child.as_str().as_bytes()))
    }

    fn below(&self, span: SpanId) -> TraceParent {
        TraceParent {
            trace: self.trace,
            span,
        }
    }

    fn id(&self, what: &str, at: &Location, which: &[u8]) -> SpanId {
        SpanId::of(&[
            &self.root.0,
            what.as_bytes(),
            at.to_string().as_bytes(),
            which,
        ])
    }
}

/// One span.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    /// Its trace.
    pub trace: TraceId,
    /// Itself.
    pub id: SpanId,
    /// The span above.
    pub parent: Option<SpanId>,
    /// What it shows.
    pub of: SpanOf,
    /// When it began.
    pub start: Timestamp,
    /// When it ended.
    pub end: Timestamp,
    /// Why it ended badly, if it did.
    pub error: Option<Failure>,
}

/// What a span shows.
#[derive(Clone, Debug, PartialEq)]
pub enum SpanOf {
    /// The run.
    Run {
        /// Its workflow.
        workflow: Name,
        /// The version of its code.
        version: u32,
        /// How it ended.
        status: RunStatus,
    },
    /// Something at a place.
    Operation {
        /// What: `step`, `undo`, `wait`, `sleep`, `rpc` or `child`.
        kind: &'static str,
        /// Where.
        location: Location,
        /// The attempt, of steps and undos.
        attempt: Option<u32>,
    },
}

/// The spans of a run that is over; none of one that is not, because a span is told once. What a generation copied from the one
/// before was told with that one.
#[must_use]
pub fn spans(run: &RunId, generation: Generation, journal: &[Entry]) -> Vec<Span> {
    let (Some(first), Some(last)) = (journal.first(), journal.last()) else {
        return Vec::new();
    };
    let (Body::Created(created), Some(status)) = (&first.record.body, last.record.body.terminal())
    else {
        return Vec::new();
    };
    let place = TraceRoot::of_created(generation, created).of(run);
    let known = Known::of(journal);
    let lines = timeline(journal);
    let is_own = |line: &&Line| created.forked_from.is_none() || line.time >= first.record.time;
    let operations = lines.iter().filter(is_own);
    let mut spans: Vec<Span> = operations
        .filter_map(|line| operation(&place, line, &known))
        .collect();
    spans.push(Span {
        trace: place.trace,
        id: place.root,
        parent: place.parent,
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

/// What the record that ends something does not say.
#[derive(Default)]
struct Known<'a> {
    /// The child that an operation started last.
    children: BTreeMap<&'a Location, &'a RunId>,
    /// The attempt of a step that began last.
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

/// The span that ends with a line of the timeline, if one does.
fn operation(place: &RunTrace, line: &Line, known: &Known<'_>) -> Option<Span> {
    let (location, lasted) = (line.location.as_ref()?, line.duration?);
    let last_attempt = || known.attempts.get(location).copied();
    let attempt = line.attempt.or_else(last_attempt).unwrap_or(1);
    let number = line.number.0.to_be_bytes();
    let (kind, id) = match line.kind {
        "step_completed" | "step_failed" | "step_abandoned" | "step_skipped" | "step_edited" => {
            ("step", place.attempt(location, attempt).span)
        }
        "undo_completed" | "undo_failed" => ("undo", place.undo(location, attempt).span),
        "child_finished" => {
            let child = known.children.get(location)?;
            ("child", place.child(location, child).span)
        }
        "wait_completed" | "wait_timed_out" => ("wait", place.id("wait", location, &number)),
        "timer_fired" => ("sleep", place.id("sleep", location, &number)),
        "rpc_completed" => ("rpc", place.id("rpc", location, &number)),
        _ => return None,
    };
    Some(Span {
        trace: place.trace,
        id,
        parent: Some(place.root),
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
mod tests {
    use everstep_model::record::*;

    use super::*;
    use crate::overview::samples::{
        Journal, at, completed, completed_step, created, failed_step, started, time,
    };

    fn run() -> RunId {
        RunId::new("r").unwrap()
    }

    fn trace_of(journal: &Journal) -> Vec<Span> {
        spans(&run(), Generation::FIRST, &journal.0)
    }

    #[test]
    fn a_run_is_a_trace_and_each_attempt_a_span_of_it() {
        let journal = Journal::created()
            .with(started("charge:0", 1))
            .with(failed_step("charge:0", 1, FailureOutcome::Retrying))
            .with(started("charge:0", 2))
            .with(completed_step("charge:0", 2, "1"))
            .with(completed());
        let spans = trace_of(&journal);
        let [first, second, root] = &spans[..] else {
            panic!("{spans:#?}");
        };
        let place = TraceRoot::of_created(Generation::FIRST, &created()).of(&run());
        assert_eq!(root.id, place.run().span);
        assert_eq!(
            (root.parent, root.start, root.end),
            (None, time(0), time(5))
        );
        for (span, attempt) in [(first, 1), (second, 2)] {
            assert_eq!(span.id, place.attempt(&at("charge:0"), attempt).span);
            assert_eq!((span.trace, span.parent), (root.trace, Some(root.id)));
        }
        assert!(first.error.is_some() && second.error.is_none());
    }

    #[test]
    fn a_run_that_goes_on_has_no_trace_yet() {
        let journal = Journal::created().with(started("charge:0", 1));
        assert_eq!(trace_of(&journal), []);
    }

    #[test]
    fn a_run_hangs_under_whoever_started_it() {
        let above = TraceRoot::of_created(Generation::FIRST, &created()).of(&run());
        let above = above.child(&at("child:0"), &RunId::new("c").unwrap());
        let child = Created {
            trace: Some(above),
            ..created()
        };
        let spans = trace_of(&Journal::default().with(child).with(completed()));
        assert_eq!(spans[0].trace, above.trace);
        assert_eq!(spans[0].parent, Some(above.span));
    }
}
