//! Checks the undos of random programs: each runs once, in reverse order of completion, and none is
//! missing when a run fails.

use std::collections::HashMap;

use everstep::journal::record::ChildOutcome;
use everstep::journal::{Body, Entry, Location};
use everstep::{Payload, RunId};

use crate::program::{Op, Witness};

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

/// A step, or one of the children that were started at a location.
type Subject = (Location, Option<RunId>);

/// Steps and children that can be undone, with their results, in order of completion, and those
/// undone or skipped.
struct Undos {
    done: Vec<(Subject, Payload)>,
    /// Those that were undone or skipped, in order.
    over: Vec<Subject>,
    /// The results of those that were undone.
    undone: Vec<String>,
    /// How many of them were done when the first was undone or skipped. Children may complete
    /// later.
    before_first: Option<usize>,
}

impl Undos {
    fn begin(&mut self) {
        self.before_first.get_or_insert(self.done.len());
    }

    /// Returns the actual and the expected order of undos. Children that completed after the first
    /// undo are left out, because their position is not determined.
    fn orders(&self) -> (Vec<&Subject>, Vec<&Subject>) {
        let known = &self.done[..self.before_first.unwrap_or(0)];
        let is_known = |subject: &&Subject| known.iter().any(|(what, _)| what == *subject);
        let over: Vec<_> = self.over.iter().filter(is_known).collect();
        let latest_first = known.iter().rev().map(|(what, _)| what);
        let expected = latest_first.take(over.len()).collect();
        (over, expected)
    }
}

fn undos_of(history: &[Entry]) -> Undos {
    let mut can_be_undone = HashMap::new();
    let mut children = HashMap::new();
    let mut undos = Undos {
        done: Vec::new(),
        over: Vec::new(),
        undone: Vec::new(),
        before_first: None,
    };
    for entry in history {
        match &entry.record.body {
            Body::StepStarted(started) => {
                if let Some(options) = started.options {
                    can_be_undone.insert(started.location.clone(), !options.undo.is_none());
                }
            }
            Body::StepCompleted(done) if can_be_undone[&done.location] => {
                let step = (done.location.clone(), None);
                undos.done.push((step, done.result.clone()));
            }
            Body::ChildStarted(started) => {
                let child = (started.location.clone(), Some(started.run.clone()));
                children.insert(child, !started.undo.is_none());
            }
            Body::ChildFinished(finished) => {
                // The start of a child without an undo may have been dropped with its iteration.
                let child = (finished.location.clone(), finished.run.clone());
                if let ChildOutcome::Completed(result) = &finished.outcome
                    && children.get(&child) == Some(&true)
                {
                    undos.done.push((child, result.clone()));
                }
            }
            Body::UndoStarted(_) => undos.begin(),
            Body::UndoCompleted(undone) => {
                let subject = (undone.location.clone(), undone.run.clone());
                let done = undos.done.iter().find(|(what, _)| *what == subject);
                let (_, result) = done.expect("what is undone was done before");
                undos.undone.push(result.decode().unwrap());
                undos.over.push(subject);
            }
            Body::UndoSkipped(skipped) => {
                undos.begin();
                let subject = (skipped.location.clone(), skipped.run.clone());
                undos.over.push(subject);
            }
            _ => {}
        }
    }
    undos
}

/// Compares the undos with `history`, which contains every record ever written to the run's
/// journal, including those that loops dropped.
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
    if !has(program, &rolls_back) {
        let (over, expected) = undos.orders();
        assert_eq!(over, expected, "not in reverse order of completion");
    }
    let mut happened = witness.undone();
    if crashed {
        // An undo whose record was lost in the crash ran more than once, but never out of order.
        happened.dedup();
    }
    assert_eq!(happened, undos.undone);
}
