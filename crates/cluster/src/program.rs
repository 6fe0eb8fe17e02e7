//! Random programs whose results are known before they run: what each operation gives follows from the run's id, its place
//! and what the client sends, never from time, order or luck.

use everstep_sim::rng::Rng;
use serde::{Deserialize, Serialize};

/// An operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Op {
    /// A step that takes a while and fails so often before it works.
    Step { takes_ms: u64, failures: u32 },
    /// A step whose start is durable before it begins.
    Fenced { takes_ms: u64 },
    /// A sleep between two steps that look at the true clock.
    Sleep { ms: u64 },
    /// A run of its own, which is waited for.
    Child(Vec<Op>),
    /// The next token that the client sends.
    Event,
    /// Sequences at once.
    Join(Vec<Vec<Op>>),
    /// A step so many times, of which the journal keeps the last.
    Loop { times: u32 },
}

/// What a run does, and whether all of it is undone in the end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Program {
    pub(crate) ops: Vec<Op>,
    /// Fails when it is through, and undoes its steps.
    pub(crate) fails: bool,
}

/// How a run must end.
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

    /// How many tokens it waits for.
    pub(crate) fn events(&self) -> u64 {
        self.ops.iter().filter(|op| **op == Op::Event).count() as u64
    }

    /// How its run must end.
    pub(crate) fn outcome(&self, run: &str) -> Outcome {
        if self.fails {
            return Outcome::Failed;
        }
        let mut token = 0;
        Outcome::Completed(sequence(run, "r", &self.ops, &mut token))
    }
}

/// Where the operation of this number in a sequence stands.
pub(crate) fn place(path: &str, index: usize) -> String {
    format!("{path}.{index}")
}

/// The id of the child at a place.
pub(crate) fn child_id(run: &str, place: &str) -> String {
    format!("{run}.{place}")
}

/// What a step gives.
pub(crate) fn value(run: &str, place: &str) -> String {
    format!("{run} {place}")
}

fn sequence(run: &str, path: &str, ops: &[Op], token: &mut u64) -> Vec<String> {
    let mut all = Vec::new();
    for (index, op) in ops.iter().enumerate() {
        let place = place(path, index);
        match op {
            Op::Step { .. } | Op::Fenced { .. } => all.push(value(run, &place)),
            Op::Sleep { .. } => {}
            Op::Child(ops) => all.extend(sequence(&child_id(run, &place), "r", ops, &mut 0)),
            Op::Event => {
                *token += 1;
                all.push(format!("token {token}"));
            }
            Op::Join(parts) => {
                for (number, ops) in parts.iter().enumerate() {
                    let path = format!("{place}-{number}");
                    all.extend(sequence(run, &path, ops, &mut 0));
                }
            }
            Op::Loop { times } => all.push(format!("{times} times {place}")),
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

/// What may stand in children and side by side: nobody sends events there.
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
    fn events_are_waited_for_in_the_outermost_sequence_alone() {
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
