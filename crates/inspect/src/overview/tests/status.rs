//! The status of a run.

use super::*;

fn check_status(bodies: impl IntoIterator<Item = Body>, expected: RunStatus) {
    let journal = Journal::created().with_all(bodies);
    let kinds: Vec<_> = journal
        .0
        .iter()
        .map(|entry| entry.record.body.type_name())
        .collect();
    assert_eq!(journal.overview().status(), expected, "{kinds:?}");
}

#[test]
fn a_run_is_queued_until_an_executor_writes() {
    check_status([], RunStatus::Queued);
    check_status([event("early").into()], RunStatus::Queued);
    check_status(
        [Note {
            location: at("__note:0"),
            text: String::new(),
        }
        .into()],
        RunStatus::Running,
    );
}

// B861
#[test]
fn a_run_whose_wait_is_over_is_queued_until_an_executor_writes() {
    let retrying = failed_step("a:0", 1, FailureOutcome::Retrying);
    let answered = RpcAnswered {
        location: at("q:0"),
        rpc_id: asked("q:0", "rpc_1").rpc_id,
        answer: json("1"),
        by: None,
        dedup_id: None,
    };
    let child_ended = ChildFinished {
        location: at("c:0"),
        outcome: ChildOutcome::Completed(json("1")),
        run: None,
    };
    let woken: [[Body; 2]; 6] = [
        [
            sleeping("s:0").into(),
            fired(TimerPurpose::Sleep, Some("s:0"), time(200)).into(),
        ],
        [waiting("w:0", &["go"]).into(), event("go").into()],
        [
            waiting("w:0", &["go"]).into(),
            fired(TimerPurpose::Wait, Some("w:0"), time(500)).into(),
        ],
        [asked("q:0", "rpc_1").into(), answered.into()],
        [child("c:0", false).into(), child_ended.into()],
        [
            retrying.into(),
            fired(TimerPurpose::Retry, Some("a:0"), time(100)).into(),
        ],
    ];
    for bodies in woken {
        check_status(bodies.clone(), RunStatus::Queued);
        let unrelated = [event("other").into(), event("go").into()];
        check_status(
            bodies.clone().into_iter().chain(unrelated),
            RunStatus::Queued,
        );
        let executed = [started("b:0", 1).into()];
        check_status(bodies.into_iter().chain(executed), RunStatus::Running);
    }
}

// B861
#[test]
fn an_inbox_record_that_ends_no_wait_keeps_the_status() {
    check_status(
        [sleeping("s:0").into(), event("go").into()],
        RunStatus::Sleeping,
    );
    check_status(
        [waiting("w:0", &["go"]).into(), event("other").into()],
        RunStatus::Waiting,
    );
    let one_of_two = ["v:0", "w:0"].map(|location| waiting(location, &["go"]).into());
    check_status(
        one_of_two.into_iter().chain([event("go").into()]),
        RunStatus::Waiting,
    );
    check_status(
        [started("a:0", 1).into(), event("go").into()],
        RunStatus::Running,
    );
    check_status(
        [completed_step("a:0", 1, "1").into(), event("go").into()],
        RunStatus::Running,
    );
}

// B862
#[test]
fn the_row_decides_whether_a_run_is_queued() {
    let status_in = |bodies: &[Body], row| {
        let journal = Journal::created().with_all(bodies.iter().cloned());
        journal.overview().status_in(row)
    };
    let at_work = [Body::from(started("a:0", 1))];
    let asleep = [Body::from(sleeping("s:0"))];
    let paused = [Body::from(Paused { reason: None })];
    assert_eq!(status_in(&at_work, RunStatus::Queued), RunStatus::Queued);
    assert_eq!(status_in(&asleep, RunStatus::Queued), RunStatus::Queued);
    assert_eq!(status_in(&[], RunStatus::Running), RunStatus::Running);
    assert_eq!(status_in(&at_work, RunStatus::Sleeping), RunStatus::Running);
    assert_eq!(status_in(&paused, RunStatus::Queued), RunStatus::Paused);
}

#[test]
fn the_status_of_a_suspended_run_is_what_it_waits_for() {
    let retrying = failed_step("a:0", 1, FailureOutcome::Retrying);
    check_status([sleeping("s:0").into()], RunStatus::Sleeping);
    check_status(
        [sleeping("s:0").into(), retrying.clone().into()],
        RunStatus::Retrying,
    );
    check_status(
        [retrying.clone().into(), waiting("w:0", &["e"]).into()],
        RunStatus::Waiting,
    );
    check_status(
        [asked("q:0", "rpc_1").into(), sleeping("s:0").into()],
        RunStatus::Waiting,
    );
    check_status([child("c:0", false).into()], RunStatus::Waiting);
    check_status([child("c:0", true).into()], RunStatus::Running);
    check_status(
        [waiting("w:0", &["e"]).into(), started("a:0", 1).into()],
        RunStatus::Running,
    );
}

// B27
#[test]
fn a_step_in_backoff_makes_the_run_retrying_until_its_timer_fires() {
    let failed = failed_step("a:0", 1, FailureOutcome::Retrying);
    let due = fired(TimerPurpose::Retry, Some("a:0"), time(100));
    check_status([failed.clone().into()], RunStatus::Retrying);
    check_status(
        [failed.clone().into(), due.clone().into()],
        RunStatus::Queued,
    );
    let overview = Journal::created()
        .with(failed)
        .with(due)
        .with(started("a:0", 2))
        .overview();
    let step = overview.step(&at("a:0")).unwrap();
    assert_eq!(
        (step.attempts, step.next_retry_at, step.started_at),
        (2, None, Some(time(3)))
    );
}

#[test]
fn a_timer_of_an_earlier_retry_does_not_affect_the_next() {
    let next = StepFailed {
        retry_at: Some(time(150)),
        ..failed_step("a:0", 2, FailureOutcome::Retrying)
    };
    let journal = Journal::created().with(next);
    let stale = fired(TimerPurpose::Retry, Some("a:0"), time(100));
    assert_eq!(
        journal.clone().with(stale).overview().status(),
        RunStatus::Retrying
    );
    let due = fired(TimerPurpose::Retry, Some("a:0"), time(150));
    assert_eq!(journal.with(due).overview().status(), RunStatus::Queued);
    let stale = fired(TimerPurpose::ExecutionRetry, None, time(299));
    check_status(
        [execution_retried(1).into(), stale.into()],
        RunStatus::Retrying,
    );
}

#[test]
fn a_child_does_not_open_where_something_else_is_open_in_a_later_pass() {
    let overview = Journal::created()
        .with(execution_retried(1))
        .with(waiting("a:0", &["e"]))
        .with(child("a:0", false))
        .overview();
    assert_eq!((overview.waits.len(), overview.children.len()), (1, 0));
}

// B40
#[test]
fn a_run_between_two_passes_is_retrying_despite_open_operations() {
    let open = [waiting("w:0", &["e"]).into(), execution_retried(1).into()];
    check_status(open.clone(), RunStatus::Retrying);
    let timer = fired(TimerPurpose::ExecutionRetry, None, time(300));
    let overview = Journal::created().with_all(open).with(timer).overview();
    assert_eq!(overview.status(), RunStatus::Waiting);
    assert_eq!(overview.execution_attempt, 2);
}

// B40
#[test]
fn the_next_attempt_of_a_run_runs_failed_steps_again_and_keeps_completed_ones() {
    let overview = Journal::created()
        .with(completed_step("a:0", 1, "1"))
        .with(failed_step("b:0", 1, FailureOutcome::Fatal))
        .with(execution_retried(1))
        .with(fired(TimerPurpose::Retry, Some("b:0"), time(100)))
        .with(completed_step("a:0", 2, "2"))
        .with(started("b:0", 2))
        .overview();
    assert_eq!(
        statuses(&overview),
        [StepStatus::Completed, StepStatus::Running]
    );
    assert_eq!(overview.steps[0].result, Some(json("1")));
    assert_eq!(overview.steps[1].attempts, 2);
}

// B148
#[test]
fn a_pause_is_pausing_then_paused_until_it_is_resumed() {
    let resume = ResumeRequested { by: None };
    let paused = Paused { reason: None };
    check_status([pause().into()], RunStatus::Pausing);
    check_status(
        [pause().into(), paused.clone().into(), pause().into()],
        RunStatus::Paused,
    );
    check_status([pause().into(), resume.clone().into()], RunStatus::Queued);
    check_status(
        [pause().into(), paused.into(), resume.into()],
        RunStatus::Queued,
    );
}

// B144
#[test]
fn a_run_paused_in_its_rollback_stays_paused_despite_requests_to_end() {
    let undoing = || {
        let location = at("a:0");
        UndoStarted {
            location,
            attempt: 1,
            run: None,
            ends_run: false,
        }
    };
    let forced = ForcedFailure {
        so_far: None,
        location: None,
        error: failure("enough"),
        by: None,
    };
    for end in [cancel("stop").into(), Body::from(forced)] {
        let bodies = [undoing().into(), pause().into(), end.clone()];
        check_status(bodies, RunStatus::Pausing);
        let rests = Paused { reason: None }.into();
        let rests = [undoing().into(), pause().into(), rests, end];
        check_status(rests.clone(), RunStatus::Paused);
        let resume = ResumeRequested { by: None };
        let goes_on = rests.into_iter().chain([resume.into()]);
        check_status(goes_on, RunStatus::RollingBack);
    }
}

#[test]
fn a_diverged_run_is_parked_until_an_executor_writes_again() {
    check_status(
        [diverged("a:0").into(), event("e").into()],
        RunStatus::Diverged,
    );
    check_status(
        [diverged("a:0").into(), diverged("b:0").into()],
        RunStatus::Diverged,
    );
    check_status(
        [diverged("a:0").into(), started("a:0", 1).into()],
        RunStatus::Running,
    );
}

// B156
#[test]
fn the_first_cancel_request_counts_and_resolves_what_is_open() {
    let overview = Journal::created()
        .with(started("a:0", 1))
        .with(waiting("w:0", &["e"]))
        .with(asked("q:0", "rpc_1"))
        .with(cancel("first"))
        .with(cancel("second"))
        .with(waiting("late:0", &["e"]))
        .overview();
    assert_eq!(overview.status(), RunStatus::Cancelling);
    assert_eq!(overview.ending, Some(EndingView::Cancel(cancel("first"))));
    assert!(overview.waits.is_empty() && overview.rpcs.is_empty());
    assert_eq!(statuses(&overview), [StepStatus::Running]);
}

// B877
#[test]
fn a_request_to_end_a_run_closes_its_operations_after_its_point_of_no_return() {
    let mut play = started("play:0", 1);
    play.options = Some(StepOptions {
        no_return: true,
        ..StepOptions::default()
    });
    let passed = DeadlinePassed { deadline: time(9) };
    let forced = ForcedFailure {
        location: None,
        error: failure("enough"),
        by: None,
        so_far: None,
    };
    let requests: [Body; 3] = [cancel("now").into(), passed.into(), forced.into()];
    for request in requests {
        let held = Journal::created()
            .with(play.clone())
            .with(asked("before:0", "rpc_1"))
            .with(request)
            .with(waiting("meanwhile:0", &["e"]));
        let overview = held.overview();
        assert_eq!((overview.rpcs.len(), overview.waits.len()), (1, 1));
        assert!(overview.is_ending(), "a further request changes nothing");
        let over = held.with(completed_step("play:0", 1, "1"));
        let over = over.with(waiting("late:0", &["e"]));
        let overview = over.overview();
        assert!(overview.rpcs.is_empty() && overview.waits.is_empty());
    }
}

// B41
#[test]
fn a_run_past_its_deadline_waits_for_nothing() {
    let passed = DeadlinePassed { deadline: time(9) };
    check_status(
        [sleeping("s:0").into(), passed.clone().into()],
        RunStatus::Queued,
    );
    check_status([passed.clone().into()], RunStatus::Queued);
    check_status([passed.into(), cancel("late").into()], RunStatus::Queued);
}

#[test]
fn a_run_rolls_back_whether_it_was_cancelled_before_or_during_the_rollback() {
    let cancel = CancelRequested {
        by: None,
        reason: None,
        rollback: true,
    };
    let undoing = UndoStarted {
        location: at("a:0"),
        attempt: 1,
        run: None,
        ends_run: false,
    };
    let done = Journal::created().with(completed_step("a:0", 1, "1"));
    let cancelled = done.clone().with(cancel.clone());
    assert_eq!(cancelled.overview().status(), RunStatus::Cancelling);
    for rolling_back in [
        cancelled.with(undoing.clone()),
        done.with(undoing).with(cancel),
    ] {
        assert_eq!(rolling_back.overview().status(), RunStatus::RollingBack);
    }
}
