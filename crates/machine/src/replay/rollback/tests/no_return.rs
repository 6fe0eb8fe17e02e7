//! Steps that are the point of no return: requests to end the run wait for them.

use super::*;

const OPTIONS: StepOptions = StepOptions {
    no_return: true,
    retry: RetryPolicy::NONE,
    timeout: None,
    retry_timeouts: false,
    best_effort: false,
    sensitive: false,
    ephemeral: false,
    fenced: false,
    undo: UndoMode::None,
};

fn play_started(attempt: u32) -> Body {
    StepStarted {
        location: at("play:0"),
        attempt,
        options: (attempt == 1).then_some(OPTIONS),
    }
    .into()
}

fn played() -> Body {
    StepCompleted {
        location: at("play:0"),
        attempt: 1,
        started_at: NOW,
        result: json("1"),
        undo: None,
        sensitive: false,
        early: None,
        no_return: true,
    }
    .into()
}

fn play_failed(code: ErrorCode, retry_at: Option<Timestamp>) -> Body {
    let Body::StepFailed(mut record) = failed("play:0", None, retry_at) else {
        panic!("it is the record of a failure");
    };
    record.error = Failure::new(code, "stop");
    Body::StepFailed(record)
}

/// Step `a` can be undone and is done; `play` has begun, and then these requests came.
fn playing(requests: impl IntoIterator<Item = Body>) -> (Run, OpId) {
    let before = [
        started("a:0", UndoMode::Undo),
        completed("a:0", "1"),
        play_started(1),
    ];
    let mut run = Run::of(before.into_iter().chain(requests));
    run.call("a", UndoMode::Undo);
    assert!(matches!(run.turn(), Turn::Resolved(..)));
    let name = Name::new("play").unwrap();
    let op = run.replay.call(&Scope::ROOT, &name, OPTIONS, here());
    (run, op.unwrap())
}

// B721
#[test]
fn a_cancellation_takes_effect_when_the_step_has_completed() {
    let (mut run, op) = playing([cancel_requested(true)]);
    assert_eq!(run.turn(), Turn::Idle);
    assert!(run.replay.status().cancellation().is_none());
    // The attempt may have been lost with its process, so another one begins.
    assert_eq!(run.replay.status().startable().next(), Some(op));
    run.append(played());
    assert!(matches!(
        run.turn(),
        Turn::Resolved(_, Resolution::Completed(_))
    ));
    assert!(run.replay.status().cancellation().is_some());
    run.end();
    assert_eq!(run.undo_all(), ["undo_skipped a:0"]);
}

// B721
#[test]
fn a_deadline_takes_effect_when_the_step_has_failed_and_leads_to_undos() {
    let passed = DeadlinePassed { deadline: NOW };
    let (mut run, _) = playing([passed.into()]);
    assert_eq!(run.turn(), Turn::Idle);
    run.append(play_failed(ErrorCode::StepFailed, Some(LATER)));
    assert!(matches!(run.turn(), Turn::Broken(_)));
    run.replay.rollback().end_run(Some(stop()));
    assert_eq!(run.undo_all(), ["undo_started a:0", "undo_completed a:0"]);
}

// B721
#[test]
fn an_attempt_that_timed_out_leaves_its_effect_unknown_until_the_next_one_ends() {
    let (mut run, _) = playing([cancel_requested(true)]);
    run.turn();
    run.append(play_failed(ErrorCode::StepTimedOut, Some(LATER)));
    assert_eq!(run.fold_all(), Turn::Idle);
    assert!(run.replay.status().cancellation().is_none());
    run.append(play_failed(ErrorCode::StepTimedOut, None));
    run.fold_all();
    assert!(run.replay.status().cancellation().is_some());
}

// B721
#[test]
fn a_request_before_the_step_has_begun_does_not_wait() {
    let before = [
        started("a:0", UndoMode::Undo),
        completed("a:0", "1"),
        cancel_requested(true),
        play_started(1),
    ];
    let mut run = Run::of(before);
    run.call("a", UndoMode::Undo);
    assert!(matches!(run.turn(), Turn::Resolved(..)));
    let name = Name::new("play").unwrap();
    run.replay
        .call(&Scope::ROOT, &name, OPTIONS, here())
        .unwrap();
    run.turn();
    assert!(run.replay.status().cancellation().is_some());
    assert_eq!(run.replay.status().startable().next(), None);
}

// B720
#[test]
fn the_start_of_the_step_is_durable_before_its_work_begins() {
    let mut run = Run::of([]);
    let name = Name::new("play").unwrap();
    let op = run
        .replay
        .call(&Scope::ROOT, &name, OPTIONS, here())
        .unwrap();
    assert_eq!(run.replay.begin_attempt(op), None);
    assert_eq!(run.commit(), ["step_started play:0"]);
    let start = run.replay.begin_attempt(op).unwrap();
    run.replay.complete_attempt(op, &start, json("1"));
    let (bodies, is_strict) = run.replay.outgoing().take_records();
    assert!(bodies.last().unwrap().passes_no_return() && is_strict);
}
