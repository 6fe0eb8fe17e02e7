//! Tests of the reasons why a run makes no progress.

mod states;

use everstep_model::record::*;
use everstep_model::{Body, ErrorCode, Failure, Payload};
use proptest::prelude::*;

use super::*;
use crate::tests::*;

fn ask(bodies: impl IntoIterator<Item = Body>, offered: bool) -> Why {
    why(
        &Journal::created().with_all(bodies).overview(),
        offered,
        time(0),
    )
}

fn check(bodies: impl IntoIterator<Item = Body>, offered: bool, expected: &str) {
    assert_eq!(ask(bodies, offered).to_string(), expected);
}

proptest! {
    #[test]
    fn every_journal_has_an_answer_as_text_and_data(journal in any_journal(), offered in any::<bool>()) {
        let overview = journal.overview();
        let answer = why(&overview, offered, time(0));
        prop_assert_eq!(answer.status, overview.status());
        prop_assert!(answer.to_string().starts_with(answer.status.as_str()));
        prop_assert!(Payload::from_value(&answer).is_ok());
    }

    #[test]
    fn a_suspended_run_shows_what_it_waits_for(journal in any_journal()) {
        let overview = journal.overview();
        let rests = matches!(overview.status(), RunStatus::Sleeping | RunStatus::Retrying | RunStatus::Paused
            | RunStatus::Diverged | RunStatus::Queued);
        prop_assert!(!rests || !why(&overview, true, time(0)).reasons.is_empty());
    }

    // B164
    #[test]
    fn a_run_without_a_worker_shows_that_until_it_ends(journal in any_open_journal()) {
        let answer = why(&journal.overview(), false, time(0));
        let no_worker = Reason::NoWorker { workflow: name("payment"), version: 2 };
        prop_assert_eq!(answer.reasons.last(), Some(&no_worker));
        let over = why(&journal.with(completed()).overview(), false, time(0));
        let is_over = matches!(&over.reasons[..], [Reason::Finished { status: RunStatus::Completed, .. }]);
        prop_assert!(is_over, "{:?}", over);
    }
}

#[test]
fn a_queued_run_waits_for_its_turn_or_for_a_worker() {
    check([], true, "queued: it waits for its turn");
    check(
        [],
        false,
        "queued: it finds no live worker that offers workflow `payment` in version 2",
    );
}

// B72
#[test]
fn a_wait_names_its_events_and_its_times() {
    check(
        [waiting("w:0", &["approval", "refusal"]).into()],
        true,
        "waiting: it waits for event `approval` or `refusal` since 2026-11-15T08:00:01.000Z \
         until 2026-11-15T08:08:20.000Z in `w:0`",
    );
}

#[test]
fn a_wait_whose_event_has_arrived_is_no_reason() {
    let with_events = |events: usize| {
        let waits = ["v:0", "w:0"].map(|location| Body::from(waiting(location, &["approval"])));
        waits
            .into_iter()
            .chain(vec![event("approval").into(); events])
    };
    assert_eq!(ask(with_events(0), true).reasons.len(), 2);
    assert_eq!(ask(with_events(1), true).reasons.len(), 1);
    check(with_events(2), true, "queued: it waits for its turn");
    check(
        with_events(2),
        false,
        "queued: it finds no live worker that offers workflow `payment` in version 2",
    );
}

// B194
#[test]
fn an_rpc_and_a_child_are_named() {
    check(
        [asked("q:0", "rpc_1").into(), child("c:0", false).into()],
        true,
        "waiting: it waits for an answer to `approve` (rpc_1) since 2026-11-15T08:00:01.000Z in `q:0`; \
         it waits for its child `ship-1` of workflow `ship` since 2026-11-15T08:00:02.000Z in `c:0`",
    );
}

#[test]
fn a_sleep_shows_its_end() {
    check(
        [sleeping("cool-off:0").into()],
        true,
        "sleeping: it sleeps in `cool-off:0` until 2026-11-15T08:03:20.000Z",
    );
}

#[test]
fn a_retry_shows_time_and_error() {
    check(
        [failed_step("charge:0", 1, FailureOutcome::Retrying).into()],
        true,
        "retrying: it retries step `charge:0` (attempt 2) at 2026-11-15T08:01:40.000Z after: gateway down",
    );
    check(
        [execution_retried(1).into()],
        true,
        "retrying: it runs again (attempt 2) at 2026-11-15T08:05:00.000Z after: no luck",
    );
}

#[test]
fn a_step_shows_its_attempt_and_start() {
    check(
        [started("charge:0", 1).into()],
        true,
        "running: it executes step `charge:0` (attempt 1) since 2026-11-15T08:00:01.000Z",
    );
    let due = fired(TimerPurpose::Retry, Some("charge:0"), time(100));
    check(
        [
            failed_step("charge:0", 1, FailureOutcome::Retrying).into(),
            due.into(),
        ],
        true,
        "queued: it waits for its turn",
    );
}

#[test]
fn a_pause_shows_author_and_reason() {
    let paused = Paused { reason: None };
    check(
        [pause().into(), paused.into()],
        true,
        "paused: it is paused by alice: maintenance",
    );
    let parked = Paused {
        reason: Some(Failure::new(
            ErrorCode::NoProgress,
            "taken over 10 times without progress",
        )),
    };
    check(
        [parked.into()],
        true,
        "paused: it is paused: taken over 10 times without progress",
    );
}

#[test]
fn a_divergence_shows_the_location() {
    check(
        [diverged("charge:0").into()],
        true,
        "diverged: it is parked in `charge:0` because its code no longer fits its journal: \
         the journal holds another step",
    );
}

#[test]
fn a_rollback_shows_what_it_undoes() {
    let undo = UndoStarted {
        location: at("charge:0"),
        attempt: 1,
        run: None,
        ends_run: false,
    };
    check(
        [undo.into()],
        true,
        "rolling_back: it undoes step `charge:0` (attempt 1) since 2026-11-15T08:00:01.000Z",
    );
}

#[test]
fn a_finished_run_waits_for_nothing() {
    check(
        [completed().into()],
        false,
        "completed: it is over (completed)",
    );
}

// B546
#[test]
fn a_failed_run_names_its_error_and_the_operations_that_caused_it() {
    let failed = |caused_by: &[&str]| Failed {
        error: failure("card declined"),
        rolled_back: true,
        abandoned: Vec::new(),
        caused_by: caused_by.iter().map(|text| at(text)).collect(),
    };
    for (caused_by, places) in [
        (&[][..], ""),
        (&["charge:0"], " in `charge:0`"),
        (&["a:0", "fan/x/b:0"], " in `a:0` and `fan/x/b:0`"),
    ] {
        check(
            [failed(caused_by).into()],
            true,
            &format!("failed: it is over (failed){places}: card declined"),
        );
    }
    let rollback = RollbackFailed {
        error: failure("card declined"),
        rollback_error: failure("bank closed"),
        abandoned: Vec::new(),
    };
    check(
        [rollback.into()],
        true,
        "rollback_failed: it is over (rollback_failed): card declined; its rollback failed: bank closed",
    );
    let terminated = Terminated {
        by: None,
        reason: Some("too late".to_owned()),
        abandoned: Vec::new(),
        next_generation: None,
    };
    check(
        [terminated.into()],
        true,
        "terminated: it is over (terminated): too late",
    );
}

#[test]
fn reasons_are_tagged_by_kind_on_the_wire() {
    let answer = Payload::from_value(&ask(
        [sleeping("s:0").into(), asked("q:0", "rpc_1").into()],
        true,
    ))
    .unwrap();
    assert_eq!(
        answer.as_str(),
        "{\"status\":\"waiting\",\"reasons\":[\
         {\"kind\":\"answer\",\"location\":\"q:0\",\"method\":\"approve\",\"rpcId\":\"rpc_1\",\"since\":\"2026-11-15T08:00:02.000Z\",\
         \"deadline\":null},\
         {\"kind\":\"timer_at\",\"location\":\"s:0\",\"due\":\"2026-11-15T08:03:20.000Z\"}],\
         \"deadline\":null}"
    );
}

// B41
#[test]
fn a_run_past_its_deadline_waits_only_for_steps_in_flight() {
    let passed = Body::from(DeadlinePassed { deadline: time(9) });
    let backoff = failed_step("a:0", 1, FailureOutcome::Retrying);
    check(
        [backoff.into(), passed.clone()],
        true,
        "queued: it passed its deadline, 2026-11-15T08:00:09.000Z; it waits for its turn",
    );
    check(
        [execution_retried(1).into(), passed.clone()],
        true,
        "queued: it passed its deadline, 2026-11-15T08:00:09.000Z; it waits for its turn",
    );
    assert_eq!(
        ask([started("a:0", 1).into(), passed], true).reasons.len(),
        2
    );
}
