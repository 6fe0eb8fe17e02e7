//! Which undo is next, when it begins, and what its end means.

use super::*;

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
    let failed = UndoEnd::Failed(stop(), FailureClass::Retryable, retry);
    run.replay.end_undo(&start, failed, NOW);
    assert_eq!(run.commit(), ["undo_started a:0", "undo_failed a:0"]);
    assert_eq!(run.replay.status().rollback().state(), UndoState::Waiting);
    assert_eq!(run.replay.status().suspended(), RunStatus::RollingBack);
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
    assert_eq!(run.replay.status().rollback().state(), UndoState::Waiting);
    run.append(fired(TimerPurpose::Retry, LATER));
    run.append(fired(TimerPurpose::Undo, NOW));
    run.fold_all();
    assert_eq!(run.replay.begin_undo(), None);
    assert_eq!(run.replay.status().remaining_rows().len(), 1);
    run.append(fired(TimerPurpose::Undo, LATER));
    run.fold_all();
    let start = run.replay.begin_undo().unwrap();
    assert_eq!((start.attempt, start.failures), (2, 1));
    assert!(run.replay.status().remaining_rows().is_empty());
}

#[test]
fn an_undo_that_failed_for_good_stops_the_chain() {
    let mut run = with_two([undo_started("a:0", 1), undo_failed("a:0", 1, None)]);
    run.end();
    assert_eq!(run.replay.status().rollback().state(), UndoState::Over);
    assert!(run.replay.undos_to_run().is_empty());
    let failure = run.replay.status().rollback().failure().unwrap();
    assert!(failure.is(ErrorCode::UndoFailed));
    assert!(!run.replay.status().has_undone());
}

#[test]
fn a_request_before_the_first_record_of_a_rollback_counts_and_one_after_it_does_not() {
    let mut run = with_two([cancel_requested(true), undo_started("a:0", 1)]);
    run.end();
    assert!(run.replay.status().cancellation().is_some());
    let passed = DeadlinePassed { deadline: NOW };
    let mut run = with_two([
        undo_started("a:0", 1),
        cancel_requested(true),
        passed.into(),
    ]);
    assert_eq!(run.end(), Turn::Idle, "the deadline changes nothing either");
    assert!(run.replay.status().cancellation().is_none());
    assert!(run.replay.status().rollback().is_ending_decided());
}

#[test]
fn no_undo_begins_before_the_journal_fixes_the_final_status() {
    let mut run = with_two([]);
    run.end();
    assert_eq!(run.replay.begin_undo(), None);
    let first = run.replay.rollback().announce().unwrap();
    assert_eq!(run.replay.status().rollback().state(), UndoState::InFlight);
    // Another record was committed first, so the decision is made again.
    run.replay.rollback().retract();
    assert_eq!(run.replay.status().rollback().state(), UndoState::Due);
    let again = run.replay.rollback().announce().unwrap();
    assert_eq!(first, again);
    run.append(again);
    run.fold_all();
    let start = run.replay.begin_undo().unwrap();
    assert_eq!(start.attempt, 1, "the announced attempt is the first");
    assert!(run.commit().is_empty(), "and is not announced twice");
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
    run.replay.write(&Scope::ROOT, Written::NoReturn, here());
    assert_eq!(run.turn(), Turn::Idle);
    run.end();
    assert_eq!(run.replay.undos_to_run(), [at("a:0")]);
    assert_eq!(
        run.undo_all(),
        ["undo_skipped b:0", "undo_started a:0", "undo_completed a:0"]
    );
}

#[test]
fn recorded_undos_are_not_repeated() {
    let skipped = UndoSkipped {
        location: at("a:0"),
        run: None,
        ends_run: false,
    };
    for over in [undo_completed("a:0"), skipped.into()] {
        let mut run = with_two([undo_started("a:0", 1), over]);
        run.end();
        assert_eq!(run.replay.undos_to_run(), [at("b:0")]);
    }
}

#[test]
fn an_undo_that_the_running_code_did_not_request_is_a_divergence() {
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
        if cautious {
            run.replay.set_attempts(Attempts::Announced);
        }
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
    run.replay.set_attempts(Attempts::Ending);
    run.roll_back();
    assert_eq!(run.replay.begin_undo(), None);
    assert!(!run.replay.outgoing().is_pending());
}
