//! Runs that are queued, at work, or wait for something.

use super::*;

#[test]
fn a_queued_run_waits_for_its_turn() {
    let sentence = "it waits for its turn";
    check([], RunStatus::Queued, &[Reason::Queued], sentence);
}

#[test]
fn a_queued_run_past_its_deadline_shows_both() {
    let passed = Reason::DeadlinePassed { deadline: time(9) };
    check(
        [DeadlinePassed { deadline: time(9) }.into()],
        RunStatus::Queued,
        &[passed, Reason::Queued],
        "it passed its deadline, 2026-11-15T08:00:09.000Z; it waits for its turn",
    );
}

#[test]
fn a_run_without_a_worker_shows_which_is_missing() {
    let no_worker = Reason::NoWorker {
        workflow: name("payment"),
        version: 2,
    };
    let words = "it finds no live worker that offers workflow `payment` in version 2";
    let queued = why(&Journal::created().overview(), false, time(0));
    assert_eq!(queued.reasons, std::slice::from_ref(&no_worker));
    assert_eq!(queued.to_string(), format!("queued: {words}"));
    let asleep = why(
        &Journal::created().with(sleeping("s:0")).overview(),
        false,
        time(0),
    );
    assert_eq!(asleep.reasons, [sleeps("s:0"), no_worker]);
    let sleeping = "sleeping: it sleeps in `s:0` until 2026-11-15T08:03:20.000Z";
    assert_eq!(asleep.to_string(), format!("{sleeping}; {words}"));
}

#[test]
fn a_running_step_is_named_with_its_scopes() {
    check(
        [started("each/~3/ship/a:0", 1).into()],
        RunStatus::Running,
        &[running("each/~3/ship/a:0", 1)],
        "it executes step `each/~3/ship/a:0` (attempt 1) since 2026-11-15T08:00:01.000Z",
    );
}

#[test]
fn a_run_in_its_own_code_is_held_by_nothing() {
    let done = completed_step("a:0", 1, "1");
    check(
        [done.into()],
        RunStatus::Running,
        &[],
        "nothing holds it up",
    );
}

#[test]
fn a_run_that_was_forced_to_fail_shows_the_author() {
    let forced = ForcedFailure {
        so_far: None,
        location: None,
        error: failure("enough"),
        by: alice(),
    };
    let made_to_fail = Reason::ForcedFailure {
        by: alice(),
        error: failure("enough"),
    };
    check(
        [
            started("a:0", 1).into(),
            sleeping("s:0").into(),
            forced.into(),
        ],
        RunStatus::Running,
        &[made_to_fail, running("a:0", 1)],
        "it was made to fail by alice: enough; \
         it executes step `a:0` (attempt 1) since 2026-11-15T08:00:01.000Z",
    );
}

#[test]
fn a_sleep_in_a_loop_names_its_iteration() {
    check(
        [sleeping("each/~1/s:0").into()],
        RunStatus::Sleeping,
        &[sleeps("each/~1/s:0")],
        "it sleeps in `each/~1/s:0` until 2026-11-15T08:03:20.000Z",
    );
}

#[test]
fn a_wait_for_one_of_several_events_names_all_and_its_branch() {
    check(
        [waiting("fan/x/w:0", &["yes", "no"]).into()],
        RunStatus::Waiting,
        &[waits("fan/x/w:0", &["yes", "no"], 1)],
        "it waits for event `yes` or `no` since 2026-11-15T08:00:01.000Z \
         until 2026-11-15T08:08:20.000Z in `fan/x/w:0`",
    );
}

#[test]
fn a_wait_for_a_batch_shows_its_size() {
    let wait = Waiting {
        batch: 5,
        deadline: None,
        ..waiting("w:0", &["yes"])
    };
    let reason = Reason::Event {
        location: at("w:0"),
        names: vec![name("yes")],
        since: time(1),
        deadline: None,
        batch: 5,
    };
    check(
        [wait.into()],
        RunStatus::Waiting,
        &[reason],
        "it waits for event `yes` (5 at once at most) since 2026-11-15T08:00:01.000Z in `w:0`",
    );
}

#[test]
fn an_rpc_shows_its_id_and_its_branch() {
    check(
        [asked("fan/x/q:0", "rpc_1").into()],
        RunStatus::Waiting,
        &[asks("fan/x/q:0", 1)],
        "it waits for an answer to `approve` (rpc_1) since 2026-11-15T08:00:01.000Z in `fan/x/q:0`",
    );
}

#[test]
fn a_run_with_a_deadline_that_waits_for_a_child_shows_both() {
    let created = Created {
        deadline: Some(time(900)),
        ..created()
    };
    let journal = Journal::default().with(created);
    let answer = why(
        &journal.clone().with(child("c:0", false)).overview(),
        true,
        time(0),
    );
    assert_eq!(answer.reasons, [awaits_child("c:0", 1)]);
    assert_eq!(answer.deadline, Some(time(900)));
    assert_eq!(
        answer.to_string(),
        "waiting: it waits for its child `ship-1` of workflow `ship` since 2026-11-15T08:00:01.000Z in `c:0`; \
         it must be over by 2026-11-15T08:15:00.000Z"
    );
    // A deadline is not shown if the run is about to end, or has ended.
    let ending = why(
        &journal.clone().with(cancel("no")).overview(),
        true,
        time(0),
    );
    let over = why(&journal.with(completed()).overview(), true, time(0));
    assert_eq!((ending.deadline, over.deadline), (None, None));
}

#[test]
fn a_run_that_waits_for_several_things_names_them_all() {
    let bodies = [
        Body::from(sleeping("s:0")),
        failed_step("a:0", 1, FailureOutcome::Retrying).into(),
        child("c:0", false).into(),
        asked("q:0", "rpc_1").into(),
        waiting("w:0", &["yes"]).into(),
    ];
    let answer = why(
        &Journal::created().with_all(bodies).overview(),
        true,
        time(0),
    );
    assert_eq!(answer.status, RunStatus::Waiting);
    let retry = Reason::RetryAt {
        step: at("a:0"),
        attempt: 2,
        at: Some(time(100)),
        last_error: Some(failure("gateway down").at_attempt(1)),
    };
    let expected = [
        waits("w:0", &["yes"], 5),
        asks("q:0", 4),
        awaits_child("c:0", 3),
        retry,
        sleeps("s:0"),
    ];
    assert_eq!(answer.reasons, expected);
    let sentences = expected.map(|reason| format!("it {reason}"));
    assert_eq!(
        answer.to_string(),
        format!("waiting: {}", sentences.join("; "))
    );
}

#[test]
fn a_step_in_backoff_shows_time_and_error() {
    let retry = Reason::RetryAt {
        step: at("a:0"),
        attempt: 3,
        at: Some(time(100)),
        last_error: Some(failure("gateway down").at_attempt(2)),
    };
    check(
        [failed_step("a:0", 2, FailureOutcome::Retrying).into()],
        RunStatus::Retrying,
        &[retry],
        "it retries step `a:0` (attempt 3) at 2026-11-15T08:01:40.000Z after: gateway down",
    );
}

#[test]
fn a_function_in_retry_waits_for_nothing_else() {
    let retry = Reason::ExecutionRetry {
        at: time(300),
        attempt: 2,
        last_error: failure("no luck"),
    };
    check(
        [sleeping("s:0").into(), execution_retried(1).into()],
        RunStatus::Retrying,
        &[retry],
        "it runs again (attempt 2) at 2026-11-15T08:05:00.000Z after: no luck",
    );
}
