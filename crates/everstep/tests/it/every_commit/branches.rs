//! Joins, races, switches, children.

use everstep::{Ctx, Error, Payload, Retry, millis};

use super::world::{
    Outside, after_every_commit, assert_happened, output, run, send, survives_every_death,
};
use crate::support::{Ping, json};

// B111, B112, B113, B115
#[test]
fn joins_within_joins() {
    survives_every_death(
        |ctx, outside| async move {
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
        },
        async |engine, outside| {
            let run = run(&engine).await;
            send(&run, "ping", json(&Ping(10)), "ping").await;
            assert_eq!(output::<u32>(&run).await, 16);
            assert_happened(&outside.take(), &["l1", "l2", "l3", "r"], 3);
        },
    );
}

// B117, B119, B120
#[test]
fn a_race_of_a_step_an_event_and_a_timer() {
    survives_every_death(
        |ctx, outside| async move {
            let outside = &outside;
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
                    ctx.sleep("late", millis(10_000)).await?;
                    Ok(0)
                })
                .await?;
            let value = outside.step(&ctx, "after", won.value).await?;
            Ok((won.winner, value))
        },
        async |engine, outside| {
            let run = run(&engine).await;
            send(&run, "ping", json(&Ping(5)), "ping").await;
            let won = output::<(String, u32)>(&run).await;
            assert_eq!(won, ("event".to_owned(), 5));
            assert_happened(&outside.take(), &["after"], 1);
        },
    );
}

#[test]
fn a_switch_whose_value_is_not_the_same_twice() {
    survives_every_death(
        |ctx, outside| async move {
            let outside = &outside;
            // It is computed anew by every execution; the first choice that is durable stands.
            let value = if outside.is_quiet() { "first" } else { "later" };
            let chosen = ctx
                .switch("route", value)
                .case("first", |ctx| async move {
                    outside.step(&ctx, "a", 1).await?;
                    outside.step(&ctx, "b", 2).await
                })
                .case("later", |ctx| async move {
                    outside.step(&ctx, "c", 3).await?;
                    outside.step(&ctx, "d", 4).await
                })
                .await?;
            Ok(chosen)
        },
        async |engine, outside| {
            let chosen = output::<u32>(&run(&engine).await).await;
            let happened = outside.take();
            let last = if chosen == 2 { "b" } else { "d" };
            assert_eq!(
                happened.last().map(String::as_str),
                Some(last),
                "{happened:?}"
            );
        },
    );
}

// B166, B167
#[test]
fn children_that_succeed_and_fail() {
    let outside = Outside::default();
    let witness = outside.clone();
    after_every_commit(
        move |builder| {
            let (outside, child) = (witness.clone(), witness.clone());
            builder
                .function("child", move |ctx: Ctx, n: u32| {
                    let outside = child.clone();
                    async move {
                        let n = outside.step(&ctx, &format!("child {n}"), n).await?;
                        if n == 2 {
                            return Err(Error::fatal("two"));
                        }
                        Ok(n)
                    }
                })
                .function("w", move |ctx: Ctx, (): ()| {
                    let outside = outside.clone();
                    async move {
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
                })
        },
        async |engine| {
            assert_eq!(output::<u32>(&run(&engine).await).await, 104);
            let expected = ["child 1", "child 2", "child 3", "after"];
            assert_happened(&outside.take(), &expected, 1);
            assert_eq!(engine.list().await.unwrap().runs.len(), 4);
        },
    );
}
