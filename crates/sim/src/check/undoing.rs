//! Invariants 22 and 23: only completed steps are undone, once, the latest first, and a run fails
//! only when nothing is left to undo.

use std::collections::{BTreeMap, BTreeSet};

use everstep_model::record::{ChildOutcome, ForkReason};
use everstep_model::{Body, Location, RecordNumber, RunId, UndoMode};

use crate::observed::{Stream, Violation};
use crate::program::{Op, has};

/// A step, or one of the children that passes of the function started at a location.
type Subject<'a> = (&'a Location, Option<&'a RunId>);

/// Something that is done and not undone.
#[derive(Clone, Copy)]
struct Live<'a> {
    what: Subject<'a>,
    /// The record of its completion.
    number: RecordNumber,
    /// The pass of the function that did it.
    pass: usize,
    /// Whether an undo had started before it was done.
    is_late: bool,
}

/// Steps and children that can be undone, in the order in which they were done, and those that were
/// undone or skipped.
#[derive(Default)]
struct Undos<'a> {
    done: Vec<Subject<'a>>,
    over: Vec<Subject<'a>>,
    undone: usize,
    live: Vec<Live<'a>>,
    /// Steps that were done after one whose undo has started, and were not undone.
    passed_by: Vec<Live<'a>>,
    /// Whether something was undone that was not done at that time.
    undid_nothing: bool,
    started: BTreeSet<Subject<'a>>,
    /// Whether the run has passed its point of no return.
    no_return: bool,
    /// What was undone after that although its undo is not internal.
    forbidden: Vec<Subject<'a>>,
    pass: usize,
    /// The start of the executor's last commit, and of the one before.
    commits: (RecordNumber, RecordNumber),
}

impl<'a> Undos<'a> {
    fn done(&mut self, what: Subject<'a>, number: RecordNumber) {
        self.done.push(what);
        self.live.push(Live {
            what,
            number,
            pass: self.pass,
            is_late: !(self.started.is_empty() && self.over.is_empty()),
        });
    }

    /// When an undo starts, everything that was done later must be undone. The end of a child comes
    /// through the inbox; the executor has certainly folded it once it has written something after
    /// it.
    fn begins(&mut self, what: Subject<'a>) {
        self.started.insert(what);
        let (_, before) = self.commits;
        let is_folded = |live: &&Live<'_>| live.what.1.is_none() || live.number < before;
        let later = self.live.iter().rev().take_while(|live| live.what != what);
        self.passed_by.extend(later.filter(is_folded));
    }

    fn over(&mut self, what: Subject<'a>) {
        if !self.started.contains(&what) {
            self.begins(what);
        }
        self.undid_nothing |= self.live.iter().all(|live| live.what != what);
        self.live.retain(|live| live.what != what);
        self.over.push(what);
    }

    /// Whether the order is wrong. An explicit rollback of the program undoes what its pass has
    /// done when it calls it.
    fn is_out_of_order(&self, program: &[Op]) -> bool {
        let is_left_out = |live: &Live<'_>| live.is_late || live.pass < self.pass;
        let is_passed_by = match rolls_back(program) {
            RollsBack::Never => !self.passed_by.is_empty(),
            RollsBack::Alone => !self.passed_by.iter().all(is_left_out),
            RollsBack::Beside => false,
        };
        is_passed_by || self.undid_nothing
    }
}

/// How a program rolls back explicitly.
enum RollsBack {
    Never,
    Alone,
    /// Other branches continue meanwhile, and may complete steps before the first undo completes.
    Beside,
}

fn rolls_back(program: &[Op]) -> RollsBack {
    let is_rollback = |op: &Op| *op == Op::RollBack;
    let is_beside = |op: &Op| {
        let branches = matches!(op, Op::Join(_) | Op::Each { .. } | Op::Race(_));
        branches && op.parts().into_iter().any(|part| has(part, &is_rollback))
    };
    match has(program, &is_rollback) {
        false => RollsBack::Never,
        true if has(program, &is_beside) => RollsBack::Beside,
        true => RollsBack::Alone,
    }
}

pub(super) fn check(stream: &Stream) -> Vec<Violation> {
    let mut found = Vec::new();
    let Some(created) = stream.creation() else {
        return found;
    };
    let fork = created.forked_from.as_ref().map(|fork| fork.reason);
    let undos = undos_of(stream);
    let once: BTreeSet<_> = undos.over.iter().collect();
    if once.len() != undos.over.len() {
        found.push(stream.violation(22, format!("something was undone twice: {:?}", undos.over)));
    }
    for what in &undos.over {
        if !undos.done.contains(what) {
            found.push(stream.violation(22, format!("{what:?} was undone and was never done")));
        }
    }
    if !undos.forbidden.is_empty() {
        let what = format!("undone after the point of no return: {:?}", undos.forbidden);
        found.push(stream.violation(22, what));
    }
    // A fork does not undo the steps of its original.
    if fork == Some(ForkReason::Fork) {
        return found;
    }
    let program: Vec<Op> = created.input.decode().unwrap_or_default();
    if undos.is_out_of_order(&program) {
        let (done, over) = (&undos.done, &undos.over);
        found.push(stream.violation(
            22,
            format!("{done:?} was done, {over:?} undone in this order"),
        ));
    }
    if let Some(Body::Failed(end)) = stream.end() {
        if !undos.live.is_empty() {
            found.push(stream.violation(
                23,
                format!(
                    "it failed, and of {:?} only {:?} is undone",
                    undos.done, undos.over
                ),
            ));
        }
        if end.rolled_back != (undos.undone > 0) {
            found.push(stream.violation(
                23,
                format!(
                    "{} steps were undone, and its end has rolled_back = {}",
                    undos.undone, end.rolled_back
                ),
            ));
        }
    }
    found
}

fn undos_of(stream: &Stream) -> Undos<'_> {
    let mut modes: BTreeMap<Subject<'_>, UndoMode> = BTreeMap::new();
    // Steps that are the point of no return, by their options, and not by the records that say that
    // it was passed.
    let mut no_return: BTreeSet<&Location> = BTreeSet::new();
    let mut undos = Undos::default();
    let passed_before = stream.creation().is_some_and(|created| created.no_return);
    for (index, entry) in stream.entries.iter().enumerate() {
        let number = entry.number;
        // Copied records may be older than the point of no return.
        undos.no_return |= passed_before && index >= stream.copied;
        if stream.commits.contains(&number) {
            undos.commits = (number, undos.commits.0);
        }
        let mode_of = |what: Subject<'_>| modes.get(&what).copied().unwrap_or_default();
        let is_undoable = |what| !mode_of(what).is_none();
        match &entry.record.body {
            Body::NoReturn(_) => undos.no_return = true,
            Body::StepCompleted(done) => undos.no_return |= no_return.contains(&done.location),
            Body::StepEdited(done) => undos.no_return |= no_return.contains(&done.location),
            Body::UndoStarted(started) if undos.no_return => {
                let what = (&started.location, started.run.as_ref());
                if mode_of(what) != UndoMode::Internal {
                    undos.forbidden.push(what);
                }
            }
            _ => {}
        }
        match &entry.record.body {
            Body::StepStarted(started) => {
                if let Some(options) = &started.options {
                    let step = (&started.location, None);
                    modes.insert(step, options.undo);
                    if options.no_return {
                        no_return.insert(&started.location);
                    }
                }
            }
            Body::ChildStarted(started) => {
                let child = (&started.location, Some(&started.run));
                modes.insert(child, started.undo);
            }
            Body::StepCompleted(done) if is_undoable((&done.location, None)) => {
                undos.done((&done.location, None), number);
            }
            // A result that an operator provided is undone like the original one.
            Body::StepEdited(done) if is_undoable((&done.location, None)) => {
                undos.done((&done.location, None), number);
            }
            // A child that failed has undone its own steps.
            Body::ChildFinished(child)
                if is_undoable((&child.location, child.run.as_ref()))
                    && matches!(child.outcome, ChildOutcome::Completed(_)) =>
            {
                undos.done((&child.location, child.run.as_ref()), number);
            }
            Body::ExecutionRetried(_) => undos.pass += 1,
            Body::UndoStarted(started) => undos.begins((&started.location, started.run.as_ref())),
            Body::UndoCompleted(undone) => {
                undos.over((&undone.location, undone.run.as_ref()));
                undos.undone += 1;
            }
            Body::UndoSkipped(skipped) => undos.over((&skipped.location, skipped.run.as_ref())),
            _ => {}
        }
    }
    undos
}

#[cfg(test)]
mod tests {
    use everstep_model::record::{
        ChildFinished, ChildStarted, ExecutionRetried, Failed, ParentClose, StepStarted,
        UndoCompleted, UndoStarted,
    };
    use everstep_model::{ErrorCode, Failure, Payload, Record, StepOptions};
    use everstep_store_testkit::sample::{location, name, step};

    use super::*;
    use crate::observed::samples::{FINE, at, broken, record, stream};

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
    fn undos_that_are_unordered_repeated_or_unfounded_are_found() {
        let (a, b) = (done("a"), done("b"));
        let (not_a, not_b) = (undone("a"), undone("b"));
        assert_eq!(found(&[&a, &b, &not_b, &not_a, &failed()]), FINE);
        assert_eq!(found(&[&a, &b, &not_a, &not_b, &failed()]), [22]);
        assert_eq!(found(&[&a, &not_a, &not_a]), [22, 22]);
        assert_eq!(found(&[&a, &not_b]), [22, 22]);
    }

    #[test]
    fn an_undo_after_the_point_of_no_return_is_found() {
        let passed = || {
            let options = StepOptions {
                no_return: true,
                ..StepOptions::default()
            };
            let started = StepStarted {
                location: location("play:0"),
                attempt: 1,
                options: Some(options),
            };
            [record(started), step("play")]
        };
        let begun = [record(UndoStarted {
            location: location("a:0"),
            attempt: 1,
            run: None,
            ends_run: true,
        })];
        let (a, not_a) = (done("a"), undone("a"));
        let (passed, failed) = (passed(), failed());
        assert_eq!(found(&[&a, &passed, &begun, &not_a, &failed]), [22]);
        assert_eq!(found(&[&a, &begun, &passed, &not_a, &failed]), FINE);
    }

    #[test]
    fn an_explicit_rollback_leaves_out_only_later_steps_and_earlier_passes() {
        let (a, b) = (done("a"), done("b"));
        let (not_a, not_b) = (undone("a"), undone("b"));
        let found = |program: &[Op], parts: &[&[Record]]| {
            let mut stream = stream("a", parts.concat());
            let Body::Created(created) = &mut stream.entries[0].record.body else {
                unreachable!("it is the first record");
            };
            created.input = Payload::from_value(program).unwrap();
            broken(&check(&stream))
        };
        let again = [record(ExecutionRetried {
            attempt: 1,
            error: Failure::new(ErrorCode::RunFailed, "no"),
            retry_at: at(1),
        })];
        let alone = [Op::RollBack];
        assert_eq!(found(&alone, &[&a, &b, &not_a, &not_b, &failed()]), [22]);
        assert_eq!(found(&alone, &[&a, &b, &again, &not_a]), FINE);
        let c = done("c");
        let late = [&a[..], &b, &not_b, &c, &not_a];
        assert_eq!(found(&alone, &late), FINE);
        assert_eq!(found(&[], &late), [22]);
        let beside = [Op::Join(vec![vec![Op::RollBack], vec![]])];
        assert_eq!(found(&beside, &[&a, &b, &not_a]), FINE);
    }

    #[test]
    fn two_children_at_one_location_are_undone_once_and_in_order() {
        let child = |run: &str| Some(RunId::new(run).unwrap());
        let started = |run: &str| {
            record(ChildStarted {
                location: location("c:0"),
                run: RunId::new(run).unwrap(),
                workflow: name("leaf"),
                input: Payload::null(),
                tags: Vec::new(),
                deadline: None,
                on_close: ParentClose::Cancel,
                detached: false,
                undo: UndoMode::Undo,
            })
        };
        let ended = |run: &str| {
            record(ChildFinished {
                location: location("c:0"),
                outcome: ChildOutcome::Completed(Payload::null()),
                run: child(run),
            })
        };
        let undone = |run: &str| {
            record(UndoCompleted {
                location: location("c:0"),
                attempt: 1,
                run: child(run),
            })
        };
        let both = [started("x"), ended("x"), started("y"), ended("y")];
        let found = |undos: &[Record], commits: &[u64]| {
            let mut stream = stream("a", [&both[..], undos, &failed()].concat());
            stream.commits = commits.iter().copied().map(RecordNumber).collect();
            broken(&check(&stream))
        };
        let known = [1, 3, 5, 6];
        assert_eq!(found(&[undone("y"), undone("x")], &known), FINE);
        assert_eq!(found(&[undone("y"), undone("y")], &known), [22, 22, 23]);
        assert_eq!(found(&[undone("y")], &known), [23]);
        // `y` ended, and the executor wrote something, before `x` is undone.
        let wrong = [step("other"), undone("x"), undone("y")];
        assert_eq!(found(&wrong, &[1, 3, 5, 6, 7]), [22]);
        assert_eq!(
            found(&wrong, &[1, 3, 5]),
            FINE,
            "the executor may not have folded it"
        );
    }

    #[test]
    fn a_run_that_fails_with_something_left_to_undo_is_found() {
        let (a, b, not_b) = (done("a"), done("b"), undone("b"));
        assert_eq!(found(&[&a, &b, &not_b, &failed()]), [23]);
    }
}
