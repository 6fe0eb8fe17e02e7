//! What must hold for the undos of every random program: each once, in reverse order of completion, and none left out
//! when a run fails.

use std::collections::HashMap;

use everstep::record::ChildOutcome;
use everstep::{Body, Entry, Location, Payload};

use crate::random_program::{Op, Witness};

/// Whether the program has such an operation, at any depth.
pub(crate) fn has(program: &[Op], is_such: &dyn Fn(&Op) -> bool) -> bool {
    program.iter().any(|op| {
        let inside = match op {
            Op::Join(parts)
            | Op::Race(parts)
            | Op::Branches {
                branches: parts, ..
            }
            | Op::Switch { cases: parts, .. } => parts.iter().any(|part| has(part, is_such)),
            Op::TryScope(part) | Op::Loop { body: part, .. } => has(part, is_such),
            _ => false,
        };
        inside || is_such(op)
    })
}

pub(crate) fn rolls_back(op: &Op) -> bool {
    matches!(op, Op::RollBack)
}

/// Steps and children that can be undone, with their results, in the order they were done; and what became of each.
struct Undos {
    done: Vec<(Location, Payload)>,
    /// The places that were undone or passed over, in order.
    over: Vec<Location>,
    /// The results of those that were undone.
    undone: Vec<String>,
}

fn undos_of(history: &[Entry]) -> Undos {
    let mut can_be_undone = HashMap::new();
    let mut children = HashMap::new();
    let mut undos = Undos {
        done: Vec::new(),
        over: Vec::new(),
        undone: Vec::new(),
    };
    for entry in history {
        match &entry.record.body {
            Body::StepStarted(started) => {
                if let Some(options) = started.options {
                    can_be_undone.insert(started.location.clone(), !options.undo.is_none());
                }
            }
            Body::StepCompleted(done) if can_be_undone[&done.location] => {
                undos
                    .done
                    .push((done.location.clone(), done.result.clone()));
            }
            Body::ChildStarted(started) => {
                let child = (!started.undo.is_none()).then(|| started.run.clone());
                children.insert(started.location.clone(), child);
            }
            Body::ChildFinished(finished) => {
                // Of a child without an undo the beginning may be gone with its iteration.
                let child = children.get(&finished.location).cloned().flatten();
                if let ChildOutcome::Completed(result) = &finished.outcome
                    && child.is_some()
                    && child == finished.run
                {
                    // A later pass may have started another in its place: that one counts.
                    undos.done.retain(|(at, _)| *at != finished.location);
                    undos.done.push((finished.location.clone(), result.clone()));
                }
            }
            Body::UndoCompleted(undone) => {
                let done = undos.done.iter().find(|(at, _)| *at == undone.location);
                let (_, result) = done.expect("what is undone was done before");
                undos.undone.push(result.decode().unwrap());
                undos.over.push(undone.location.clone());
            }
            Body::UndoSkipped(skipped) => undos.over.push(skipped.location.clone()),
            _ => {}
        }
    }
    undos
}

/// Compares what was undone with `history`, all that was ever written to the run's journal: what loops have dropped of it
/// counts too.
pub(crate) fn check_undos(program: &[Op], history: &[Entry], witness: &Witness, crashed: bool) {
    let undos = undos_of(history);
    let mut once = undos.over.clone();
    once.sort();
    once.dedup();
    assert_eq!(
        once.len(),
        undos.over.len(),
        "recorded twice: {:?}",
        undos.over
    );
    if let Some(Body::Failed(end)) = history.last().map(|entry| &entry.record.body) {
        assert_eq!(
            undos.over.len(),
            undos.done.len(),
            "something is not undone"
        );
        assert_eq!(end.rolled_back, !undos.undone.is_empty());
    }
    let asks_for_it = has(program, &rolls_back);
    if !asks_for_it {
        let done = undos.done.iter().rev().map(|(location, _)| location);
        let expected: Vec<_> = done.take(undos.over.len()).cloned().collect();
        assert_eq!(undos.over, expected, "not in reverse order of completion");
    }
    let mut happened = witness.undone();
    if crashed {
        // Outside, an undo whose record was lost with its process has happened more than once, but never out of turn.
        happened.dedup();
    }
    assert_eq!(happened, undos.undone);
}
