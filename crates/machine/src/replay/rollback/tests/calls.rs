//! Rollbacks that the code requests: what they include, and how they resolve.

use super::*;

#[test]
fn a_call_includes_what_was_done_when_it_was_made() {
    let mut run = with_two([]);
    let late = run.call("late", UndoMode::Undo);
    let rollback = run.roll_back();
    run.commit();
    let start = run.replay.begin_undo().unwrap();
    assert_eq!(start.location, at("a:0"));
    assert_eq!(run.replay.begin_undo(), None, "one at a time");
    let attempt = run.replay.begin_attempt(late).unwrap();
    run.replay.complete_attempt(late, &attempt, json("3"));
    run.replay.end_undo(&start, UndoEnd::Completed, NOW);
    run.commit();
    let start = run.replay.begin_undo().unwrap();
    assert_eq!(start.location, at("b:0"), "not the one that was done later");
    run.replay.end_undo(&start, UndoEnd::Completed, NOW);
    let (bodies, strict) = run.replay.outgoing().take_records();
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
    assert!(!run.replay.outgoing().is_pending());
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
fn a_call_in_a_later_pass_includes_only_what_that_pass_has_reached() {
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
