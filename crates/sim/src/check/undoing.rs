//! Invariants 22 and 23: what is undone was done, once, the latest first, and a run fails only when nothing is left to undo.

use std::collections::{BTreeMap, BTreeSet};

use everstep_model::record::{ChildOutcome, ForkReason};
use everstep_model::{Body, Entry, Location};

use super::Violation;
use super::journals::Stream;
use crate::workload::{Op, has};

/// Steps and children that can be undone in the order they were done, and those that were undone or passed over.
#[derive(Default)]
struct Undos<'a> {
    done: Vec<&'a Location>,
    over: Vec<&'a Location>,
    undone: usize,
    /// What is done and not undone.
    live: Vec<&'a Location>,
    /// Whether some undo was not of the latest that was live.
    is_out_of_order: bool,
}

impl<'a> Undos<'a> {
    fn done(&mut self, location: &'a Location) {
        self.done.push(location);
        self.live.push(location);
    }

    fn over(&mut self, location: &'a Location) {
        self.is_out_of_order |= self.live.last() != Some(&location);
        self.live.retain(|live| *live != location);
        self.over.push(location);
    }
}

pub(super) fn check(stream: &Stream) -> Vec<Violation> {
    let mut found = Vec::new();
    let mut say = |invariant, what: String| {
        found.push(Violation::of(
            invariant,
            format!("{}: {what}", stream.told()),
        ));
    };
    let Some(Body::Created(created)) = stream.entries.first().map(|e| &e.record.body) else {
        return found;
    };
    let fork = created.forked_from.as_ref().map(|fork| fork.reason);
    let undos = undos_of(&stream.entries);
    let once: BTreeSet<_> = undos.over.iter().collect();
    if once.len() != undos.over.len() {
        say(22, format!("something was undone twice: {:?}", undos.over));
    }
    for location in &undos.over {
        if !undos.done.contains(location) {
            say(22, format!("{location} was undone and was never done"));
        }
    }
    // A fork beside its original leaves the original's steps alone.
    if fork == Some(ForkReason::Fork) {
        return found;
    }
    let program: Vec<Op> = created.input.decode().unwrap_or_default();
    // A rollback of a program's own leaves out what its pass has not come by.
    if undos.is_out_of_order && !has(&program, &|op| *op == Op::RollBack) {
        let (done, over) = (&undos.done, &undos.over);
        say(
            22,
            format!("{done:?} was done, {over:?} undone in this order"),
        );
    }
    if let Some(Body::Failed(end)) = stream.end() {
        if undos.over.len() != undos.done.len() {
            say(
                23,
                format!(
                    "it failed, and of {:?} only {:?} is undone",
                    undos.done, undos.over
                ),
            );
        }
        if end.rolled_back != (undos.undone > 0) {
            say(
                23,
                format!(
                    "{} steps were undone, its end says {}",
                    undos.undone, end.rolled_back
                ),
            );
        }
    }
    found
}

fn undos_of(entries: &[Entry]) -> Undos<'_> {
    let mut can_be_undone = BTreeMap::new();
    let mut undos = Undos::default();
    for entry in entries {
        match &entry.record.body {
            Body::StepStarted(started) => {
                if let Some(options) = &started.options {
                    can_be_undone.insert(&started.location, !options.undo.is_none());
                }
            }
            Body::ChildStarted(started) => {
                can_be_undone.insert(&started.location, !started.undo.is_none());
            }
            Body::StepCompleted(done) if can_be_undone.get(&done.location) == Some(&true) => {
                undos.done(&done.location);
            }
            // What an operator put in its place is undone in its place.
            Body::StepEdited(done) if can_be_undone.get(&done.location) == Some(&true) => {
                undos.done(&done.location);
            }
            // A child that failed has undone itself what it did.
            Body::ChildFinished(child)
                if can_be_undone.get(&child.location) == Some(&true)
                    && matches!(child.outcome, ChildOutcome::Completed(_)) =>
            {
                undos.done(&child.location);
            }
            Body::UndoCompleted(undone) => {
                undos.over(&undone.location);
                undos.undone += 1;
            }
            Body::UndoSkipped(skipped) => undos.over(&skipped.location),
            _ => {}
        }
    }
    undos
}

#[cfg(test)]
mod tests {
    use everstep_model::record::{Failed, StepStarted, UndoCompleted};
    use everstep_model::{ErrorCode, Failure, Record, StepOptions, UndoMode};
    use everstep_store_testkit::sample::{location, step};

    use super::super::support::{FINE, broken, record, stream};
    use super::*;

    fn done(name: &str) -> [Record; 2] {
        let options = StepOptions {
            undo: UndoMode::Undo,
            ..StepOptions::default()
        };
        let started = StepStarted {
            location: location(&format!("{name}:0")),
            attempt: 1,
            options: Some(options),
        };
        [record(started), step(name)]
    }

    fn undone(name: &str) -> [Record; 1] {
        [record(UndoCompleted {
            location: location(&format!("{name}:0")),
            attempt: 1,
            run: None,
        })]
    }

    fn failed() -> [Record; 1] {
        [record(Failed {
            error: Failure::new(ErrorCode::RunFailed, "no"),
            rolled_back: true,
            abandoned: Vec::new(),
            caused_by: Vec::new(),
        })]
    }

    fn found(parts: &[&[Record]]) -> Vec<u8> {
        broken(&check(&stream("a", parts.concat())))
    }

    #[test]
    fn undos_out_of_order_repeated_or_of_nothing_are_found() {
        let (a, b) = (done("a"), done("b"));
        let (not_a, not_b) = (undone("a"), undone("b"));
        assert_eq!(found(&[&a, &b, &not_b, &not_a, &failed()]), FINE);
        assert_eq!(found(&[&a, &b, &not_a, &not_b, &failed()]), [22]);
        assert_eq!(found(&[&a, &not_a, &not_a]), [22, 22]);
        assert_eq!(found(&[&a, &not_b]), [22, 22]);
    }

    #[test]
    fn a_run_that_fails_with_something_left_to_undo_is_found() {
        let (a, b, not_b) = (done("a"), done("b"), undone("b"));
        assert_eq!(found(&[&a, &b, &not_b, &failed()]), [23]);
    }
}
