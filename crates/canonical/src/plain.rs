//! Canonical workflows with steps, retries, timers, early results and loops.

use std::ops::ControlFlow;

use everstep::{AnyEvent, Ctx, Engine, Error, Result, Retry, millis};

use crate::assertions::{AssertionFailed, returns};
use crate::clients::run;
use crate::outside::Outside;
use crate::scenario::Canonical;

pub(crate) struct StepsThatAreRetriedAndSleeps;

impl Canonical for StepsThatAreRetriedAndSleeps {
    const NAME: &'static str = "steps_that_are_retried_and_sleeps";
    type Output = u32;

    async fn run(ctx: Ctx<AnyEvent>, outside: Outside) -> Result<u32> {
        let a = outside.step(&ctx, "a", 1).await?;
        let b = ctx
            .step_with("b", |step| {
                let outside = outside.clone();
                async move {
                    if step.attempt < 3 {
                        return Err(Error::new("not yet"));
                    }
                    outside.act("b", 10).await
                }
            })
            .retry(Retry::constant(8, millis(5)))
            .await?;
        ctx.sleep("nap", millis(20)).await?;
        let c = outside.step(&ctx, "c", 100).await?;
        Ok(a + b + c)
    }

    async fn drive(engine: Engine, outside: Outside) -> std::result::Result<(), AssertionFailed> {
        returns(&run(&engine).await?, 111).await?;
        outside.holds_in_order(&["a", "b", "c"])
    }
}

pub(crate) struct EarlyResultsAndFencedSteps;

impl Canonical for EarlyResultsAndFencedSteps {
    const NAME: &'static str = "early_results_and_fenced_steps";
    type Output = u32;

    async fn run(ctx: Ctx<AnyEvent>, outside: Outside) -> Result<u32> {
        let early = ctx.step("early", || outside.act("early", 1)).ephemeral();
        let early = early.await?;
        let fenced = ctx.step("fenced", || outside.act("fenced", 10)).fenced();
        let fenced = fenced.await?;
        let last = ctx.step("last", || outside.act("last", 100)).ephemeral();
        Ok(early + fenced + last.await?)
    }

    async fn drive(engine: Engine, outside: Outside) -> std::result::Result<(), AssertionFailed> {
        returns(&run(&engine).await?, 111).await?;
        // An early result that was not durable at the crash is computed again.
        outside.holds(&["early", "fenced", "last"], 2)
    }
}

pub(crate) struct ALoopThatForgetsItsPast;

impl Canonical for ALoopThatForgetsItsPast {
    const NAME: &'static str = "a_loop_that_forgets_its_past";
    type Output = u32;

    async fn run(ctx: Ctx<AnyEvent>, outside: Outside) -> Result<u32> {
        let outside = &outside;
        let sum = ctx.repeat("sum", (0_u32, 0_u32), |ctx, (n, sum)| async move {
            if n == 6 {
                return Ok(ControlFlow::Break(sum));
            }
            let n = outside.step(&ctx, &format!("s{n}"), n).await?;
            if n % 2 == 1 {
                ctx.sleep("nap", millis(3)).await?;
            }
            Ok(ControlFlow::Continue((n + 1, sum + n)))
        });
        let sum = sum.keep(1).await?;
        outside.step(&ctx, "after", sum).await
    }

    async fn drive(engine: Engine, outside: Outside) -> std::result::Result<(), AssertionFailed> {
        returns(&run(&engine).await?, 15).await?;
        outside.holds_in_order(&["s0", "s1", "s2", "s3", "s4", "s5", "after"])
    }
}
