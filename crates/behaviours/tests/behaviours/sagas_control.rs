//! Control of sagas while they run and while they roll back, with a crash at every commit.

use everstep::journal::Body;
use everstep::journal::record::{
    CancelRequested, DeadlinePassed, Event, ForcedFailure, Terminated,
};
use everstep::{AnyEvent, Ctx, Error, ErrorCode, Failure, Options, Retry, RunStatus, millis};

use crate::crash_points::{CrashPoints, Effects, Ended};
use crate::planned_crash::CrashPlan;
use crate::sagas_crashes::{ALL, assert_effects, is_rolled_back, three_steps, traced, undone};
use crate::support::json;

fn cancel(rollback: bool) -> CancelRequested {
    CancelRequested {
        by: Some("ada".to_owned()),
        reason: Some("changed her mind".to_owned()),
        rollback,
    }
}

fn end(ended: &Ended) -> &Body {
    &ended.journal.entries().last().unwrap().record.body
}

fn error_of(ended: &Ended) -> &Failure {
    match end(ended) {
        Body::Failed(end) => &end.error,
        Body::RollbackFailed(end) => &end.error,
        other => panic!("{:?}: it ended with {other:?}", ended.plan),
    }
}

// B138
#[test]
fn a_cancellation_without_rollback_undoes_nothing() {
    CrashPoints::of(|ctx: Ctx<AnyEvent>, effects: Effects| async move {
        three_steps(&ctx, &effects).await?;
        ctx.sleep("long", millis(100_000)).await?;
        Ok(1)
    })
    .when("sleeping long:0", cancel(false))
    .check(|ended| {
        assert_effects(ended, &ALL[..3]);
        assert_eq!(ended.status, RunStatus::Cancelled);
        assert!(!is_rolled_back(ended));
    });
}

// B138, B155
#[test]
fn a_step_in_flight_when_the_run_is_cancelled_ends_first_and_is_undone_too() {
    CrashPoints::of(|ctx: Ctx<AnyEvent>, effects: Effects| async move {
        traced(&ctx, &effects, "a", 0).await?;
        let (doing, undoing) = (effects.clone(), effects.clone());
        let slow = || {
            let doing = doing.clone();
            async move {
                tokio::time::sleep(millis(40)).await;
                doing.add("do slow".to_owned());
                Ok::<_, Error>(5)
            }
        };
        ctx.step("slow", slow)
            .fenced()
            .undo(move |output| async move {
                undoing.add(format!("undo slow {output}"));
                Ok::<_, Error>(())
            })
            .await?;
        effects.add("went on".to_owned());
        Ok(1)
    })
    .when("step_started slow:0", cancel(true))
    .check(|ended| {
        assert_eq!(ended.status, RunStatus::Cancelled);
        // A process that crashed during the step may have had effects.
        let lines = ended.journal.lines();
        if lines.iter().any(|line| line == "step_completed slow:0") {
            assert_effects(ended, &["do a", "do slow", "undo slow 5", "undo a"]);
        } else {
            assert_ne!(ended.plan, CrashPlan::Never);
            assert_eq!(undone(ended), ["a:0"]);
        }
    });
}

#[test]
fn a_deadline_that_passes_during_a_rollback_is_ignored() {
    let passed = DeadlinePassed {
        deadline: everstep::journal::Timestamp::from_millis(0),
    };
    CrashPoints::of(|ctx: Ctx<AnyEvent>, effects: Effects| async move {
        three_steps(&ctx, &effects).await?;
        Err(Error::fatal("stop"))
    })
    .when("undo_failed b:0", passed)
    .check(|ended| {
        assert_effects(ended, &ALL);
        assert_eq!(error_of(ended).message, "stop");
        assert!(is_rolled_back(ended));
        ended.journal.assert_contains("deadline_passed");
    });
}

#[test]
fn events_during_a_rollback_neither_stop_nor_repeat_it() {
    let event = |n: u32| Event {
        name: everstep::Name::new("ping").unwrap(),
        payload: json(&n),
        dedup_id: None,
        reply_to: None,
        by: None,
    };
    CrashPoints::of(|ctx: Ctx<AnyEvent>, effects: Effects| async move {
        three_steps(&ctx, &effects).await?;
        Err(Error::fatal("stop"))
    })
    .when("step_completed c:0", event(1))
    .when("undo_started c:0", event(2))
    .when("undo_failed b:0", event(3))
    .when("undo_failed b:0", event(4))
    .check(|ended| {
        assert_effects(ended, &ALL);
        assert_eq!(undone(ended), ["c:0", "b:0", "a:0"]);
    });
}

#[test]
fn a_run_that_is_terminated_during_its_rollback_undoes_no_more() {
    let terminated = Terminated {
        by: None,
        reason: None,
        abandoned: Vec::new(),
        next_generation: None,
    };
    CrashPoints::of(|ctx: Ctx<AnyEvent>, effects: Effects| async move {
        three_steps(&ctx, &effects).await?;
        Err(Error::fatal("stop"))
    })
    .when("undo_failed b:0", terminated)
    .check(|ended| {
        assert_effects(ended, &ALL[..4]);
        assert_eq!(ended.status, RunStatus::Terminated);
        assert_eq!(ended.journal.kinds().last(), Some(&"terminated"));
    });
}

#[test]
fn a_run_that_an_operator_makes_fail_rolls_back() {
    let forced = ForcedFailure {
        location: None,
        error: Failure::new(ErrorCode::ForcedFailure, "enough"),
        by: None,
        so_far: None,
    };
    CrashPoints::of(|ctx: Ctx<AnyEvent>, effects: Effects| async move {
        three_steps(&ctx, &effects).await?;
        ctx.sleep("long", millis(100_000)).await?;
        Ok(1)
    })
    .when("sleeping long:0", forced.clone())
    // The first request to end the run wins.
    .when("undo_failed b:0", forced)
    .when("undo_failed b:0", cancel(false))
    .check(|ended| {
        assert_effects(ended, &ALL);
        assert_eq!(error_of(ended).message, "enough");
        assert!(is_rolled_back(ended));
    });
}

// B129, B137
#[test]
fn an_undo_that_fails_for_good_ends_the_run_in_the_same_way_at_any_crash_point() {
    CrashPoints::of(|ctx: Ctx<AnyEvent>, effects: Effects| async move {
        traced(&ctx, &effects, "a", 0).await?;
        ctx.step("b", || async { Ok::<_, Error>(1) })
            .undo(|_| async { Err::<(), _>(Error::new("no")) })
            .undo_retry(Retry::constant(1, millis(20)))
            .await?;
        traced(&ctx, &effects, "c", 0).await?;
        Err(Error::fatal("stop"))
    })
    .check(|ended| {
        assert_effects(ended, &["do a", "do c", "undo c"]);
        assert_eq!(ended.status, RunStatus::RollbackFailed);
        assert_eq!(error_of(ended).message, "stop");
        let failures = ended.journal.count("undo_failed");
        assert_eq!(failures, 2, "a takeover uses up no retry");
    });
}

// B138
#[test]
fn an_undo_that_fails_for_good_after_a_cancellation_is_reported() {
    CrashPoints::of(|ctx: Ctx<AnyEvent>, _: Effects| async move {
        ctx.step("b", || async { Ok::<_, Error>(1) })
            .undo(|_| async { Err::<(), _>(Error::fatal("no")) })
            .await?;
        ctx.sleep("long", millis(100_000)).await?;
        Ok(1)
    })
    .when("sleeping long:0", cancel(true))
    .check(|ended| {
        assert_eq!(ended.status, RunStatus::RollbackFailed);
        let error = error_of(ended);
        assert!(error.is(ErrorCode::Cancelled));
        assert_eq!(error.message, "the run was cancelled: changed her mind");
    });
}

// B40
#[test]
fn a_run_that_is_cancelled_or_too_late_between_two_passes_undoes_what_the_first_did() {
    let code = |ctx: Ctx<AnyEvent>, effects: Effects| async move {
        three_steps(&ctx, &effects).await?;
        Err(Error::new("again"))
    };
    let options = Options::new().execution_retries(3);
    CrashPoints::of(code)
        .options(options)
        .when("execution_retried", cancel(true))
        .check(|ended| {
            assert_effects(ended, &ALL);
            assert_eq!(ended.status, RunStatus::Cancelled);
            assert!(is_rolled_back(ended));
        });
    let forced = ForcedFailure {
        location: None,
        error: Failure::new(ErrorCode::ForcedFailure, "enough"),
        by: None,
        so_far: None,
    };
    CrashPoints::of(code)
        .options(options)
        .when("execution_retried", forced)
        .check(|ended| {
            assert_effects(ended, &ALL);
            assert_eq!(error_of(ended).message, "enough");
            assert!(is_rolled_back(ended));
        });
}

#[test]
fn a_run_that_awaits_something_that_is_not_durable_fails_and_rolls_back() {
    CrashPoints::of(|ctx: Ctx<AnyEvent>, effects: Effects| async move {
        three_steps(&ctx, &effects).await?;
        std::future::pending::<()>().await;
        Ok(1)
    })
    .check(|ended| {
        assert_effects(ended, &ALL);
        assert!(error_of(ended).is(ErrorCode::NotDurable));
        assert!(is_rolled_back(ended));
    });
}
