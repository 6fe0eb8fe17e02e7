//! The rules of rollback, one by one, on journals written by hand, with the test in the place of code and executor.

use std::panic::Location as Caller;

use everstep_model::record::{
    CancelRequested, Created, DeadlinePassed, ExecutionRetried, NoReturn, StepAbandoned,
    StepCompleted, StepEdited, StepFailed, StepSkipped, StepStarted, TimerFired, TimerPurpose,
    UndoCompleted, UndoFailed, UndoSkipped, UndoStarted,
};
use everstep_model::{
    Body, Entry, ErrorCode, Failure, Generation, Location, Name, Payload, Record, RecordNumber,
    RetryPolicy, RunId, RunStatus, Scope, Seed, StepOptions, Timestamp, UndoMode,
};

use super::{UndoStart, UndoState};
use crate::replay::{CallSite, Halt, OpId, Replay, Resolution, Turn};
use crate::retry::FailureClass;

mod own;

const NOW: Timestamp = Timestamp::from_millis(1_000_000);
const LATER: Timestamp = Timestamp::from_millis(1_005_000);

#[track_caller]
fn here() -> CallSite {
    Caller::caller()
}

fn at(place: &str) -> Location {
    place.parse().unwrap()
}

fn json(text: &str) -> Payload {
    Payload::from_json(text.to_owned()).unwrap()
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
    Created {
        workflow: Name::new("w").unwrap(),
        version: 1,
        input: json("null"),
        seed: Seed(1),
        tags: vec![],
        deadline: None,
        execution_retries: None,
        idempotency_key: None,
        parent: None,
        by: None,
        forked_from: None,
        mark: None,
        parent_identity: None,
        trace: None,
    }
    .into()
}

fn started(place: &str, mode: UndoMode) -> Body {
    StepStarted {
        location: at(place),
        attempt: 1,
        options: Some(undoable(mode)),
    }
    .into()
}

fn completed(place: &str, result: &str) -> Body {
    StepCompleted {
        location: at(place),
        attempt: 1,
        started_at: NOW,
        result: json(result),
        undo: None,
        sensitive: false,
        early: None,
    }
    .into()
}

/// An attempt that failed after registering this payload.
fn failed(place: &str, payload: Option<&str>, retry_at: Option<Timestamp>) -> Body {
    let outcome = match retry_at {
        Some(_) => everstep_model::record::FailureOutcome::Retrying,
        None => everstep_model::record::FailureOutcome::Exhausted,
    };
    StepFailed {
        location: at(place),
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

fn undo_started(place: &str, attempt: u32) -> Body {
    let location = at(place);
    UndoStarted {
        location,
        attempt,
        run: None,
    }
    .into()
}

fn undo_completed(place: &str) -> Body {
    UndoCompleted {
        location: at(place),
        attempt: 1,
        run: None,
    }
    .into()
}

fn undo_failed(place: &str, attempt: u32, retry_at: Option<Timestamp>) -> Body {
    UndoFailed {
        location: at(place),
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
        self.to_run()
            .map(|done| done.what.location.clone())
            .collect()
    }
}

/// An execution, and the journal it reads.
struct Run {
    replay: Replay,
    next: u64,
}

impl Run {
    /// Of a journal with these records after `created`, with the code at its beginning.
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
        let op = self.replay.call_step(&Scope::ROOT, &name, options, here());
        op.unwrap()
    }

    fn roll_back(&mut self) -> OpId {
        let op = self.replay.call_rollback(&Scope::ROOT, stop(), here());
        op.unwrap()
    }

    fn turn(&mut self) -> Turn {
        self.replay.turn(NOW)
    }

    /// Folds what is there; the code does nothing more in between.
    fn fold_all(&mut self) -> Turn {
        loop {
            match self.turn() {
                Turn::Resolved(..) => {}
                other => return other,
            }
        }
    }

    /// The code returns an error, and the executor ends the run for it.
    fn end(&mut self) -> Turn {
        let turn = self.turn_of_return();
        self.replay.end_with_rollback(Some(stop()));
        turn
    }

    fn turn_of_return(&mut self) -> Turn {
        // It does so in a poll that resolved something.
        self.replay.restore_calls(true);
        self.replay.returned(Some("stop"));
        self.fold_all()
    }

    fn append(&mut self, body: Body) {
        self.replay.extend(entries(self.next, [body]));
        self.next += 1;
    }

    /// Commits what is outgoing, and folds it.
    fn commit(&mut self) -> Vec<String> {
        let bodies: Vec<Body> = self.replay.take_outgoing().0.collect();
        let lines = bodies.iter().map(line).collect();
        for body in bodies {
            self.append(body);
        }
        self.fold_all();
        lines
    }

    /// Undoes everything that is to be undone, as an executor does, and says what was written.
    fn undo_all(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        if !self.replay.ending_is_decided()
            && let Some(first) = self.replay.announce_rollback()
        {
            lines.push(line(&first));
            self.append(first);
            self.fold_all();
        }
        while self.replay.undo_state() == UndoState::Due {
            if let Some(start) = self.replay.begin_undo() {
                self.replay.complete_undo(&start);
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
fn what_is_done_is_undone_in_reverse_order_of_completion() {
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
    assert_eq!(run.replay.undo_state(), UndoState::Over);
    assert!(run.replay.has_undone());
}

#[test]
fn steps_without_an_undo_and_steps_an_operator_skipped_are_not_undone_but_edited_ones_are() {
    let settled = |place: &str| (at(place), json("9"));
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
fn a_late_result_of_a_step_the_code_gave_up_is_undone() {
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
    run.replay.end_with_rollback(Some(*failure));
    assert_eq!(
        run.undo_all(),
        ["undo_started a:0", "undo_completed a:0"],
        "its result was folded first"
    );
    assert!(run.replay.steps_in_flight().is_empty());
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
        let first = run.replay.announce_rollback().unwrap();
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

#[test]
fn a_takeover_begins_the_next_attempt_and_uses_up_no_retry() {
    let mut run = with_two([undo_started("a:0", 1)]);
    run.end();
    let start = run.replay.begin_undo().unwrap();
    assert_eq!((start.attempt, start.failures), (2, 0));
    let retry = RetryPolicy {
        limit: 1,
        ..RetryPolicy::default()
    };
    run.replay
        .fail_undo(&start, stop(), FailureClass::Retryable, retry, NOW);
    assert_eq!(run.commit(), ["undo_started a:0", "undo_failed a:0"]);
    assert_eq!(run.replay.undo_state(), UndoState::Waiting);
    assert_eq!(run.replay.resting_status(), RunStatus::RollingBack);
}

#[test]
fn an_undo_waits_for_its_own_timer_and_for_no_other() {
    let fired = |purpose, due| -> Body {
        let location = Some(at("a:0"));
        TimerFired {
            purpose,
            location,
            due,
        }
        .into()
    };
    let mut run = with_two([undo_started("a:0", 1), undo_failed("a:0", 1, Some(LATER))]);
    run.end();
    assert_eq!(run.replay.undo_state(), UndoState::Waiting);
    run.append(fired(TimerPurpose::Retry, LATER));
    run.append(fired(TimerPurpose::Undo, NOW));
    run.fold_all();
    assert_eq!(run.replay.begin_undo(), None);
    assert_eq!(run.replay.remaining_rows().len(), 1);
    run.append(fired(TimerPurpose::Undo, LATER));
    run.fold_all();
    let start = run.replay.begin_undo().unwrap();
    assert_eq!((start.attempt, start.failures), (2, 1));
    assert!(run.replay.remaining_rows().is_empty());
}

#[test]
fn an_undo_that_failed_for_good_stops_the_chain() {
    let mut run = with_two([undo_started("a:0", 1), undo_failed("a:0", 1, None)]);
    run.end();
    assert_eq!(run.replay.undo_state(), UndoState::Over);
    assert!(run.replay.undos_to_run().is_empty());
    let failure = run.replay.rollback_failure().unwrap();
    assert!(failure.is(ErrorCode::UndoFailed));
    assert!(!run.replay.has_undone());
}

#[test]
fn a_request_before_the_first_record_of_a_rollback_counts_and_one_after_it_does_not() {
    let mut run = with_two([cancel_requested(true), undo_started("a:0", 1)]);
    run.end();
    assert!(run.replay.cancellation().is_some());
    let passed = DeadlinePassed { deadline: NOW };
    let mut run = with_two([
        undo_started("a:0", 1),
        cancel_requested(true),
        passed.into(),
    ]);
    assert_eq!(run.end(), Turn::Idle, "the deadline changes nothing either");
    assert!(run.replay.cancellation().is_none());
    assert!(run.replay.ending_is_decided());
}

#[test]
fn no_undo_begins_before_the_journal_says_as_what_the_run_ends() {
    let mut run = with_two([]);
    run.end();
    assert_eq!(run.replay.begin_undo(), None);
    let first = run.replay.announce_rollback().unwrap();
    assert_eq!(run.replay.undo_state(), UndoState::InFlight);
    // Something came before it: decided again.
    run.replay.retract_rollback();
    assert_eq!(run.replay.undo_state(), UndoState::Due);
    let again = run.replay.announce_rollback().unwrap();
    assert_eq!(first, again);
    run.append(again);
    run.fold_all();
    let start = run.replay.begin_undo().unwrap();
    assert_eq!(start.attempt, 1, "the announced attempt is the first");
    assert!(run.commit().is_empty(), "and is not announced twice");
}

#[test]
fn a_call_includes_what_was_done_when_it_was_made() {
    let mut run = with_two([]);
    let late = run.call("late", UndoMode::Undo);
    let rollback = run.roll_back();
    run.commit();
    let start = run.replay.begin_undo().unwrap();
    assert_eq!(start.location, at("a:0"));
    assert_eq!(run.replay.begin_undo(), None, "one at a time");
    let attempt = run.replay.begin_attempt(late, NOW).unwrap();
    run.replay.complete_attempt(late, &attempt, json("3"));
    run.replay.complete_undo(&start);
    run.commit();
    let start = run.replay.begin_undo().unwrap();
    assert_eq!(start.location, at("b:0"), "not the one that was done since");
    run.replay.complete_undo(&start);
    let (bodies, strict) = run.replay.take_outgoing();
    let bodies: Vec<Body> = bodies.collect();
    assert!(strict);
    bodies.into_iter().for_each(|body| run.append(body));
    let resolved = Turn::Resolved(rollback, Resolution::RolledBack(None));
    assert_eq!(run.turn(), resolved);
    run.end();
    assert_eq!(run.replay.undos_to_run(), [at("late:0")]);
}

#[test]
fn a_call_with_nothing_to_undo_resolves_at_once_and_writes_nothing() {
    let mut run = Run::of([]);
    let rollback = run.roll_back();
    let resolved = Turn::Resolved(rollback, Resolution::RolledBack(None));
    assert_eq!(run.turn(), resolved);
    assert!(!run.replay.has_outgoing());
}

#[test]
fn a_call_resolves_with_the_failure_of_an_undo_and_so_does_the_next() {
    let mut run = with_two([]);
    let rollback = run.roll_back();
    run.append(undo_started("a:0", 1));
    run.append(undo_failed("a:0", 1, None));
    let Turn::Resolved(op, Resolution::RolledBack(Some(failure))) = run.turn() else {
        panic!("it did not resolve");
    };
    assert_eq!(op, rollback);
    assert!(failure.is(ErrorCode::UndoFailed));
    let again = run.roll_back();
    assert!(matches!(
        run.turn(),
        Turn::Resolved(op, Resolution::RolledBack(Some(_))) if op == again
    ));
}

#[test]
fn after_the_point_of_no_return_internal_undos_alone_run() {
    let no_return = NoReturn {
        location: at("__no_return:0"),
    };
    let mut run = Run::of([
        started("a:0", UndoMode::Internal),
        started("b:0", UndoMode::Undo),
        completed("a:0", "1"),
        completed("b:0", "2"),
        no_return.into(),
    ]);
    run.call("a", UndoMode::Internal);
    run.call("b", UndoMode::Undo);
    assert!(matches!(run.turn(), Turn::Resolved(..)));
    assert!(matches!(run.turn(), Turn::Resolved(..)));
    run.replay.no_return(&Scope::ROOT, here());
    assert_eq!(run.turn(), Turn::Idle);
    run.end();
    assert_eq!(run.replay.undos_to_run(), [at("a:0")]);
    assert_eq!(
        run.undo_all(),
        ["undo_skipped b:0", "undo_started a:0", "undo_completed a:0"]
    );
}

#[test]
fn undos_that_are_recorded_are_not_done_again() {
    let skipped = UndoSkipped {
        location: at("a:0"),
        run: None,
    };
    for over in [undo_completed("a:0"), skipped.into()] {
        let mut run = with_two([undo_started("a:0", 1), over]);
        run.end();
        assert_eq!(run.replay.undos_to_run(), [at("b:0")]);
    }
}

#[test]
fn an_undo_that_the_running_code_did_not_ask_for_is_a_divergence() {
    let mut run = with_two([undo_started("a:0", 1)]);
    let Turn::Halted(Halt::Diverged(divergence)) = run.turn() else {
        panic!("not diverged");
    };
    assert!(divergence.to_string().contains("did not roll back"));
}

#[test]
fn an_undo_is_durable_before_it_begins_if_its_step_was_fenced_or_the_run_ends_processes() {
    for (fenced, cautious) in [(true, false), (false, true), (false, false)] {
        let options = StepOptions {
            fenced,
            ..undoable(UndoMode::Undo)
        };
        let first = StepStarted {
            location: at("a:0"),
            attempt: 1,
            options: Some(options),
        };
        let mut run = Run::of([first.into(), completed("a:0", "1")]);
        run.replay.set_cautious(cautious);
        run.call("a", UndoMode::Undo);
        run.turn();
        run.roll_back();
        let waits = fenced || cautious;
        assert_eq!(run.replay.begin_undo().is_none(), waits);
        assert_eq!(run.commit(), ["undo_started a:0"]);
        if waits {
            assert_eq!(run.replay.begin_undo().unwrap().attempt, 1);
        }
    }
}

#[test]
fn a_dry_execution_undoes_nothing() {
    let mut run = with_two([]);
    run.replay.begin_no_more();
    run.roll_back();
    assert_eq!(run.replay.begin_undo(), None);
    assert!(!run.replay.has_outgoing());
}

#[test]
fn a_call_in_a_later_pass_includes_what_that_pass_has_come_by() {
    let retried = ExecutionRetried {
        attempt: 1,
        error: stop(),
        retry_at: NOW,
    };
    let fired = TimerFired {
        purpose: TimerPurpose::ExecutionRetry,
        location: None,
        due: NOW,
    };
    let mut run = Run::of(two_done().into_iter().chain([retried.into(), fired.into()]));
    run.roll_back();
    assert!(run.replay.undos_to_run().is_empty());
    assert!(matches!(run.turn(), Turn::Resolved(..)));
    run.call("b", UndoMode::Undo);
    assert!(matches!(run.turn(), Turn::Resolved(..)));
    run.roll_back();
    assert_eq!(run.replay.undos_to_run(), [at("b:0")]);
    run.end();
    assert_eq!(run.replay.undos_to_run(), [at("a:0"), at("b:0")]);
}
