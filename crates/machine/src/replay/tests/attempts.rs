//! Attempts of steps: when they begin, which of them count, and how they end.

use super::*;

#[test]
fn a_crash_in_the_middle_of_a_step_uses_up_no_retry() {
    let mut journal = Journal::new();
    let mut run = journal.cold();
    run.turn(NOW);
    let op = step(&mut run, "charge").unwrap();
    begin(&mut run, op);
    journal.commit(&mut run);
    for attempt in 2..5 {
        let mut again = journal.cold();
        again.turn(NOW);
        let op = step(&mut again, "charge").unwrap();
        assert_eq!(again.turn(NOW), Turn::Idle);
        let start = begin(&mut again, op);
        assert_eq!((start.attempt, start.failures), (attempt, 0));
        journal.commit(&mut again);
    }
}

#[test]
fn an_attempt_of_another_node_counts_for_an_execution_that_stayed_in_memory() {
    let mut journal = Journal::new();
    let mut stayed = journal.cold();
    stayed.turn(NOW);
    let op = step(&mut stayed, "charge").unwrap();
    journal.commit(&mut stayed);

    let mut other = journal.cold();
    other.turn(NOW);
    let its = step(&mut other, "charge").unwrap();
    assert_eq!(other.turn(NOW), Turn::Idle);
    let start = begin(&mut other, its);
    let error = Failure::new(ErrorCode::StepFailed, "no");
    other.fail_attempt(its, &start, error, FailureClass::Retryable, NOW);
    journal.commit(&mut other);

    let due = NOW.after(Duration::from_secs(1));
    stayed.extend(journal.0.clone());
    let timer = fired(TimerPurpose::Retry, "charge:0", due);
    journal.append(&mut stayed, vec![timer]);
    assert_eq!(stayed.turn(NOW), Turn::Idle);
    let start = begin(&mut stayed, op);
    assert_eq!((start.attempt, start.failures), (3, 1));
    assert_eq!(journal.commit(&mut stayed), ["step_started"]);
}

// B42
#[test]
fn a_failed_attempt_waits_for_its_timer_and_counts() {
    let mut journal = Journal::new();
    let mut run = journal.cold();
    run.turn(NOW);
    let op = step(&mut run, "charge").unwrap();
    let start = begin(&mut run, op);
    let error = Failure::new(ErrorCode::StepFailed, "no");
    run.fail_attempt(op, &start, error, FailureClass::Retryable, NOW);
    journal.commit(&mut run);
    assert_eq!(run.turn(NOW), Turn::Idle);
    assert_eq!(run.begin_attempt(op), None, "it waits");
    assert_eq!(run.status().suspended(), RunStatus::Retrying);
    let due = NOW.after(Duration::from_secs(1));
    journal.append(&mut run, vec![fired(TimerPurpose::Retry, "charge:0", due)]);
    assert_eq!(run.turn(NOW), Turn::Idle);
    assert!(run.status().startable().eq([op]));
    let start = begin(&mut run, op);
    assert_eq!((start.attempt, start.failures), (2, 1));
}

// B16
#[test]
fn options_recorded_with_the_first_attempt_stay() {
    let mut journal = Journal::new();
    let mut run = journal.cold();
    run.turn(NOW);
    let strict = StepOptions {
        retry: RetryPolicy::NONE,
        ..StepOptions::default()
    };
    run.call(&Scope::ROOT, &name("charge"), strict, here());
    journal.commit(&mut run);
    let mut changed = journal.cold();
    changed.turn(NOW);
    let op = step(&mut changed, "charge").unwrap();
    assert_eq!(changed.turn(NOW), Turn::Idle);
    assert_eq!(begin(&mut changed, op).options, strict);
}

#[test]
fn a_fenced_step_begins_only_after_its_start_is_durable() {
    let fenced = StepOptions {
        fenced: true,
        ..StepOptions::default()
    };
    let mut journal = Journal::new();
    let mut run = journal.cold();
    run.turn(NOW);
    let op = run
        .call(&Scope::ROOT, &name("charge"), fenced, here())
        .unwrap();
    for attempt in 1..3 {
        assert_eq!(run.begin_attempt(op), None);
        let (bodies, strict) = run.outgoing().take_records();
        let bodies = bodies.collect();
        assert!(strict, "the start is written at once");
        journal.append(&mut run, bodies);
        assert_eq!(run.turn(NOW), Turn::Idle);
        let start = begin(&mut run, op);
        assert_eq!(start.attempt, attempt);
        let error = Failure::new(ErrorCode::StepFailed, "no");
        run.fail_attempt(
            op,
            &start,
            error,
            FailureClass::RetryAfter(Duration::ZERO),
            NOW,
        );
        journal.commit(&mut run);
        journal.append(&mut run, vec![fired(TimerPurpose::Retry, "charge:0", NOW)]);
        assert_eq!(run.turn(NOW), Turn::Idle);
    }
}

#[test]
fn a_fenced_step_whose_start_became_durable_during_a_pause_begins_after_the_pause() {
    let fenced = StepOptions {
        fenced: true,
        ..StepOptions::default()
    };
    let mut journal = Journal::new();
    let mut run = journal.cold();
    run.turn(NOW);
    let op = run
        .call(&Scope::ROOT, &name("charge"), fenced, here())
        .unwrap();
    let pause = PauseRequested {
        by: None,
        reason: None,
    };
    journal.append(&mut run, vec![pause.into()]);
    assert_eq!(run.turn(NOW), Turn::Pausing);
    assert_eq!(run.begin_attempt(op), None);
    // The outgoing records are written together with the pause.
    journal.commit(&mut run);
    journal.append(&mut run, vec![Paused { reason: None }.into()]);
    let resumed = ResumeRequested { by: None };
    journal.append(&mut run, vec![resumed.into()]);
    assert_eq!(run.turn(NOW), Turn::Idle);
    assert_eq!(begin(&mut run, op).attempt, 1);
    assert_eq!(run.outgoing().take_records().0.count(), 0);
}

#[test]
fn an_attempt_that_another_executor_began_is_not_begun_again() {
    let mut journal = Journal::new();
    let mut run = journal.cold();
    run.turn(NOW);
    let op = step(&mut run, "charge").unwrap();
    journal.commit(&mut run);
    let begun = StepStarted {
        location: "charge:0".parse().unwrap(),
        attempt: 2,
        options: None,
    };
    journal.append(&mut run, vec![begun.into()]);
    assert_eq!(run.turn(NOW), Turn::Idle);
    assert_eq!(begin(&mut run, op).attempt, 3);
}

#[test]
fn a_dropped_step_is_recorded_as_abandoned_and_a_late_result_is_ignored() {
    let mut journal = Journal::new();
    let mut run = journal.cold();
    run.turn(NOW);
    let op = step(&mut run, "slow").unwrap();
    let start = begin(&mut run, op);
    run.drop_operation(op);
    run.complete_attempt(op, &start, json("1"));
    assert_eq!(journal.commit(&mut run), ["step_started", "step_abandoned"]);
    assert_eq!(run.turn(NOW), Turn::Idle);
}

#[test]
fn a_discarded_execution_abandons_nothing() {
    let journal = Journal::new();
    let mut run = journal.cold();
    run.turn(NOW);
    let op = step(&mut run, "slow").unwrap();
    drop(run.outgoing().take_records());
    run.set_access(Access::Detached);
    run.drop_operation(op);
    assert!(!run.outgoing().is_pending());
}

#[test]
fn a_fatal_failure_reaches_the_code_with_its_reason() {
    let mut journal = Journal::new();
    let mut run = journal.cold();
    run.turn(NOW);
    let op = step(&mut run, "charge").unwrap();
    let start = begin(&mut run, op);
    run.fail_attempt(
        op,
        &start,
        Failure::new(ErrorCode::StepFailed, "no"),
        FailureClass::Fatal,
        NOW,
    );
    journal.commit(&mut run);
    match run.turn(NOW) {
        Turn::Resolved(_, Resolution::Failed(failure)) => {
            assert_eq!(failure.outcome, FailureOutcome::Fatal);
            assert_eq!(failure.error.attempt, 1);
        }
        other => panic!("{other:?}"),
    }
}
