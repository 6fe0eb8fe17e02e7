//! Random workflows: programs as data, and the workflow that runs them and records a trace.
//!
//! A program is a sequence of operations, some of which are joins or loops of further sequences.
//! All calls and results are added to a trace; two executions of one journal must have the same
//! trace.

mod running;

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use everstep::journal::Timestamp;
use everstep::operation::OneOf2;
use everstep::schemars::{self, JsonSchema};
use everstep::{AnyEvent, Ctx, Error, Event, Result, Retry, Rpc, millis};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};

use crate::family::{FamilyOp, family, run_family};
pub(crate) use running::run_program;

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) enum Op {
    /// A step with this name that takes a while and succeeds after a number of failures.
    Step {
        name: u8,
        takes_ms: u16,
        failures: u8,
    },
    /// A step that returns its failure as data.
    TryStep {
        name: u8,
        takes_ms: u16,
    },
    Sleep {
        name: u8,
        ms: u16,
    },
    Wait {
        event: u8,
        timeout_ms: Option<u16>,
    },
    Ask {
        timeout_ms: u16,
    },
    /// A step whose start is durable before it runs.
    Fenced {
        name: u8,
        takes_ms: u16,
    },
    /// A step that is the point of no return.
    Passing {
        name: u8,
        takes_ms: u16,
    },
    /// A best-effort step that fails permanently.
    BestEffort {
        name: u8,
    },
    /// A sleep until a time relative to the last record, possibly in the past.
    SleepUntil {
        name: u8,
        ms: i16,
    },
    /// A step whose undo succeeds after a number of failures.
    Undoable {
        name: u8,
        takes_ms: u16,
        undo_failures: u8,
        internal: bool,
    },
    /// Rolls back and continues.
    RollBack,
    NoReturn,
    /// Fails the whole function permanently.
    Fail,
    /// Fails the whole function in its first pass.
    FailPass,
    Note,
    Row,
    Emit,
    Look,
    Version {
        change: u8,
    },
    Join(Vec<Vec<Op>>),
    /// A loop over a sequence. The journal keeps the last `keep` iterations.
    Loop {
        name: u8,
        times: u8,
        keep: u32,
        body: Vec<Op>,
    },
    /// The first of a step and an event; the other is dropped.
    Either {
        name: u8,
        takes_ms: u16,
        event: u8,
    },
    /// A step whose result takes effect before it is durable.
    Ephemeral {
        name: u8,
        takes_ms: u16,
    },
    /// The first event with any name.
    AnyEvent {
        timeout_ms: u16,
    },
    /// A batch with up to a maximum number of events.
    Batch {
        max: u8,
        timeout_ms: u16,
    },
    /// An event, if one is available.
    TryEvent,
    /// Named branches, of which a limited number run concurrently.
    Branches {
        at_once: u8,
        branches: Vec<Vec<Op>>,
    },
    /// Named branches, of which the first to succeed wins.
    Race(Vec<Vec<Op>>),
    /// One of several branches.
    Switch {
        value: u8,
        cases: Vec<Vec<Op>>,
    },
    /// A scope whose failure is data.
    TryScope(Vec<Op>),
    /// An operation that affects other runs.
    Family(FamilyOp),
}

/// An external occurrence.
#[derive(Clone, Debug)]
pub(crate) enum Happening {
    Send(u8),
    Answer,
    /// The process crashes and another takes over.
    Crash,
}

fn simple() -> impl Strategy<Value = Op> {
    prop_oneof![
        4 => (0u8..3, 0u16..40, prop_oneof![4 => Just(0u8), 1 => 1u8..3])
            .prop_map(|(name, takes_ms, failures)| Op::Step { name, takes_ms, failures }),
        1 => (0u8..3, 0u16..20).prop_map(|(name, takes_ms)| Op::TryStep { name, takes_ms }),
        2 => (0u8..3, 0u16..60).prop_map(|(name, ms)| Op::Sleep { name, ms }),
        2 => (0u8..2, prop_oneof![Just(None), (1u16..80).prop_map(Some)])
            .prop_map(|(event, timeout_ms)| Op::Wait { event, timeout_ms }),
        1 => (1u16..80).prop_map(|timeout_ms| Op::Ask { timeout_ms }),
        1 => (0u8..3, 0u16..20).prop_map(|(name, takes_ms)| Op::Fenced { name, takes_ms }),
        1 => (0u8..3, 0u16..60).prop_map(|(name, takes_ms)| Op::Passing { name, takes_ms }),
        1 => (0u8..3).prop_map(|name| Op::BestEffort { name }),
        1 => (0u8..3, -20i16..40).prop_map(|(name, ms)| Op::SleepUntil { name, ms }),
        3 => (0u8..3, 0u16..30, prop_oneof![3 => Just(0u8), 1 => 1u8..3], any::<bool>())
            .prop_map(|(name, takes_ms, undo_failures, internal)| {
                Op::Undoable { name, takes_ms, undo_failures, internal }
            }),
        1 => Just(Op::RollBack),
        1 => Just(Op::NoReturn),
        1 => Just(Op::Fail),
        1 => Just(Op::FailPass),
        1 => Just(Op::Note),
        1 => Just(Op::Row),
        1 => Just(Op::Emit),
        1 => Just(Op::Look),
        1 => (0u8..2).prop_map(|change| Op::Version { change }),
        1 => (0u8..3, 0u16..40, 0u8..2)
            .prop_map(|(name, takes_ms, event)| Op::Either { name, takes_ms, event }),
        2 => (0u8..3, 0u16..20).prop_map(|(name, takes_ms)| Op::Ephemeral { name, takes_ms }),
        1 => (1u16..80).prop_map(|timeout_ms| Op::AnyEvent { timeout_ms }),
        1 => (1u8..4, 1u16..80).prop_map(|(max, timeout_ms)| Op::Batch { max, timeout_ms }),
        1 => Just(Op::TryEvent),
        3 => family().prop_map(Op::Family),
    ]
}

/// Operations made of sequences of operations.
fn composed(sequence: BoxedStrategy<Vec<Op>>) -> impl Strategy<Value = Op> {
    let sequences = proptest::collection::vec(sequence.clone(), 1..4);
    prop_oneof![
        2 => sequences.clone().prop_map(Op::Join),
        2 => (1u8..4, sequences.clone())
            .prop_map(|(at_once, branches)| Op::Branches { at_once, branches }),
        2 => sequences.clone().prop_map(Op::Race),
        1 => (0u8..4, sequences).prop_map(|(value, cases)| Op::Switch { value, cases }),
        1 => sequence.prop_map(Op::TryScope),
    ]
}

fn repeated(body: impl Strategy<Value = Op>) -> impl Strategy<Value = Op> {
    let body = proptest::collection::vec(body, 0..3);
    (0u8..2, 1u8..7, 0u32..3, body).prop_map(|(name, times, keep, body)| Op::Loop {
        name,
        times,
        keep,
        body,
    })
}

pub(crate) fn program() -> impl Strategy<Value = Vec<Op>> {
    let sequence = proptest::collection::vec(simple(), 0..4).boxed();
    let inner_loop = repeated(simple());
    let op = prop_oneof![3 => simple(), 1 => composed(sequence), 1 => inner_loop].boxed();
    let inner = proptest::collection::vec(op.clone(), 0..4).boxed();
    let outer_loop = repeated(op);
    let op = prop_oneof![3 => simple(), 2 => composed(inner), 1 => outer_loop];
    proptest::collection::vec(op, 1..6)
}

pub(crate) fn happenings(crashes: bool) -> impl Strategy<Value = Vec<(u16, Happening)>> {
    let happening = if crashes {
        prop_oneof![
            4 => (0u8..2).prop_map(Happening::Send),
            2 => Just(Happening::Answer),
            2 => Just(Happening::Crash),
        ]
        .boxed()
    } else {
        prop_oneof![4 => (0u8..2).prop_map(Happening::Send), 2 => Just(Happening::Answer)].boxed()
    };
    proptest::collection::vec((0u16..60, happening), 0..10)
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Zero(u32);

impl Event for Zero {
    const NAME: &'static str = "zero";
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct One(u32);

impl Event for One {
    const NAME: &'static str = "one";
}

pub(crate) fn event_name(event: u8) -> &'static str {
    if event == 0 { Zero::NAME } else { One::NAME }
}

#[derive(Serialize, JsonSchema)]
struct Ask;

impl Rpc for Ask {
    const METHOD: &'static str = "ask";
    type Answer = u32;
}

/// The suffix of results in a trace that may take effect before they are durable.
pub(crate) const EARLY: &str = " early";

/// The traces of all executions so far, and how often the work of each step was done.
#[derive(Clone, Default)]
pub(crate) struct Witness(Arc<Mutex<Seen>>);

#[derive(Default)]
struct Seen {
    /// With the pass of the function each belongs to.
    traces: Vec<(u32, Vec<String>)>,
    completed: HashMap<String, u32>,
    attempts: HashMap<String, u32>,
    /// The undone results in order, once per execution of the undo.
    undone: Vec<String>,
}

impl Witness {
    fn begin(&self, pass: u32) -> Trace {
        let mut seen = self.0.lock().unwrap();
        seen.traces.push((pass, Vec::new()));
        Trace {
            witness: self.clone(),
            index: seen.traces.len() - 1,
        }
    }

    pub(crate) fn traces(&self) -> Vec<(u32, Vec<String>)> {
        self.0.lock().unwrap().traces.clone()
    }

    /// Returns how often the work at each location completed.
    pub(crate) fn completions(&self) -> HashMap<String, u32> {
        self.0.lock().unwrap().completed.clone()
    }
}

impl Witness {
    pub(crate) fn undone(&self) -> Vec<String> {
        self.0.lock().unwrap().undone.clone()
    }

    /// Undoes a step by its output. The first `failures` attempts fail.
    pub(crate) fn undo(&self, output: &str, failures: u8) -> Result<()> {
        let mut seen = self.0.lock().unwrap();
        let attempts = seen.attempts.entry(format!("undo {output}")).or_default();
        *attempts += 1;
        if *attempts <= u32::from(failures) {
            return Err(Error::new("it cannot be undone yet"));
        }
        seen.undone.push(output.to_owned());
        Ok(())
    }
}

#[derive(Clone)]
struct Trace {
    witness: Witness,
    index: usize,
}

impl Trace {
    fn saw(&self, what: String) {
        self.witness.0.lock().unwrap().traces[self.index]
            .1
            .push(what);
    }
}
