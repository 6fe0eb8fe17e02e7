//! Requests of operators in the middle: cancelling with rollback, settling a step, recovering and forking.

use everstep::{Error, RunStatus, WaitError, millis};

use super::world::{assert_happened, assert_order, output, reach, run, survives_every_death};
use crate::support::Ping;

// B138, B154, B174
#[test]
fn a_cancellation_with_rollback() {
    survives_every_death(
        |ctx, outside| async move {
            outside.undoable(&ctx, "a").await?;
            outside.undoable(&ctx, "b").await?;
            ctx.event::<Ping>().await?;
            outside.undoable(&ctx, "never").await
        },
        async |engine, outside| {
            let run = run(&engine).await;
            reach(&run, &[RunStatus::Waiting]).await;
            run.cancel().rollback().reason("enough").await.unwrap();
            match run.wait_json().await {
                Err(WaitError::Cancelled(reason)) => assert_eq!(reason.as_deref(), Some("enough")),
                other => panic!("{other:?}"),
            }
            assert_order(&outside.take(), &["a", "b", "undo b", "undo a"]);
        },
    );
}

// B47, B183
#[test]
fn a_step_that_is_skipped_a_run_that_is_recovered_and_its_fork() {
    survives_every_death(
        |ctx, outside| async move {
            let a = outside.step(&ctx, "a", 1).await?;
            let b: u32 = ctx
                .step("stuck", || async {
                    tokio::time::sleep(millis(1_000_000)).await;
                    Ok::<_, Error>(0)
                })
                .await?;
            let c = ctx.step("c", || async {
                if ctx.metadata().generation.0 == 1 {
                    return Err(Error::fatal("in its first life"));
                }
                outside.act("c", 100).await
            });
            Ok(a + b + c.await?)
        },
        async |engine, outside| {
            let run = run(&engine).await;
            if run.generation().await.unwrap().0 == 1 {
                settle(&run).await;
                assert!(run.wait_json().await.is_err());
                run.recover().await.unwrap();
            }
            assert_eq!(output::<u32>(&run).await, 111);
            let fork = run.fork().at("c").with_result(&200).id("f").await.unwrap();
            assert_eq!(output::<u32>(&fork).await, 211);
            assert_happened(&outside.take(), &["a", "c"], 1);
        },
    );
}

/// Skips the step that is stuck, as soon as it is there.
async fn settle(run: &everstep::RunHandle) {
    for _ in 0..10_000 {
        if run.status().await.unwrap().is_terminal() {
            return;
        }
        let skipped = run.skip_step("stuck").result(&10).await;
        if skipped.is_ok() {
            return;
        }
        tokio::time::sleep(millis(1)).await;
    }
    panic!("{}", run.why().await.unwrap());
}
