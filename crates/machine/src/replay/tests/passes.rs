//! Further passes of the function, and version gates in them.

use super::*;

// B180
#[test]
fn a_gate_gives_new_runs_the_latest_version_and_old_ones_the_first() {
    let mut journal = Journal::new();
    let mut run = journal.cold();
    run.turn(NOW);
    assert_eq!(run.version(&Scope::ROOT, &name("tax"), 2, here()), 2);
    assert_eq!(
        run.version(&Scope::ROOT, &name("tax"), 2, here()),
        2,
        "once decided, it stays"
    );
    assert_eq!(journal.commit(&mut run), ["version_chosen"]);
    let mut pinned = journal.cold();
    pinned.turn(NOW);
    assert_eq!(pinned.version(&Scope::ROOT, &name("tax"), 3, here()), 2);

    let mut journal = Journal::new();
    let mut old = journal.cold();
    old.turn(NOW);
    step(&mut old, "charge");
    journal.commit(&mut old);
    let mut gated = journal.cold();
    gated.turn(NOW);
    assert_eq!(gated.version(&Scope::ROOT, &name("tax"), 2, here()), 1);
    assert!(step(&mut gated, "charge").is_some());
    assert_eq!(gated.turn(NOW), Turn::Idle);
    assert!(!gated.outgoing().is_pending());
}

#[test]
fn code_that_is_older_than_the_run_diverges_at_the_gate() {
    let mut journal = Journal::new();
    let mut run = journal.cold();
    run.turn(NOW);
    run.version(&Scope::ROOT, &name("tax"), 3, here());
    journal.commit(&mut run);
    let mut older = journal.cold();
    older.turn(NOW);
    older.version(&Scope::ROOT, &name("tax"), 2, here());
    assert!(diverged(&mut older).contains("follows version 3, this code knows up to 2"));
}

#[test]
fn a_gate_that_an_earlier_pass_passed_keeps_its_version_when_iterations_are_forgotten() {
    let mut journal = Journal::new();
    let mut run = journal.cold();
    run.turn(NOW);
    step(&mut run, "charge");
    journal.commit(&mut run);
    let retried = ExecutionRetried {
        attempt: 1,
        error: Failure::new(ErrorCode::WorkflowFailed, "no"),
        retry_at: NOW,
    };
    let fired = TimerFired {
        purpose: TimerPurpose::ExecutionRetry,
        location: None,
        due: NOW,
    };
    journal.append(&mut run, vec![retried.into(), fired.into()]);
    let mut again = journal.cold();
    assert_eq!(again.turn(NOW), Turn::Start);
    assert_eq!(again.version(&Scope::ROOT, &name("tax"), 2, here()), 1);
    assert_eq!(journal.commit(&mut again), ["version_chosen"]);
    // A replay without the earlier pass, as if that had been in an iteration that was dropped.
    let mut forgetful = Journal::of(journal.0.iter().skip(2).map(|e| e.record.body.clone())).cold();
    assert_eq!(forgetful.turn(NOW), Turn::Start);
    assert_eq!(forgetful.version(&Scope::ROOT, &name("tax"), 2, here()), 1);
}

// B40
#[test]
fn a_new_pass_takes_over_results_and_repeats_the_rest() {
    let mut journal = Journal::of([event("go", "1")]);
    let mut run = journal.cold();
    run.turn(NOW);
    let op = step(&mut run, "charge").unwrap();
    run.turn(NOW);
    let start = begin(&mut run, op);
    run.complete_attempt(op, &start, json("7"));
    journal.commit(&mut run);
    run.turn(NOW);
    wait(&mut run, "go");
    run.turn(NOW);
    step(&mut run, "ship");
    journal.commit(&mut run);
    let retried = ExecutionRetried {
        attempt: 1,
        error: Failure::new(ErrorCode::WorkflowFailed, "no"),
        retry_at: NOW,
    };
    journal.append(&mut run, vec![retried.into()]);

    let mut again = journal.cold();
    assert_eq!(again.turn(NOW), Turn::Idle, "it waits for its timer");
    assert_eq!(again.status().suspended(), RunStatus::Retrying);
    let timer = TimerFired {
        purpose: TimerPurpose::ExecutionRetry,
        location: None,
        due: NOW,
    };
    journal.append(&mut again, vec![timer.into()]);
    assert_eq!(again.turn(NOW), Turn::Start);
    assert_eq!(again.run().pass, 2);
    let charge = step(&mut again, "charge").unwrap();
    assert_eq!(
        again.turn(NOW),
        Turn::Resolved(charge, Resolution::Completed(json("7")))
    );
    let go = wait(&mut again, "go");
    assert!(
        matches!(again.turn(NOW), Turn::Resolved(op, Resolution::Events(events)) if op == go && events.len() == 1)
    );
    let ship = step(&mut again, "ship").unwrap();
    assert_eq!(again.turn(NOW), Turn::Idle);
    assert_eq!(begin(&mut again, ship).attempt, 2);
}
