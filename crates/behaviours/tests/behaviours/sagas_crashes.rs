//! Sagas whose process crashes around every commit: the crash does not change which undos run, or
//! their order.

use everstep::journal::Body;
use everstep::journal::record::{CancelRequested, PauseRequested, ResumeRequested};
use everstep::{AnyEvent, Ctx, Error, Options, Result, Retry, RunStatus, millis};

use crate::crash_points::{CrashPoints, Effects, Ended};
use crate::planned_crash::CrashPlan;

/// A step whose work and undo both have external effects. The undo succeeds after a number of
/// failures.
pub(crate) async fn traced(
    ctx: &Ctx<AnyEvent>,
    effects: &Effects,
    name: &'static str,
    undo_failures: u32,
) -> Result<u32> {
    let (doing, undoing) = (effects.clone(), effects.clone());
    ctx.step(name, || {
        let doing = doing.clone();
        async move {
            doing.add(format!("do {name}"));
            Ok::<_, Error>(1)
        }
    })
    .undo_with(move |undo| async move {
        if undo.attempt <= undo_failures {
            return Err(Error::new("not yet"));
        }
        undoing.add(format!("undo {name}"));
        Ok(())
    })
    .undo_retry(Retry::constant(5, millis(50)))
    .await
}

pub(crate) async fn three_steps(ctx: &Ctx<AnyEvent>, effects: &Effects) -> Result<u32> {
    traced(ctx, effects, "a", 0).await?;
    traced(ctx, effects, "b", 1).await?;
    traced(ctx, effects, "c", 0).await
}

/// Checks that the effects happened in this order. An effect whose record was lost in the crash may
/// have happened twice in a row.
pub(crate) fn assert_effects(ended: &Ended, expected: &[&str]) {
    let mut effects = ended.effects.clone();
    let before = effects.len();
    effects.dedup();
    assert_eq!(effects, expected, "{:?}", ended.plan);
    let repeated = before - effects.len();
    assert!(repeated <= 1, "{:?}: {repeated} repeated", ended.plan);
    assert!(ended.plan != CrashPlan::Never || repeated == 0);
}

pub(crate) fn undone(ended: &Ended) -> Vec<String> {
    let lines = ended.journal.lines().into_iter();
    lines
        .filter_map(|line| line.strip_prefix("undo_completed ").map(str::to_owned))
        .collect()
}

pub(crate) fn is_rolled_back(ended: &Ended) -> bool {
    match &ended.journal.entries().last().unwrap().record.body {
        Body::Failed(end) => end.rolled_back,
        Body::Cancelled(end) => end.rolled_back,
        _ => false,
    }
}

pub(crate) const ALL: [&str; 6] = ["do a", "do b", "do c", "undo c", "undo b", "undo a"];

// B126, B134
#[test]
fn a_rollback_survives_a_crash_after_every_commit() {
    CrashPoints::of(|ctx: Ctx<AnyEvent>, effects: Effects| async move {
        three_steps(&ctx, &effects).await?;
        Err(Error::fatal("stop"))
    })
    .check(|ended| {
        assert_effects(ended, &ALL);
        assert_eq!(undone(ended), ["c:0", "b:0", "a:0"], "{:?}", ended.plan);
        assert_eq!(ended.status, RunStatus::Failed);
        assert!(is_rolled_back(ended));
    });
}

// B134
#[test]
fn an_explicit_rollback_survives_a_crash_after_every_commit_and_later_steps_are_undone_separately()
{
    CrashPoints::of(|ctx: Ctx<AnyEvent>, effects: Effects| async move {
        three_steps(&ctx, &effects).await?;
        ctx.rollback().await?;
        traced(&ctx, &effects, "d", 1).await?;
        Err(Error::fatal("stop"))
    })
    .check(|ended| {
        assert_effects(ended, &[&ALL[..], &["do d", "undo d"]].concat());
        assert_eq!(undone(ended), ["c:0", "b:0", "a:0", "d:0"]);
    });
}

// B138
#[test]
fn a_cancelled_run_that_rolls_back_survives_a_crash_after_every_commit() {
    let cancel = CancelRequested {
        by: None,
        reason: Some("changed my mind".to_owned()),
        rollback: true,
    };
    CrashPoints::of(|ctx: Ctx<AnyEvent>, effects: Effects| async move {
        three_steps(&ctx, &effects).await?;
        ctx.sleep("long", millis(100_000)).await?;
        Ok(1)
    })
    .when("sleeping long:0", cancel)
    .check(|ended| {
        assert_effects(ended, &ALL);
        assert_eq!(ended.status, RunStatus::Cancelled);
        assert!(is_rolled_back(ended));
    });
}

// B138
#[test]
fn a_cancellation_during_a_rollback_has_no_effect_at_any_crash_point() {
    let cancel = CancelRequested {
        by: None,
        reason: None,
        rollback: false,
    };
    CrashPoints::of(|ctx: Ctx<AnyEvent>, effects: Effects| async move {
        three_steps(&ctx, &effects).await?;
        Err(Error::fatal("stop"))
    })
    .when("undo_failed b:0", cancel)
    .check(|ended| {
        assert_effects(ended, &ALL);
        assert_eq!(ended.status, RunStatus::Failed);
        assert!(is_rolled_back(ended));
    });
}

#[test]
fn a_run_past_its_deadline_rolls_back_at_any_crash_point() {
    CrashPoints::of(|ctx: Ctx<AnyEvent>, effects: Effects| async move {
        three_steps(&ctx, &effects).await?;
        ctx.sleep("long", millis(100_000)).await?;
        Ok(1)
    })
    .options(Options::new().deadline(millis(1_000)))
    .check(|ended| {
        assert_effects(ended, &ALL);
        assert_eq!(ended.status, RunStatus::Failed);
        assert!(is_rolled_back(ended));
        ended.journal.assert_contains("deadline_passed");
    });
}

#[test]
fn steps_of_earlier_passes_are_undone_at_any_crash_point() {
    CrashPoints::of(|ctx: Ctx<AnyEvent>, effects: Effects| async move {
        let pass = ctx.metadata().attempt;
        if pass == 1 {
            // The second pass does not reach this step.
            traced(&ctx, &effects, "a", 0).await?;
        }
        traced(&ctx, &effects, "b", 0).await?;
        Err(Error::new("stop"))
    })
    .options(Options::new().execution_retries(1))
    .check(|ended| {
        assert_effects(ended, &["do a", "do b", "undo b", "undo a"]);
        assert!(is_rolled_back(ended));
    });
}

// B140
#[test]
fn a_pause_during_a_rollback_holds_until_it_is_resumed_at_any_crash_point() {
    let pause = PauseRequested {
        by: None,
        reason: None,
    };
    CrashPoints::of(|ctx: Ctx<AnyEvent>, effects: Effects| async move {
        three_steps(&ctx, &effects).await?;
        Err(Error::fatal("stop"))
    })
    .when("undo_failed b:0", pause)
    .when("paused", ResumeRequested { by: None })
    .check(|ended| {
        assert_effects(ended, &ALL);
        assert!(is_rolled_back(ended));
        let lines = ended.journal.lines();
        let at = |line: &str| lines.iter().position(|known| known == line).unwrap();
        assert!(at("resume_requested") < at("undo_completed b:0"));
    });
}

// B140
#[test]
fn a_process_that_takes_over_a_paused_rollback_begins_no_undo() {
    let pause = PauseRequested {
        by: None,
        reason: None,
    };
    CrashPoints::of(|ctx: Ctx<AnyEvent>, effects: Effects| async move {
        three_steps(&ctx, &effects).await?;
        Err(Error::fatal("stop"))
    })
    .when("undo_started c:0", pause)
    .when("paused", ResumeRequested { by: None })
    .check(|ended| {
        assert_effects(ended, &ALL);
        let lines = ended.journal.lines();
        let paused = lines.iter().skip_while(|line| *line != "pause_requested");
        let mut paused = paused.take_while(|line| *line != "resume_requested");
        assert!(
            !paused.any(|line| line == "undo_started c:0"),
            "{:?}: {lines:?}",
            ended.plan
        );
    });
}
