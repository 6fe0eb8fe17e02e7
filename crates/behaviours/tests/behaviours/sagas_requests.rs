//! Runs that roll back: their status, and requests to end them.

use everstep::control::{Because, Effect};
use everstep::{AnyEvent, Ctx, Error, Result, RunStatus, Workflows, minutes, secs};

use crate::control_support::status_everywhere;
use crate::support::{Ping, failure, for_each_store, ok, output, ping, start, start_with};

/// Has something to undo, which takes a minute.
async fn slow_undo(ctx: &Ctx<AnyEvent>) -> Result<u32> {
    ctx.step("book", || ok(1))
        .undo(|_| async {
            tokio::time::sleep(minutes(1)).await;
            Ok::<_, Error>(())
        })
        .await
}

// B725
#[test]
fn a_request_to_end_a_run_that_rolls_back_to_its_end_changes_nothing_and_says_so() {
    for_each_store(async |store| {
        let code = |ctx: Ctx<AnyEvent>, (): ()| async move {
            slow_undo(&ctx).await?;
            Err::<u32, _>(Error::fatal("sold out"))
        };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let run = start(&test).await;
        test.advance(secs(10)).await;
        assert_eq!(status_everywhere(&test, &run).await, RunStatus::RollingBack);
        for done in [
            run.cancel().await.unwrap(),
            run.cancel().keep().await.unwrap(),
            run.force_fail("x").await.unwrap(),
        ] {
            assert_eq!(done.effect, Effect::Nothing(Because::Ending), "{done}");
            assert!(!done.changed());
        }
        assert_eq!(failure(&run).await.message, "sold out");
    });
}

// B726
#[test]
fn a_run_whose_code_rolls_back_has_one_status_everywhere() {
    for_each_store(async |store| {
        let code = |ctx: Ctx<AnyEvent>, (): ()| async move {
            slow_undo(&ctx).await?;
            ctx.rollback().await?;
            ctx.step("train", || async {
                tokio::time::sleep(minutes(1)).await;
                ok(1).await
            })
            .await
        };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let run = start(&test).await;
        test.advance(secs(10)).await;
        assert_eq!(status_everywhere(&test, &run).await, RunStatus::RollingBack);
        test.advance(minutes(1)).await;
        assert_eq!(status_everywhere(&test, &run).await, RunStatus::Running);
        assert_eq!(output::<u32>(&run).await, 1);
    });
}

// B725, B726
#[test]
fn a_rollback_that_the_code_requested_can_be_cancelled() {
    for_each_store(async |store| {
        let code = |ctx: Ctx<AnyEvent>, (): ()| async move {
            slow_undo(&ctx).await?;
            ctx.rollback().await?;
            ctx.step("train", || ok(1)).await
        };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let run = start(&test).await;
        test.advance(secs(10)).await;
        let done = run.cancel().await.unwrap();
        assert_eq!(done.effect, Effect::Done);
        assert_eq!(status_everywhere(&test, &run).await, RunStatus::RollingBack);
        test.advance(minutes(1)).await;
        test.reach(&run, RunStatus::Cancelled).await;
        assert_eq!(test.calls("train"), 0);
    });
}

// B726
#[test]
fn a_run_that_waits_after_its_rollback_is_waiting_everywhere_also_after_a_crash() {
    for_each_store(async |store| {
        let code = |ctx: Ctx<AnyEvent>, (): ()| async move {
            let waits = ctx.event::<Ping>();
            let rolls_back = async {
                slow_undo(&ctx).await?;
                ctx.rollback().await
            };
            let (taken, ()) = tokio::try_join!(waits, rolls_back)?;
            Ok(taken.0)
        };
        let mut test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let run = start_with(&test, &()).await;
        test.advance(secs(10)).await;
        assert_eq!(status_everywhere(&test, &run).await, RunStatus::RollingBack);
        drop(run);
        let run = crate::support::restart(&mut test).await;
        test.advance(minutes(2)).await;
        assert_eq!(status_everywhere(&test, &run).await, RunStatus::Waiting);
        ping(&run, 4).await;
        assert_eq!(output::<u32>(&run).await, 4);
    });
}
