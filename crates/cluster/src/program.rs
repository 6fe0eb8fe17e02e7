//! Random programs with known results: the result of each operation depends only on the run's ID,
//! the operation's path and the tokens that the client sends, not on time, order or chance.

use everstep::schemars::{self, JsonSchema};
use everstep_engine::simulation::Rng;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) enum Op {
    /// A step that takes a while and succeeds after this number of failures.
    Step { takes_ms: u64, failures: u32 },
    /// A fenced step: its start is durable before it begins.
    Fenced { takes_ms: u64 },
    /// A sleep between two steps that record the true time.
    Sleep { ms: u64 },
    /// A child run that the parent waits for.
    Child(Vec<Op>),
    /// A wait for the client's next token.
    Event,
    /// Parallel sequences.
    Join(Vec<Vec<Op>>),
    /// A loop with one step per iteration. The journal keeps only the last iteration.
    Loop { times: u32 },
}

/// The program of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Program {
    pub(crate) ops: Vec<Op>,
    /// Whether the run fails at the end and undoes its steps.
    pub(crate) fails: bool,
}

/// The expected end of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Completed(Vec<String>),
    Failed,
}

impl Program {
    pub(crate) fn random(rng: &mut Rng) -> Self {
        let len = rng.within(2..7);
        Self {
            ops: (0..len).map(|_| operation(rng, 1)).collect(),
            fails: rng.one_in(8),
        }
    }

    /// Returns the number of tokens that the program waits for.
    pub(crate) fn events(&self) -> u64 {
        self.ops.iter().filter(|op| **op == Op::Event).count() as u64
    }

    /// Computes the expected end of the run.
    pub(crate) fn outcome(&self, run: &str) -> Outcome {
        if self.fails {
            return Outcome::Failed;
        }
        let mut token = 0;
        Outcome::Completed(sequence(run, "r", &self.ops, &mut token))
    }
}

/// Returns the path of an operation within a sequence.
pub(crate) fn location(path: &str, index: usize) -> String {
    format!("{path}.{index}")
}

/// Returns the ID of the child at this path.
pub(crate) fn child_id(run: &str, location: &str) -> String {
    format!("{run}.{location}")
}

/// Returns the result of a step.
pub(crate) fn value(run: &str, location: &str) -> String {
    format!("{run} {location}")
}

fn sequence(run: &str, path: &str, ops: &[Op], token: &mut u64) -> Vec<String> {
    let mut all = Vec::new();
    for (index, op) in ops.iter().enumerate() {
        let location = location(path, index);
        match op {
            Op::Step { .. } | Op::Fenced { .. } => all.push(value(run, &location)),
            Op::Sleep { .. } => {}
            Op::Child(ops) => all.extend(sequence(&child_id(run, &location), "r", ops, &mut 0)),
            Op::Event => {
                *token += 1;
                all.push(format!("token {token}"));
            }
            Op::Join(parts) => {
                for (number, ops) in parts.iter().enumerate() {
                    let path = format!("{location}-{number}");
                    all.extend(sequence(run, &path, ops, &mut 0));
                }
            }
            Op::Loop { times } => all.push(format!("{times} times {location}")),
        }
    }
    all
}

fn operation(rng: &mut Rng, depth: u32) -> Op {
    let quiet = |rng: &mut Rng| (0..rng.within(1..4)).map(|_| simple(rng)).collect();
    match rng.below(12) {
        0 if depth > 0 => Op::Child(quiet(rng)),
        1 if depth > 0 => Op::Join((0..rng.within(2..4)).map(|_| quiet(rng)).collect()),
        2 | 3 if depth > 0 => Op::Event,
        4 => Op::Loop {
            times: u32::try_from(rng.within(2..6)).unwrap_or(2),
        },
        _ => simple(rng),
    }
}

/// Operations for children and parallel sequences, which receive no events.
fn simple(rng: &mut Rng) -> Op {
    match rng.below(8) {
        0 | 1 => Op::Sleep {
            ms: rng.any(&[200, 700, 1_500, 3_000]),
        },
        2 => Op::Fenced {
            takes_ms: rng.any(&[0, 50, 400]),
        },
        _ => Op::Step {
            takes_ms: rng.any(&[0, 0, 5, 50, 400, 1_500]),
            failures: rng.any(&[0, 0, 0, 1, 2]),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_follows_from_the_program_and_the_id() {
        let step = Op::Step {
            takes_ms: 0,
            failures: 2,
        };
        let ops = vec![
            step.clone(),
            Op::Event,
            Op::Child(vec![Op::Sleep { ms: 1 }, step.clone()]),
            Op::Join(vec![vec![step.clone()], vec![]]),
            Op::Event,
            Op::Loop { times: 3 },
        ];
        let program = Program { ops, fails: false };
        let expected = [
            "a r.0",
            "token 1",
            "a.r.2 r.1",
            "a r.3-0.0",
            "token 2",
            "3 times r.5",
        ];
        let expected = expected.map(str::to_owned).to_vec();
        assert_eq!(program.outcome("a"), Outcome::Completed(expected));
        assert_eq!(program.events(), 2);
        let fails = Program {
            fails: true,
            ..program
        };
        assert_eq!(fails.outcome("a"), Outcome::Failed);
    }

    #[test]
    fn only_the_outermost_sequence_waits_for_events() {
        for seed in 0..500 {
            let program = Program::random(&mut Rng::new(seed, 1));
            for op in &program.ops {
                let inner: Vec<&Op> = match op {
                    Op::Child(ops) => ops.iter().collect(),
                    Op::Join(parts) => parts.iter().flatten().collect(),
                    _ => Vec::new(),
                };
                assert!(!inner.contains(&&Op::Event), "{program:?}");
            }
        }
    }
}
