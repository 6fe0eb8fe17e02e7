//! Random workflows as data: the operations of a program and their results. A program determines
//! which results its operations can have, so that a result can be checked afterwards.

use everstep::schemars::{self, JsonSchema};
use everstep_engine::simulation::Rng;
use serde::{Deserialize, Serialize};

/// How a step is executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum How {
    Plain,
    /// Its start is durable before it runs.
    Fenced,
    /// Its result takes effect before it is durable.
    Ephemeral,
    Undoable,
    /// Its first attempts exceed their timeout and are retried.
    TimesOut,
    /// It fails permanently, and the failure is a result.
    Tried,
    /// It is the point of no return.
    NoReturn,
    /// It fails permanently, and the failure is ignored.
    BestEffort,
}

impl How {
    /// Whether a failure is a result.
    #[must_use]
    pub fn may_fail(self) -> bool {
        matches!(self, Self::Tried | Self::BestEffort)
    }
}

/// An operation of a program.
#[allow(missing_docs, reason = "plain data")]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Op {
    /// A step that takes some time, after a number of failures.
    Step {
        how: How,
        takes_ms: u64,
        failures: u32,
    },
    Sleep {
        ms: u64,
    },
    /// One event with a name.
    Wait {
        pong: bool,
        timeout_ms: u64,
    },
    /// The first event with any name.
    WaitAny {
        timeout_ms: u64,
    },
    /// Up to this number of events at once.
    Batch {
        max: u32,
        timeout_ms: u64,
    },
    /// An event, if there is one.
    TryEvent,
    /// An rpc that a client answers.
    Ask {
        timeout_ms: u64,
    },
    /// A child that takes some time and may fail.
    Child {
        takes_ms: u64,
        fails: bool,
        timeout_ms: Option<u64>,
        undo: bool,
    },
    /// A child whose result is not used.
    Detached {
        takes_ms: u64,
    },
    /// An event to the collector.
    Send,
    Version,
    Note,
    Emit,
    /// Undoes what is done, then continues.
    RollBack,
    NoReturn,
    /// Fails the run permanently.
    Fail,
    /// Fails the first pass of the function.
    FailPass,
    /// Concurrent sequences without names.
    Join(Vec<Vec<Op>>),
    /// Named branches, a number of them at once.
    Each {
        at_once: usize,
        branches: Vec<Vec<Op>>,
    },
    /// Named branches of which the first counts.
    Race(Vec<Vec<Op>>),
    Switch {
        value: usize,
        cases: Vec<Vec<Op>>,
    },
    /// A scope whose failure is a result.
    TryScope(Vec<Op>),
    Loop {
        times: u32,
        keep: u32,
        body: Vec<Op>,
    },
}

/// The result of an operation.
#[allow(missing_docs, reason = "plain data")]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Seen {
    /// The value of a step. None if it failed and the failure is a result.
    Did(Option<String>),
    /// Events, by their tokens.
    Events(Vec<u64>),
    /// An answer, by its token.
    Answer(Option<u64>),
    /// The result of a child.
    Child(Result<Option<u64>, String>),
    Version(u32),
    Nothing,
    /// The results of each sequence.
    All(Vec<Vec<Seen>>),
    /// The branch that counted, and its results.
    One(usize, Vec<Seen>),
    /// The results of a scope, or its failure.
    Scope(Result<Vec<Seen>, String>),
    /// The number of iterations and of operations in them.
    Looped(u32, u32),
}

/// The names of all operations that a campaign must have exercised.
pub const PRIMITIVES: &[&str] = &[
    "step",
    "fenced",
    "ephemeral",
    "undoable",
    "times-out",
    "try-step",
    "best-effort",
    "sleep",
    "wait",
    "wait-any",
    "batch",
    "try-event",
    "ask",
    "child",
    "undoable-child",
    "detached",
    "send",
    "version",
    "note",
    "emit",
    "rollback",
    "no-return",
    "no-return-step",
    "fail",
    "fail-pass",
    "join",
    "each",
    "race",
    "switch",
    "try-scope",
    "loop",
];

impl Op {
    /// Returns the name in [`PRIMITIVES`].
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Step { how, .. } => match how {
                How::Plain => "step",
                How::Fenced => "fenced",
                How::Ephemeral => "ephemeral",
                How::Undoable => "undoable",
                How::TimesOut => "times-out",
                How::Tried => "try-step",
                How::BestEffort => "best-effort",
                How::NoReturn => "no-return-step",
            },
            Self::Sleep { .. } => "sleep",
            Self::Wait { .. } => "wait",
            Self::WaitAny { .. } => "wait-any",
            Self::Batch { .. } => "batch",
            Self::TryEvent => "try-event",
            Self::Ask { .. } => "ask",
            Self::Child { undo: false, .. } => "child",
            Self::Child { undo: true, .. } => "undoable-child",
            Self::Detached { .. } => "detached",
            Self::Send => "send",
            Self::Version => "version",
            Self::Note => "note",
            Self::Emit => "emit",
            Self::RollBack => "rollback",
            Self::NoReturn => "no-return",
            Self::Fail => "fail",
            Self::FailPass => "fail-pass",
            Self::Join(_) => "join",
            Self::Each { .. } => "each",
            Self::Race(_) => "race",
            Self::Switch { .. } => "switch",
            Self::TryScope(_) => "try-scope",
            Self::Loop { .. } => "loop",
        }
    }

    /// Whether it has no result.
    #[must_use]
    pub fn gives_nothing(&self) -> bool {
        matches!(
            self,
            Self::Sleep { .. }
                | Self::Detached { .. }
                | Self::Send
                | Self::Note
                | Self::Emit
                | Self::RollBack
                | Self::NoReturn
                | Self::FailPass
        )
    }

    /// Returns the sequences that it consists of.
    pub fn parts(&self) -> Vec<&[Op]> {
        match self {
            Self::Join(parts)
            | Self::Race(parts)
            | Self::Each {
                branches: parts, ..
            }
            | Self::Switch { cases: parts, .. } => parts.iter().map(Vec::as_slice).collect(),
            Self::TryScope(part) | Self::Loop { body: part, .. } => vec![part],
            _ => Vec::new(),
        }
    }
}

/// Whether a program contains such an operation at any depth.
#[must_use]
pub fn has(program: &[Op], is_such: &dyn Fn(&Op) -> bool) -> bool {
    let inside = |op: &Op| op.parts().into_iter().any(|part| has(part, is_such));
    program.iter().any(|op| is_such(op) || inside(op))
}

/// Returns a random program.
pub(super) fn program(rng: &mut Rng) -> Vec<Op> {
    if rng.one_in(8) {
        return saga(rng);
    }
    let len = rng.within(2..8);
    (0..len).map(|_| operation(rng, 2)).collect()
}

/// Steps and children that can all be undone.
fn saga(rng: &mut Rng) -> Vec<Op> {
    let done = |rng: &mut Rng| match rng.one_in(4) {
        false => Op::Step {
            how: How::Undoable,
            takes_ms: rng.any(&[0, 20, 400]),
            failures: 0,
        },
        // A child that is given up early may complete while others are undone.
        true => Op::Child {
            takes_ms: rng.any(&[0, 400, 3_000]),
            fails: false,
            timeout_ms: rng.one_in(3).then_some(300),
            undo: true,
        },
    };
    let len = rng.within(2..6);
    let mut all: Vec<Op> = (0..len).map(|_| done(rng)).collect();
    if rng.one_in(2) {
        let last = done(rng);
        all.push(Op::Step {
            how: How::NoReturn,
            takes_ms: rng.any(&[0, 400, 2_500, 9_000]),
            failures: rng.any(&[0, 0, 1]),
        });
        all.push(last);
    }
    all.push(Op::Fail);
    all
}

fn sequence(rng: &mut Rng, depth: u32) -> Vec<Op> {
    let len = rng.within(0..4);
    (0..len).map(|_| operation(rng, depth)).collect()
}

fn sequences(rng: &mut Rng, depth: u32) -> Vec<Vec<Op>> {
    let len = rng.within(1..4);
    (0..len).map(|_| sequence(rng, depth)).collect()
}

fn operation(rng: &mut Rng, depth: u32) -> Op {
    if depth > 0 && rng.one_in(4) {
        let depth = depth - 1;
        return match rng.below(7) {
            0 => Op::Join(sequences(rng, depth)),
            1 => Op::Each {
                at_once: rng.index(3) + 1,
                branches: sequences(rng, depth),
            },
            2 => Op::Race(sequences(rng, depth)),
            3 => Op::Switch {
                value: rng.index(4),
                cases: sequences(rng, depth),
            },
            4 => Op::TryScope(sequence(rng, depth)),
            5 => grind(rng),
            _ => Op::Loop {
                times: 1 + rng.below(5) as u32,
                keep: rng.below(3) as u32,
                body: sequence(rng, depth),
            },
        };
    }
    simple(rng)
}

/// Returns a loop that works for a while without a pause, and drops its records.
fn grind(rng: &mut Rng) -> Op {
    let step = Op::Step {
        how: How::Plain,
        takes_ms: rng.any(&[400, 2_500]),
        failures: 0,
    };
    Op::Loop {
        times: 4 + rng.below(8) as u32,
        keep: rng.below(2) as u32,
        body: vec![step],
    }
}

fn simple(rng: &mut Rng) -> Op {
    let timeout_ms = rng.any(&[0, 100, 1_500, 8_000, 20_000]);
    match rng.below(34) {
        0..=11 => step(rng),
        12..=14 => Op::Sleep {
            ms: rng.any(&[0, 3, 500, 2_000, 9_000, 30_000]),
        },
        15..=17 => Op::Wait {
            pong: rng.one_in(2),
            timeout_ms,
        },
        18 => Op::WaitAny { timeout_ms },
        19 => Op::Batch {
            max: 1 + rng.below(3) as u32,
            timeout_ms,
        },
        20 => Op::TryEvent,
        21 => Op::Ask { timeout_ms },
        22..=24 => Op::Child {
            takes_ms: rng.any(&[0, 50, 3_000]),
            fails: rng.one_in(3),
            timeout_ms: rng.one_in(3).then_some(timeout_ms),
            undo: rng.one_in(2),
        },
        25 => Op::Detached {
            takes_ms: rng.any(&[0, 700]),
        },
        26 | 27 => Op::Send,
        28 => Op::Version,
        29 => Op::Note,
        30 => Op::Emit,
        31 => rng
            .pick(&[Op::RollBack, Op::NoReturn])
            .cloned()
            .unwrap_or(Op::RollBack),
        32 if rng.one_in(2) => Op::Fail,
        33 if rng.one_in(2) => Op::FailPass,
        _ => step(rng),
    }
}

fn step(rng: &mut Rng) -> Op {
    let hows = [
        How::Plain,
        How::Plain,
        How::Plain,
        How::Undoable,
        How::Undoable,
        How::Fenced,
        How::Ephemeral,
        How::TimesOut,
        How::Tried,
        How::BestEffort,
        How::NoReturn,
    ];
    Op::Step {
        how: rng.pick(&hows).copied().unwrap_or(How::Plain),
        takes_ms: rng.any(&[0, 0, 1, 20, 400, 2_500]),
        failures: rng.any(&[0, 0, 0, 1, 2]),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn random_programs_use_every_primitive() {
        let mut used = BTreeSet::new();
        for seed in 0..2_000 {
            let program = program(&mut Rng::new(seed, 9));
            let _ = has(&program, &|op| {
                assert!(PRIMITIVES.contains(&op.name()));
                false
            });
            for name in PRIMITIVES {
                if has(&program, &|op| op.name() == *name) {
                    used.insert(*name);
                }
            }
        }
        assert_eq!(used.len(), PRIMITIVES.len());
    }
}
