//! Steps, retries, timers, events, questions; early results.

use std::ops::ControlFlow;

use everstep::{Error, Event, Request, Retry, RunStatus, millis};
use serde::{Deserialize, Serialize};

use super::world::{assert_happened, assert_order, output, reach, run, send, survives_every_death};
use crate::support::{Ping, json};

// B1, B25, B42
#[test]
fn steps_that_are_retried_and_sleeps() {
    survives_every_death(
        |ctx, outside| async move {
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
        },
        async |engine, outside| {
            assert_eq!(output::<u32>(&run(&engine).await).await, 111);
            assert_order(&outside.take(), &["a", "b", "c"]);
        },
    );
}

#[derive(Serialize, Deserialize)]
struct Add(u32);

impl Event for Add {
    const NAME: &'static str = "add";
}

impl Request for Add {
    type Reply = u32;
}

// B68, B69, B84, B88
#[test]
fn events_that_come_early_in_batches_and_with_an_answer() {
    survives_every_death(
        |ctx, outside| async move {
            outside.step(&ctx, "a", 0).await?;
            let mut sum = 0;
            while sum < 6 {
                let batch = ctx.events::<Ping>(2).await?;
                sum += batch.iter().map(|Ping(n)| n).sum::<u32>();
            }
            let add = ctx.event::<Add>().received().await?;
            let total = outside.step(&ctx, "b", sum + add.event.0).await?;
            ctx.reply(&add, &total)?;
            let none = ctx.try_event::<Ping>().await?;
            Ok((total, none.is_none()))
        },
        async |engine, outside| {
            let run = run(&engine).await;
            for n in 1..=3 {
                send(&run, "ping", json(&Ping(n)), &format!("ping {n}")).await;
            }
            send(&run, "add", json(&Add(10)), "add").await;
            assert_eq!(output::<(u32, bool)>(&run).await, (16, true));
            assert_happened(&outside.take(), &["a", "b"], 1);
        },
    );
}

// B17
#[test]
fn early_results_and_fenced_steps() {
    survives_every_death(
        |ctx, outside| async move {
            let early = ctx.step("early", || outside.act("early", 1)).ephemeral();
            let early = early.await?;
            let fenced = ctx.step("fenced", || outside.act("fenced", 10)).fenced();
            let fenced = fenced.await?;
            let last = ctx.step("last", || outside.act("last", 100)).ephemeral();
            Ok(early + fenced + last.await?)
        },
        async |engine, outside| {
            assert_eq!(output::<u32>(&run(&engine).await).await, 111);
            // An early result that was not durable when the process died is computed again.
            assert_happened(&outside.take(), &["early", "fenced", "last"], 2);
        },
    );
}

// B60, B101, B102, B105
#[test]
fn a_loop_that_forgets_its_past() {
    survives_every_death(
        |ctx, outside| async move {
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
        },
        async |engine, outside| {
            assert_eq!(output::<u32>(&run(&engine).await).await, 15);
            let expected = ["s0", "s1", "s2", "s3", "s4", "s5", "after"];
            assert_order(&outside.take(), &expected);
        },
    );
}

// B144, B145
#[test]
fn a_pause_and_a_resume() {
    survives_every_death(
        |ctx, outside| async move {
            outside.step(&ctx, "a", 1).await?;
            ctx.sleep("nap", millis(20)).await?;
            outside.step(&ctx, "b", 2).await
        },
        async |engine, outside| {
            let run = run(&engine).await;
            reach(
                &run,
                &[RunStatus::Sleeping, RunStatus::Pausing, RunStatus::Paused],
            )
            .await;
            run.pause().await.unwrap();
            reach(&run, &[RunStatus::Paused]).await;
            tokio::time::sleep(millis(50)).await;
            run.resume().await.unwrap();
            assert_eq!(output::<u32>(&run).await, 2);
            assert_order(&outside.take(), &["a", "b"]);
        },
    );
}
