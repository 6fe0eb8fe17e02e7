//! Canonical workflows with requests of operators: pause, cancel with rollback, skip, recover and
//! fork.

use everstep::{
    AnyEvent, Ctx, Engine, Error, Result, RunHandle, RunStatus, WaitError, hours, millis,
};

use crate::assertions::{AssertionFailed, returns, same};
use crate::clients::{Patience, Ping, reach, run};
use crate::outside::Outside;
use crate::scenario::Canonical;

pub(crate) struct APauseAndAResume;

impl Canonical for APauseAndAResume {
    const NAME: &'static str = "a_pause_and_a_resume";
    type Output = u32;

    async fn run(ctx: Ctx<AnyEvent>, outside: Outside) -> Result<u32> {
        outside.step(&ctx, "a", 1).await?;
        ctx.sleep("nap", millis(20)).await?;
        outside.step(&ctx, "b", 2).await
    }

    async fn drive(engine: Engine, outside: Outside) -> std::result::Result<(), AssertionFailed> {
        let run = run(&engine).await?;
        let asleep = [RunStatus::Sleeping, RunStatus::Pausing, RunStatus::Paused];
        reach(&run, &outside, &asleep).await?;
        run.pause().await?;
        reach(&run, &outside, &[RunStatus::Paused]).await?;
        outside.sleep(millis(50)).await;
        run.resume().await?;
        returns(&run, 2).await?;
        outside.holds_in_order(&["a", "b"])
    }
}

pub(crate) struct ACancellationWithRollback;

impl Canonical for ACancellationWithRollback {
    const NAME: &'static str = "a_cancellation_with_rollback";
    type Output = u32;

    async fn run(ctx: Ctx<AnyEvent>, outside: Outside) -> Result<u32> {
        outside.undoable(&ctx, "a").await?;
        outside.undoable(&ctx, "b").await?;
        ctx.event::<Ping>().await?;
        outside.undoable(&ctx, "never").await
    }

    async fn drive(engine: Engine, outside: Outside) -> std::result::Result<(), AssertionFailed> {
        let run = run(&engine).await?;
        reach(&run, &outside, &[RunStatus::Waiting]).await?;
        run.cancel().reason("enough").await?;
        match run.wait_json().await {
            Err(WaitError::Cancelled(reason)) => {
                same("the reason", reason.as_deref(), Some("enough"))?;
            }
            other => {
                return Err(AssertionFailed::new(format!(
                    "it is not cancelled: {other:?}"
                )));
            }
        }
        outside.holds_in_order(&["a", "b", "undo b", "undo a"])
    }
}

pub(crate) struct AStepThatIsSkippedARunThatIsRecoveredAndItsFork;

impl Canonical for AStepThatIsSkippedARunThatIsRecoveredAndItsFork {
    const NAME: &'static str = "a_step_that_is_skipped_a_run_that_is_recovered_and_its_fork";
    type Output = u32;

    async fn run(ctx: Ctx<AnyEvent>, outside: Outside) -> Result<u32> {
        let a = outside.step(&ctx, "a", 1).await?;
        let b: u32 = ctx
            .step("stuck", || async {
                outside.sleep(hours(1_000)).await;
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
    }

    async fn drive(engine: Engine, outside: Outside) -> std::result::Result<(), AssertionFailed> {
        let run = run(&engine).await?;
        if run.generation().await?.0 == 1 {
            settle(&run, &outside).await?;
            if let Ok(result) = run.wait_json().await {
                return Err(AssertionFailed::new(format!(
                    "its first life gave {result:?}"
                )));
            }
            run.recover().await?;
        }
        returns(&run, 111).await?;
        let fork = run.fork().at("c").with_result(&200).id("f").await?;
        returns(&fork, 211).await?;
        outside.holds(&["a", "c"], 1)
    }
}

/// Skips the blocked step as soon as it exists.
async fn settle(run: &RunHandle, outside: &Outside) -> std::result::Result<(), AssertionFailed> {
    let mut patience = Patience::default();
    while !run.status().await?.is_terminal() {
        if run.skip_step("stuck").result(&10).await.is_ok() {
            break;
        }
        patience.wait(run, outside).await?;
    }
    Ok(())
}
