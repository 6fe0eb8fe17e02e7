//! Durations: from the record that begins an operation to the one that ends it.

use super::*;

#[test]
fn an_attempt_lasts_from_its_start() {
    let completed = StepCompleted {
        started_at: time(1),
        ..completed_step("charge:0", 2, "5")
    };
    let (start, completed) = (Body::from(started("charge:0", 2)), Body::from(completed));
    check([start.clone()], "Step `charge:0` started (attempt 2)", None);
    check(
        [start.clone(), completed.clone()],
        "Step `charge:0` completed in 1s (attempt 2)",
        Some(1),
    );
    let line = last([start, completed]);
    assert_eq!((line.outcome, line.attempt), (Some(Outcome::Ok), Some(2)));
    assert_eq!(line.payload, Some(json("5")));
}

#[test]
fn an_abandoned_step_shows_its_duration() {
    let abandoned = StepAbandoned {
        so_far: None,
        location: at("a:0"),
    };
    check(
        [
            started("a:0", 1).into(),
            event("x").into(),
            abandoned.into(),
        ],
        "Step `a:0` abandoned after 2s",
        Some(2),
    );
}

#[test]
fn a_sleep_lasts_until_its_timer() {
    let fired = fired(TimerPurpose::Sleep, Some("nap:0"), time(200));
    check(
        [sleeping("nap:0").into()],
        "Sleep `nap:0` began, until 2026-11-15T08:03:20.000Z",
        None,
    );
    check(
        [sleeping("nap:0").into(), fired.into()],
        "Sleep `nap:0` ended after 1s",
        Some(1),
    );
}

#[test]
fn a_wait_lasts_until_its_event_or_timeout() {
    let wait = || Body::from(waiting("w:0", &["yes", "no"]));
    check(
        [wait()],
        "Wait `w:0` began for event `yes` or `no`, until 2026-11-15T08:08:20.000Z",
        None,
    );
    check(
        [wait(), event("yes").into(), took("w:0", &[2]).into()],
        "Wait `w:0` took 1 event after 2s",
        Some(2),
    );
    let given_up = WaitTimedOut {
        location: at("w:0"),
    };
    check(
        [wait(), given_up.into()],
        "Wait `w:0` timed out after 1s",
        Some(1),
    );
    let many = Waiting {
        batch: 5,
        deadline: None,
        ..waiting("w:0", &["yes"])
    };
    check(
        [many.into()],
        "Wait `w:0` began for event `yes`, 5 at once at most",
        None,
    );
}

#[test]
fn an_answer_shows_its_author_and_duration() {
    let answer = RpcAnswered {
        by: Some("bob".to_owned()),
        ..answered("q:0", "rpc_1")
    };
    let over = |timed_out| RpcCompleted {
        location: at("q:0"),
        rpc_id: RpcId("rpc_1".into()),
        timed_out,
        deadline: None,
    };
    let rpc = || Body::from(asked("q:0", "rpc_1"));
    check([rpc()], "Rpc `q:0` requested: `approve` (rpc_1)", None);
    check(
        [rpc(), answer.clone().into()],
        "Rpc `q:0` answered by bob after 1s",
        Some(1),
    );
    check(
        [rpc(), answer.into(), over(false).into()],
        "Rpc `q:0` took its answer after 2s",
        Some(2),
    );
    check(
        [rpc(), over(true).into()],
        "Rpc `q:0` timed out after 1s",
        Some(1),
    );
}

#[test]
fn a_pause_lasts_until_it_is_resumed() {
    let resume = ResumeRequested {
        by: Some("bob".to_owned()),
    };
    let paused = || Body::from(Paused { reason: None });
    check(
        [pause().into()],
        "Pause requested by alice: maintenance",
        None,
    );
    check(
        [paused(), event("x").into(), resume.clone().into()],
        "Resume requested by bob after 2s",
        Some(2),
    );
    check(
        [paused(), Resumed {}.into()],
        "Run resumed after 1s",
        Some(1),
    );
    // The request ended the pause already.
    check(
        [paused(), resume.into(), Resumed {}.into()],
        "Run resumed",
        None,
    );
}

#[test]
fn a_child_lasts_until_it_ends() {
    check(
        [child("c:0", true).into()],
        "Child `c:0` started: run `ship-1` of workflow `ship` (detached)",
        None,
    );
    check(
        [child("c:0", false).into(), child_finished("c:0").into()],
        "Child `c:0` completed after 1s",
        Some(1),
    );
    let failed = ChildFinished {
        outcome: ChildOutcome::Failed(failure("lost")),
        ..child_finished("c:0")
    };
    check([failed.into()], "Child `c:0` failed: lost", None);
}

#[test]
fn branches_last_from_the_beginning_of_their_join() {
    let race = BranchesStarted {
        location: at("fan:0"),
        kind: BranchesKind::Race,
        branches: vec![name("x"), name("y")],
    };
    let won = RaceWon {
        location: at("fan:0"),
        winner: name("x"),
    };
    check(
        [race.clone().into()],
        "Race `fan:0` began with branches `x`, `y`",
        None,
    );
    check(
        [race.into(), won.into()],
        "Race `fan:0` won by branch `x` after 1s",
        Some(1),
    );
}

#[test]
fn an_iteration_lasts_from_its_first_record_or_from_the_one_before_it() {
    let first = [
        Body::from(started("each/~0/a:0", 1)),
        event("x").into(),
        advanced("each:0", 1, false, &[]).into(),
    ];
    check(
        first.clone(),
        "Loop `each:0` finished iteration 0 in 2s",
        Some(2),
    );
    let rest = [
        Body::from(event("x")),
        started("each/~1/a:0", 1).into(),
        advanced("each:0", 1, true, &[]).into(),
    ];
    check(
        first.into_iter().chain(rest),
        "Loop `each:0` ended with iteration 1 in 3s",
        Some(3),
    );
}

#[test]
fn the_end_shows_the_duration_of_the_run() {
    check([completed().into()], "Run completed after 1s", Some(1));
    check(
        [cancel("no").into(), terminated(&["a:0", "b:0"]).into()],
        "Run terminated after 2s: stop; 2 steps abandoned",
        Some(2),
    );
    let cancelled = Cancelled {
        reason: Some("no".to_owned()),
        rolled_back: false,
        abandoned: Vec::new(),
    };
    check([cancelled.into()], "Run cancelled after 1s: no", Some(1));
    let failed = RollbackFailed {
        error: failure("no stock"),
        rollback_error: failure("bank closed"),
        abandoned: Vec::new(),
    };
    check(
        [undo_started("a:0", 1).into(), failed.into()],
        "Run failed after 2s: no stock; its rollback failed after 1s: bank closed",
        Some(2),
    );
}

#[test]
fn each_attempt_of_the_whole_function_is_measured() {
    let due = fired(TimerPurpose::ExecutionRetry, None, time(300));
    check(
        [
            execution_retried(1).into(),
            due.into(),
            event("x").into(),
            execution_retried(2).into(),
        ],
        "Workflow failed after 2s (attempt 2): no luck; it runs again at 2026-11-15T08:05:00.000Z",
        Some(2),
    );
}

#[test]
fn a_clock_that_went_back_gives_no_negative_duration() {
    let mut journal = Journal::created().with(completed());
    journal.0[1].record.time = Timestamp::from_millis(0);
    let line = timeline(&journal.0).pop().unwrap();
    assert_eq!(line.duration, Some(Duration::ZERO));
}
