//! The rules of rollback, one by one, on journals written by hand. The tests act as code and
//! executor.

mod calls;
mod no_return;
mod own;
mod undoing;

use everstep_model::record::{
    CancelRequested, DeadlinePassed, ExecutionRetried, NoReturn, StepAbandoned, StepCompleted,
    StepEdited, StepFailed, StepSkipped, StepStarted, TimerFired, TimerPurpose, UndoCompleted,
    UndoFailed, UndoSkipped, UndoStarted,
};
use everstep_model::{
    Body, Entry, ErrorCode, Failure, Generation, Location, Name, Record, RecordNumber, RetryPolicy,
    RunId, RunStatus, Scope, StepOptions, Timestamp, UndoMode,
};

use super::{UndoEnd, UndoStart, UndoState};
use crate::replay::{Access, Attempts, CallSite, Halt, OpId, Replay, Resolution, Turn, Written};
use crate::retry::FailureClass;
use everstep_samples::{at, json};

const NOW: Timestamp = Timestamp::from_millis(1_000_000);

const LATER: Timestamp = Timestamp::from_millis(1_005_000);

#[track_caller]
fn here() -> CallSite {
    CallSite::caller()
}

fn stop() -> Failure {
    Failure::new(ErrorCode::WorkflowFailed, "stop")
}

fn undoable(mode: UndoMode) -> StepOptions {
    StepOptions {
        undo: mode,
        ..StepOptions::default()
    }
}

fn created() -> Body {
    everstep_samples::created().into()
}

fn started(location: &str, mode: UndoMode) -> Body {
    StepStarted {
        location: at(location),
        attempt: 1,
        options: Some(undoable(mode)),
    }
    .into()
}

fn completed(location: &str, result: &str) -> Body {
    StepCompleted {
        location: at(location),
        attempt: 1,
        started_at: NOW,
        result: json(result),
        undo: None,
        sensitive: false,
        early: None,
        no_return: false,
    }
    .into()
}

/// An attempt that failed after registering this payload.
fn failed(location: &str, payload: Option<&str>, retry_at: Option<Timestamp>) -> Body {
    let outcome = match retry_at {
        Some(_) => everstep_model::record::FailureOutcome::Retrying,
        None => everstep_model::record::FailureOutcome::Exhausted,
    };
    StepFailed {
        location: at(location),
        attempt: 1,
        started_at: NOW,
        error: stop(),
        outcome,
        retry_at,
        undo: payload.map(json),
        retries_left: None,
    }
    .into()
}

fn undo_started(location: &str, attempt: u32) -> Body {
    let location = at(location);
    UndoStarted {
        location,
        attempt,
        run: None,
        ends_run: false,
    }
    .into()
}

fn undo_completed(location: &str) -> Body {
    UndoCompleted {
        location: at(location),
        attempt: 1,
        run: None,
    }
    .into()
}

fn undo_failed(location: &str, attempt: u32, retry_at: Option<Timestamp>) -> Body {
    UndoFailed {
        location: at(location),
        attempt,
        error: Failure::new(ErrorCode::StepFailed, "no"),
        retry_at,
        run: None,
    }
    .into()
}

fn cancel_requested(rollback: bool) -> Body {
    CancelRequested {
        by: None,
        reason: None,
        rollback,
    }
    .into()
}

impl Replay {
    fn undos_to_run(&self) -> Vec<Location> {
        let log = &self.rollback.log;
        let to_run = log.to_undo().filter(|done| !log.is_passed_over(done));
        to_run.map(|done| done.what.location.clone()).collect()
    }
}

/// An execution, and the journal it reads.
struct Run {
    replay: Replay,
    next: u64,
}

impl Run {
    /// Creates a journal with these records after `created`, with the code at its beginning.
    fn of(bodies: impl IntoIterator<Item = Body>) -> Self {
        let bodies: Vec<Body> = std::iter::once(created()).chain(bodies).collect();
        let next = bodies.len() as u64;
        let id = RunId::new("r").unwrap();
        let mut replay = Replay::new(id, Generation::FIRST, entries(0, bodies));
        assert_eq!(replay.turn(NOW), Turn::Start);
        Self { replay, next }
    }

    fn call(&mut self, step: &str, mode: UndoMode) -> OpId {
        let name = Name::new(step).unwrap();
        let options = undoable(mode);
        let op = self.replay.call(&Scope::ROOT, &name, options, here());
        op.unwrap()
    }

    fn roll_back(&mut self) -> OpId {
        let op = self.replay.call_rollback(&Scope::ROOT, stop(), here());
        op.unwrap()
    }

    fn turn(&mut self) -> Turn {
        self.replay.turn(NOW)
    }

    /// Folds everything that is known, while the code does nothing.
    fn fold_all(&mut self) -> Turn {
        loop {
            match self.turn() {
                Turn::Resolved(..) => {}
                other => return other,
            }
        }
    }

    /// Lets the code return an error, for which the executor ends the run.
    fn end(&mut self) -> Turn {
        let turn = self.turn_of_return();
        self.replay.rollback().end_run(Some(stop()));
        turn
    }

    fn turn_of_return(&mut self) -> Turn {
        // The code returns in a poll that resolved something.
        self.replay.set_access(Access::Allowed);
        self.replay.returned(Some("stop"));
        self.fold_all()
    }

    fn append(&mut self, body: Body) {
        self.replay.extend(entries(self.next, [body]));
        self.next += 1;
    }

    /// Commits what is outgoing, and folds it.
    fn commit(&mut self) -> Vec<String> {
        let bodies: Vec<Body> = self.replay.outgoing().take_records().0.collect();
        let lines = bodies.iter().map(line).collect();
        for body in bodies {
            self.append(body);
        }
        self.fold_all();
        lines
    }

    /// Undoes everything that is to be undone, as an executor does, and returns what was written.
    fn undo_all(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        if !self.replay.status().rollback().is_ending_decided()
            && let Some(first) = self.replay.rollback().announce()
        {
            lines.push(line(&first));
            self.append(first);
            self.fold_all();
        }
        while self.replay.status().rollback().state() == UndoState::Due {
            if let Some(start) = self.replay.begin_undo() {
                self.replay.end_undo(&start, UndoEnd::Completed, NOW);
            }
            lines.extend(self.commit());
        }
        lines
    }
}

fn line(body: &Body) -> String {
    format!("{} {}", body.type_name(), body.location().unwrap())
}

fn entries(from: u64, bodies: impl IntoIterator<Item = Body>) -> Vec<Entry> {
    let numbered = bodies.into_iter().zip(from..);
    let entry = |(body, number)| Entry {
        number: RecordNumber(number),
        record: Record { time: NOW, body },
    };
    numbered.map(entry).collect()
}

/// Steps `a` and `b` were called together, and `b` was done first.
fn two_done() -> Vec<Body> {
    vec![
        started("a:0", UndoMode::Undo),
        started("b:0", UndoMode::Undo),
        completed("b:0", "2"),
        completed("a:0", "1"),
    ]
}

fn with_two(more: impl IntoIterator<Item = Body>) -> Run {
    let mut run = Run::of(two_done().into_iter().chain(more));
    run.call("a", UndoMode::Undo);
    run.call("b", UndoMode::Undo);
    assert!(matches!(run.turn(), Turn::Resolved(..)));
    assert!(matches!(run.turn(), Turn::Resolved(..)));
    run
}

#[test]
fn steps_are_undone_in_reverse_order_of_completion() {
    let mut run = with_two([]);
    assert_eq!(run.end(), Turn::Idle);
    assert_eq!(run.replay.undos_to_run(), [at("a:0"), at("b:0")]);
    assert_eq!(
        run.undo_all(),
        [
            "undo_started a:0",
            "undo_completed a:0",
            "undo_started b:0",
            "undo_completed b:0"
        ]
    );
    assert_eq!(run.replay.status().rollback().state(), UndoState::Over);
    assert!(run.replay.status().has_undone());
}

#[test]
fn steps_without_an_undo_and_steps_an_operator_skipped_are_not_undone_but_edited_ones_are() {
    let settled = |location: &str| (at(location), json("9"));
    let (location, result) = settled("edited:0");
    let edited = StepEdited {
        location,
        result,
        by: None,
        so_far: None,
    };
    let (location, result) = settled("skipped:0");
    let skipped = StepSkipped {
        location,
        result,
        by: None,
        so_far: None,
    };
    let mut run = Run::of([
        started("plain:0", UndoMode::None),
        started("edited:0", UndoMode::Undo),
        started("skipped:0", UndoMode::Undo),
        completed("plain:0", "1"),
        edited.into(),
        skipped.into(),
    ]);
    run.call("plain", UndoMode::None);
    run.call("edited", UndoMode::Undo);
    run.call("skipped", UndoMode::Undo);
    run.fold_all();
    run.end();
    assert_eq!(run.replay.undos_to_run(), [at("edited:0")]);
}

#[test]
fn a_late_result_of_an_abandoned_step_is_undone() {
    let abandoned = StepAbandoned {
        location: at("a:0"),
        so_far: None,
    };
    let mut run = Run::of([
        started("a:0", UndoMode::Undo),
        abandoned.into(),
        completed("a:0", "1"),
    ]);
    let op = run.call("a", UndoMode::Undo);
    run.replay.drop_operation(op);
    run.end();
    assert_eq!(run.replay.undos_to_run(), [at("a:0")]);
}

#[test]
fn a_result_that_lands_after_the_deadline_passed_is_undone() {
    let passed = DeadlinePassed { deadline: NOW };
    let mut run = Run::of([
        started("a:0", UndoMode::Undo),
        passed.into(),
        completed("a:0", "1"),
    ]);
    run.call("a", UndoMode::Undo);
    let Turn::Broken(failure) = run.turn() else {
        panic!("the deadline has passed");
    };
    run.replay.rollback().end_run(Some(*failure));
    assert_eq!(
        run.undo_all(),
        ["undo_started a:0", "undo_completed a:0"],
        "its result was folded first"
    );
    assert_eq!(run.replay.status().steps_in_flight().count(), 0);
}

#[test]
fn a_failed_attempt_that_registered_a_payload_is_undone_and_moves_when_a_later_one_succeeds() {
    let fired = TimerFired {
        purpose: TimerPurpose::Retry,
        location: Some(at("a:0")),
        due: LATER,
    };
    let journal = [
        started("a:0", UndoMode::Undo),
        started("b:0", UndoMode::Undo),
        failed("a:0", Some("7"), Some(LATER)),
        completed("b:0", "2"),
        fired.into(),
    ];
    let start_of = |more: Body| -> (Vec<Location>, UndoStart) {
        let mut run = Run::of(journal.iter().cloned().chain([more]));
        run.call("a", UndoMode::Undo);
        run.call("b", UndoMode::Undo);
        run.fold_all();
        run.end();
        let order = run.replay.undos_to_run();
        let first = run.replay.rollback().announce().unwrap();
        run.append(first);
        run.fold_all();
        (order, run.replay.begin_undo().unwrap())
    };
    let (order, start) = start_of(completed("a:0", "1"));
    assert_eq!(order, [at("a:0"), at("b:0")]);
    assert_eq!(
        (start.output, start.payload),
        (Some(json("1")), Some(json("7")))
    );
    let (order, _) = start_of(failed("a:0", None, None));
    assert_eq!(
        order,
        [at("b:0"), at("a:0")],
        "its failure registered nothing"
    );
    let (order, start) = start_of(failed("a:0", Some("8"), None));
    assert_eq!(order, [at("a:0"), at("b:0")]);
    assert_eq!((start.output, start.payload), (None, Some(json("8"))));
}
