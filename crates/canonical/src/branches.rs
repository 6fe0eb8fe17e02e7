//! Canonical workflows with joins, races, switches and children.

use everstep::{AnyEvent, Ctx, Engine, Error, Payload, Result, Retry, hours};

use crate::assertions::{AssertionFailed, returns, same};
use crate::clients::{Ping, run, send};
use crate::outside::Outside;
use crate::scenario::{Canonical, Registry, WORKFLOW};

pub(crate) struct JoinsWithinJoins;

impl Canonical for JoinsWithinJoins {
    const NAME: &'static str = "joins_within_joins";
    type Output = u32;

    async fn run(ctx: Ctx<AnyEvent>, outside: Outside) -> Result<u32> {
        let outside = &outside;
        let (a, b) = ctx
            .join("outer")
            .branch("left", |ctx| async move {
                let numbers = ctx
                    .for_each("each", 1..=3_u32, |ctx, n| async move {
                        outside.step(&ctx, &format!("l{n}"), n).await
                    })
                    .concurrency(2)
                    .await?;
                Ok(numbers.iter().sum::<u32>())
            })
            .branch("right", |ctx| async move {
                let Ping(n) = ctx.event::<Ping>().await?;
                outside.step(&ctx, "r", n).await
            })
            .await?;
        Ok(a + b)
    }

    async fn drive(engine: Engine, outside: Outside) -> std::result::Result<(), AssertionFailed> {
        let run = run(&engine).await?;
        send(&run, &Ping(10), "ping").await?;
        returns(&run, 16).await?;
        outside.holds(&["l1", "l2", "l3", "r"], 3)
    }
}

pub(crate) struct ARaceOfAStepAnEventAndATimer;

impl Canonical for ARaceOfAStepAnEventAndATimer {
    const NAME: &'static str = "a_race_of_a_step_an_event_and_a_timer";
    type Output = (String, u32);

    async fn run(ctx: Ctx<AnyEvent>, outside: Outside) -> Result<(String, u32)> {
        let won = ctx
            .race("first")
            .branch("fails", |ctx| async move {
                let step = ctx.step("f", || async { Err(Error::fatal("no")) });
                step.retry(Retry::none()).await
            })
            .branch("event", |ctx| async move {
                let Ping(n) = ctx.event::<Ping>().await?;
                Ok(n)
            })
            .branch("timer", |ctx| async move {
                // Longer than processes are down in the tests.
                ctx.sleep("late", hours(1)).await?;
                Ok(0)
            })
            .await?;
        let value = outside.step(&ctx, "after", won.value).await?;
        Ok((won.winner, value))
    }

    async fn drive(engine: Engine, outside: Outside) -> std::result::Result<(), AssertionFailed> {
        let run = run(&engine).await?;
        send(&run, &Ping(5), "ping").await?;
        returns(&run, ("event".to_owned(), 5)).await?;
        outside.holds(&["after"], 1)
    }
}

pub(crate) struct ASwitchWhoseValueIsNotTheSameTwice;

impl Canonical for ASwitchWhoseValueIsNotTheSameTwice {
    const NAME: &'static str = "a_switch_whose_value_is_not_the_same_twice";
    type Output = u32;

    async fn run(ctx: Ctx<AnyEvent>, outside: Outside) -> Result<u32> {
        let outside = &outside;
        // Every execution computes the choice again, but only the first durable choice counts.
        let value = if outside.is_quiet() { "first" } else { "later" };
        ctx.switch("route", value)
            .case("first", |ctx, _| async move {
                outside.step(&ctx, "a", 1).await?;
                outside.step(&ctx, "b", 2).await
            })
            .case("later", |ctx, _| async move {
                outside.step(&ctx, "c", 3).await?;
                outside.step(&ctx, "d", 4).await
            })
            .await
    }

    async fn drive(engine: Engine, outside: Outside) -> std::result::Result<(), AssertionFailed> {
        let chosen: u32 = run(&engine).await?.wait_json().await?.decode()?;
        let happened = outside.happened();
        let last = if chosen == 2 { "b" } else { "d" };
        same(
            "the last thing",
            happened.last().map(String::as_str),
            Some(last),
        )
    }
}

pub(crate) struct ChildrenThatSucceedAndFail;

impl Canonical for ChildrenThatSucceedAndFail {
    const NAME: &'static str = "children_that_succeed_and_fail";
    type Output = u32;

    async fn run(ctx: Ctx<AnyEvent>, outside: Outside) -> Result<u32> {
        let mut sum = 0;
        for n in 1..=3_u32 {
            let child = ctx.child_by_name("child", Payload::from_value(&n)?);
            sum += match child.await {
                Ok(result) => result.decode::<u32>()?,
                Err(error) if error.is(everstep::ErrorCode::ChildFailed) => 100,
                Err(error) => return Err(error),
            };
        }
        outside.step(&ctx, "after", sum).await
    }

    fn define<R: Registry>(registry: R, outside: &Outside) -> R {
        let (outside, child) = (outside.clone(), outside.clone());
        registry
            .function("child", move |ctx: Ctx<AnyEvent>, n: u32| {
                let outside = child.clone();
                async move {
                    let n = outside.step(&ctx, &format!("child {n}"), n).await?;
                    match n {
                        2 => Err(Error::fatal("two")),
                        n => Ok(n),
                    }
                }
            })
            .function(WORKFLOW, move |ctx, (): ()| Self::run(ctx, outside.clone()))
    }

    async fn drive(engine: Engine, outside: Outside) -> std::result::Result<(), AssertionFailed> {
        returns(&run(&engine).await?, 104).await?;
        outside.holds(&["child 1", "child 2", "child 3", "after"], 1)?;
        same("runs", engine.list().await?.runs.len(), 4)
    }
}
