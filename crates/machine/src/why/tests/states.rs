//! Every state a run can be in, and its answer, in data and in words.

use everstep_model::record::*;
use everstep_model::{Body, ErrorCode, Failure, RpcId, RunId, RunStatus};

use crate::overview::samples::*;
use crate::{Reason, why};

/// Asks while a worker offers the code.
fn check(
    bodies: impl IntoIterator<Item = Body>,
    status: RunStatus,
    reasons: &[Reason],
    sentence: &str,
) {
    let answer = why(&Journal::created().with_all(bodies).overview(), true);
    assert_eq!(answer.status, status);
    assert_eq!(answer.reasons, reasons);
    assert_eq!(answer.to_string(), format!("{status}: {sentence}"));
}

fn alice() -> Option<String> {
    Some("alice".to_owned())
}

fn running(step: &str, second: u64) -> Reason {
    Reason::StepRunning {
        step: at(step),
        attempt: 1,
        since: Some(time(second)),
    }
}

fn sleeps(location: &str) -> Reason {
    Reason::TimerAt {
        location: at(location),
        due: time(200),
    }
}

fn waits(location: &str, names: &[&str], second: u64) -> Reason {
    Reason::Event {
        location: at(location),
        names: names.iter().map(|text| name(text)).collect(),
        since: time(second),
        deadline: Some(time(500)),
        batch: 1,
    }
}

fn asks(location: &str, second: u64) -> Reason {
    Reason::Answer {
        location: at(location),
        method: name("approve"),
        rpc_id: RpcId("rpc_1".into()),
        since: time(second),
        deadline: None,
    }
}

fn awaits_child(location: &str, second: u64) -> Reason {
    Reason::Child {
        location: at(location),
        run: RunId::new("ship-1").unwrap(),
        workflow: name("ship"),
        since: time(second),
    }
}

fn asked_to_pause() -> Reason {
    Reason::PauseRequested {
        by: alice(),
        reason: Some("maintenance".to_owned()),
    }
}

fn asked_to_end() -> Reason {
    Reason::CancelRequested {
        by: alice(),
        reason: Some("no".to_owned()),
        rollback: true,
    }
}

fn undoing(attempt: u32, second: u64) -> Reason {
    Reason::UndoRunning {
        step: at("a:0"),
        attempt,
        since: time(second),
    }
}

fn undo_started() -> Body {
    UndoStarted {
        location: at("a:0"),
        attempt: 1,
        run: None,
    }
    .into()
}

fn undo_failed() -> Body {
    UndoFailed {
        location: at("a:0"),
        attempt: 1,
        error: failure("bank closed"),
        retry_at: Some(time(50)),
        run: None,
    }
    .into()
}

fn undo_retry() -> Reason {
    Reason::UndoRetryAt {
        step: at("a:0"),
        attempt: 2,
        at: time(50),
        last_error: failure("bank closed"),
    }
}

const PAUSE_ASKED: &str = "it was asked to pause by alice: maintenance";
const END_ASKED: &str = "it was asked to end and roll back by alice: no";
const UNDOES: &str = "it undoes step `a:0` (attempt 1) since";
const RETRIES_UNDO: &str =
    "it retries undoing step `a:0` (attempt 2) at 2026-11-15T08:00:50.000Z after: bank closed";

#[test]
fn a_queued_run_waits_for_its_turn() {
    let sentence = "it waits for its turn";
    check([], RunStatus::Queued, &[Reason::Queued], sentence);
}

#[test]
fn a_queued_run_past_its_deadline_says_both() {
    let passed = Reason::DeadlinePassed { deadline: time(9) };
    check(
        [DeadlinePassed { deadline: time(9) }.into()],
        RunStatus::Queued,
        &[passed, Reason::Queued],
        "it passed its deadline, 2026-11-15T08:00:09.000Z; it waits for its turn",
    );
}

#[test]
fn a_run_without_a_worker_says_which_is_missing() {
    let no_worker = Reason::NoWorker {
        workflow: name("payment"),
        version: 2,
    };
    let words = "it finds no live worker that offers workflow `payment` in version 2";
    let queued = why(&Journal::created().overview(), false);
    assert_eq!(queued.reasons, std::slice::from_ref(&no_worker));
    assert_eq!(queued.to_string(), format!("queued: {words}"));
    let asleep = why(&Journal::created().with(sleeping("s:0")).overview(), false);
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
fn a_run_that_was_made_to_fail_says_by_whom() {
    let forced = ForcedFailure {
        location: None,
        error: failure("enough"),
        by: alice(),
        so_far: None,
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
fn a_wait_for_a_batch_says_how_many_it_takes() {
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
fn a_question_names_its_id_and_its_branch() {
    check(
        [asked("fan/x/q:0", "rpc_1").into()],
        RunStatus::Waiting,
        &[asks("fan/x/q:0", 1)],
        "it waits for an answer to `approve` (rpc_1) since 2026-11-15T08:00:01.000Z in `fan/x/q:0`",
    );
}

#[test]
fn a_run_with_a_deadline_that_waits_for_a_child_says_both() {
    let created = Created {
        deadline: Some(time(900)),
        ..created()
    };
    let journal = Journal::default().with(created);
    let answer = why(&journal.clone().with(child("c:0", false)).overview(), true);
    assert_eq!(answer.reasons, [awaits_child("c:0", 1)]);
    assert_eq!(answer.deadline, Some(time(900)));
    assert_eq!(
        answer.to_string(),
        "waiting: it waits for its child `ship-1` of workflow `ship` since 2026-11-15T08:00:01.000Z in `c:0`; \
         it must be over by 2026-11-15T08:15:00.000Z"
    );
    // What is about to end it has taken the deadline's place, and so has the end.
    let ending = why(&journal.clone().with(cancel("no")).overview(), true);
    let over = why(&journal.with(completed()).overview(), true);
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
    let answer = why(&Journal::created().with_all(bodies).overview(), true);
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
fn a_step_in_retry_says_when_and_after_what() {
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

#[test]
fn a_pausing_run_waits_for_steps_in_flight_only() {
    check(
        [
            started("a:0", 1).into(),
            failed_step("b:0", 1, FailureOutcome::Retrying).into(),
            sleeping("s:0").into(),
            pause().into(),
        ],
        RunStatus::Pausing,
        &[asked_to_pause(), running("a:0", 1)],
        &format!(
            "{PAUSE_ASKED}; it executes step `a:0` (attempt 1) since 2026-11-15T08:00:01.000Z"
        ),
    );
}

#[test]
fn a_pausing_rollback_waits_for_the_undo_that_runs_only() {
    check(
        [undo_started(), pause().into()],
        RunStatus::Pausing,
        &[asked_to_pause(), undoing(1, 1)],
        &format!("{PAUSE_ASKED}; {UNDOES} 2026-11-15T08:00:01.000Z"),
    );
    check(
        [undo_failed(), pause().into()],
        RunStatus::Pausing,
        &[asked_to_pause()],
        PAUSE_ASKED,
    );
}

#[test]
fn a_paused_run_says_by_whom_and_why() {
    let paused = Reason::Paused {
        by: alice(),
        reason: Some("maintenance".to_owned()),
    };
    check(
        [
            sleeping("s:0").into(),
            pause().into(),
            Paused { reason: None }.into(),
        ],
        RunStatus::Paused,
        &[paused],
        "it is paused by alice: maintenance",
    );
}

#[test]
fn a_paused_run_that_was_asked_to_end_rests_no_longer() {
    check(
        [Paused { reason: None }.into(), cancel("no").into()],
        RunStatus::Cancelling,
        &[asked_to_end()],
        END_ASKED,
    );
}

#[test]
fn a_run_parked_for_no_progress_says_so() {
    let message = "taken over 11 times without progress";
    let parked = Reason::Paused {
        by: None,
        reason: Some(message.to_owned()),
    };
    let reason = Some(Failure::new(ErrorCode::NoProgress, message));
    check(
        [started("a:0", 1).into(), Paused { reason }.into()],
        RunStatus::Paused,
        &[parked],
        "it is paused: taken over 11 times without progress",
    );
}

#[test]
fn a_cancelling_run_waits_for_steps_in_flight_only() {
    check(
        [
            started("a:0", 1).into(),
            failed_step("b:0", 1, FailureOutcome::Retrying).into(),
            waiting("w:0", &["yes"]).into(),
            cancel("no").into(),
        ],
        RunStatus::Cancelling,
        &[asked_to_end(), running("a:0", 1)],
        &format!("{END_ASKED}; it executes step `a:0` (attempt 1) since 2026-11-15T08:00:01.000Z"),
    );
}

#[test]
fn a_cancelling_run_without_steps_in_flight_says_only_that() {
    let request = CancelRequested {
        by: None,
        reason: None,
        rollback: false,
    };
    let reason = Reason::CancelRequested {
        by: None,
        reason: None,
        rollback: false,
    };
    check(
        [sleeping("s:0").into(), request.into()],
        RunStatus::Cancelling,
        &[reason],
        "it was asked to end",
    );
}

#[test]
fn a_cancelled_run_that_rolls_back_names_the_undo() {
    check(
        [cancel("no").into(), undo_started()],
        RunStatus::RollingBack,
        &[asked_to_end(), undoing(1, 2)],
        &format!("{END_ASKED}; {UNDOES} 2026-11-15T08:00:02.000Z"),
    );
    check(
        [cancel("no").into(), undo_started(), undo_failed()],
        RunStatus::RollingBack,
        &[asked_to_end(), undo_retry()],
        &format!("{END_ASKED}; {RETRIES_UNDO}"),
    );
}

#[test]
fn a_rollback_names_the_undo_that_runs() {
    check(
        [undo_started()],
        RunStatus::RollingBack,
        &[undoing(1, 1)],
        &format!("{UNDOES} 2026-11-15T08:00:01.000Z"),
    );
    let due = fired(TimerPurpose::Undo, Some("a:0"), time(50));
    check(
        [undo_failed(), due.into()],
        RunStatus::RollingBack,
        &[undoing(2, 2)],
        "it undoes step `a:0` (attempt 2) since 2026-11-15T08:00:02.000Z",
    );
}

#[test]
fn a_rollback_says_when_an_undo_is_tried_again() {
    check(
        [undo_started(), undo_failed()],
        RunStatus::RollingBack,
        &[undo_retry()],
        RETRIES_UNDO,
    );
}

#[test]
fn a_rollback_between_two_undos_is_held_by_nothing() {
    let undone = UndoCompleted {
        location: at("a:0"),
        attempt: 1,
        run: None,
    };
    check(
        [
            completed_step("a:0", 1, "1").into(),
            undo_started(),
            undone.into(),
        ],
        RunStatus::RollingBack,
        &[],
        "nothing holds it up",
    );
}

#[test]
fn a_rollback_after_a_deadline_says_why_and_what_is_in_flight() {
    let passed = DeadlinePassed { deadline: time(9) };
    check(
        [started("b:0", 1).into(), passed.into(), undo_started()],
        RunStatus::RollingBack,
        &[
            Reason::DeadlinePassed { deadline: time(9) },
            undoing(1, 3),
            running("b:0", 1),
        ],
        &format!(
            "it passed its deadline, 2026-11-15T08:00:09.000Z; {UNDOES} 2026-11-15T08:00:03.000Z; \
             it executes step `b:0` (attempt 1) since 2026-11-15T08:00:01.000Z"
        ),
    );
}

#[test]
fn a_diverged_run_says_where_if_that_is_known() {
    let stop = |location: Option<&str>| Diverged {
        location: location.map(at),
        ..diverged("a:0")
    };
    for (place, words) in [(Some("fan/x/a:0"), " in `fan/x/a:0`"), (None, "")] {
        let reason = Reason::Diverged {
            location: place.map(at),
            error: diverged("a:0").error,
        };
        check(
            [sleeping("s:0").into(), stop(place).into()],
            RunStatus::Diverged,
            &[reason],
            &format!(
                "it is parked{words} because its code no longer fits its journal: the journal holds another step"
            ),
        );
    }
}

#[test]
fn a_run_that_is_over_waits_for_nothing_however_it_ended() {
    let ends = RunStatus::ALL.iter().filter(|status| status.is_terminal());
    for &status in ends {
        let before = [Body::from(started("a:0", 1)), cancel("no").into()];
        check(
            before.into_iter().chain(journal_in(status)),
            status,
            &[Reason::Finished { status }],
            &format!("it is over ({status})"),
        );
    }
}

/// A journal for each status. A new status does not compile until it has one.
fn journal_in(status: RunStatus) -> Vec<Body> {
    let error = failure("x");
    let (rolled_back, abandoned) = (true, Vec::new());
    match status {
        RunStatus::Queued => Vec::new(),
        RunStatus::Running => vec![started("a:0", 1).into()],
        RunStatus::Sleeping => vec![sleeping("s:0").into()],
        RunStatus::Waiting => vec![waiting("w:0", &["yes"]).into()],
        RunStatus::Retrying => vec![execution_retried(1).into()],
        RunStatus::Pausing => vec![pause().into()],
        RunStatus::Paused => vec![Paused { reason: None }.into()],
        RunStatus::Cancelling => vec![cancel("no").into()],
        RunStatus::RollingBack => vec![undo_started()],
        RunStatus::Diverged => vec![diverged("a:0").into()],
        RunStatus::Completed => vec![completed().into()],
        RunStatus::Failed => vec![
            Failed {
                error,
                rolled_back,
                abandoned,
                caused_by: Vec::new(),
            }
            .into(),
        ],
        RunStatus::RollbackFailed => {
            let rollback_error = failure("y");
            vec![
                RollbackFailed {
                    error,
                    rollback_error,
                    abandoned: Vec::new(),
                }
                .into(),
            ]
        }
        RunStatus::Cancelled => {
            let reason = None;
            vec![
                Cancelled {
                    reason,
                    rolled_back,
                    abandoned,
                }
                .into(),
            ]
        }
        RunStatus::Terminated => vec![terminated(&[]).into()],
    }
}

#[test]
fn every_status_has_a_reason_and_without_a_worker_one_more() {
    for &status in RunStatus::ALL {
        let overview = Journal::created().with_all(journal_in(status)).overview();
        let (with, without) = (why(&overview, true), why(&overview, false));
        assert_eq!((with.status, without.status), (status, status));
        assert!(!with.reasons.is_empty(), "{status}");
        let names_worker = matches!(without.reasons.last(), Some(Reason::NoWorker { .. }));
        assert_eq!(names_worker, !status.is_terminal(), "{status}");
    }
}
