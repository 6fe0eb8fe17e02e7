//! The position of a run and its operations in a trace.
//!
//! Ids follow from the run and the location of the operation, so a step can propagate its span id
//! long before the span is exported, and every reader of the journal computes the same trace.

use everstep_model::{
    Generation, Location, RecordNumber, RunId, Seed, SpanId, TraceId, TraceParent,
};

/// The values that, together with its id, determine a run's position in a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceRoot {
    generation: Generation,
    identity: Seed,
    above: Option<TraceParent>,
}

impl TraceRoot {
    /// Creates a root below `above`, the span that started the run.
    #[must_use]
    pub fn new(generation: Generation, identity: Seed, above: Option<TraceParent>) -> Self {
        Self {
            generation,
            identity,
            above,
        }
    }

    /// Returns the run's position: in the trace that started it, or in a trace of its own.
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

/// The position of a run and its operations in a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunTrace {
    trace: TraceId,
    root: SpanId,
    parent: Option<SpanId>,
}

impl RunTrace {
    /// Returns the span of the run.
    #[must_use]
    pub fn run(&self) -> TraceParent {
        self.below(self.root)
    }

    /// Returns the span of an attempt of a step.
    #[must_use]
    pub fn attempt(&self, step: &Location, attempt: u32) -> TraceParent {
        self.below(self.id("step", step, &attempt.to_be_bytes()))
    }

    /// Returns the span of an attempt to undo a step or child.
    #[must_use]
    pub fn undo(&self, step: &Location, attempt: u32) -> TraceParent {
        self.below(self.id("undo", step, &attempt.to_be_bytes()))
    }

    /// Returns the span of a child that the run waits for, under which the child's own trace
    /// begins.
    #[must_use]
    pub fn child(&self, at: &Location, child: &RunId) -> TraceParent {
        self.below(self.id("child", at, child.as_str().as_bytes()))
    }

    /// Returns the span under which the run was started.
    #[must_use]
    pub fn parent(&self) -> Option<SpanId> {
        self.parent
    }

    /// Returns the span that ends with a record: a wait, sleep or rpc.
    #[must_use]
    pub fn ending_with(&self, kind: &str, at: &Location, record: RecordNumber) -> SpanId {
        self.id(kind, at, &record.0.to_be_bytes())
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
