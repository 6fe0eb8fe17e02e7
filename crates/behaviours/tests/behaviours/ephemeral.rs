//! Ephemeral and fenced steps: which results cost a commit, and what a crash does to them.

use everstep::{AnyEvent, Ctx, Workflows, hours, minutes, secs};

use crate::support::{Ping, for_each_store, ok, output, ping, restart, start};

// B17
#[test]
fn ephemeral_results_are_written_with_the_next_durable_step() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(
                Workflows::new().function("w", |ctx: Ctx<AnyEvent>, _: ()| async move {
                    let a: u32 = ctx.step("a", || ok(1)).ephemeral().await?;
                    let b: u32 = ctx.step("b", || ok(2)).ephemeral().await?;
                    ctx.step("c", || ok(a + b)).await
                }),
            )
            .start()
            .await;
        let before = test.commits();
        let run = start(&test).await;
        assert_eq!(output::<u32>(&run).await, 3);
        // The start, the durable step with everything before it, the end.
        assert_eq!(test.commits() - before, 3);
    });
}

#[test]
fn an_ephemeral_result_that_became_durable_is_not_computed_again() {
    for_each_store(async |store| {
        let mut test = store
            .engine()
            .workflows(
                Workflows::new().function("w", |ctx: Ctx<AnyEvent>, _: ()| async move {
                    let a: u32 = ctx.step("a", || ok(1)).ephemeral().await?;
                    ctx.sleep("nap", hours(1)).await?;
                    Ok(a)
                }),
            )
            .start()
            .await;
        start(&test).await;
        test.advance(minutes(1)).await;
        let run = restart(&mut test).await;
        assert_eq!(output::<u32>(&run).await, 1);
        assert_eq!(test.calls("a"), 1);
    });
}

#[test]
fn an_ephemeral_result_takes_effect_when_its_work_ends_and_waits_for_no_commit() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .settings(|settings| settings.lazy_flush = hours(1))
            .workflows(
                Workflows::new().function("w", |ctx: Ctx<AnyEvent>, _: ()| async move {
                    let slow = || async {
                        tokio::time::sleep(minutes(1)).await;
                        ok(1).await
                    };
                    let a: u32 = ctx.step("a", slow).ephemeral().await?;
                    let b: u32 = ctx.step("b", slow).ephemeral().await?;
                    ctx.step("c", || ok(a + b)).await
                }),
            )
            .start()
            .await;
        let run = start(&test).await;
        let begun = test.now();
        assert_eq!(output::<u32>(&run).await, 2);
        assert_eq!(begun.until(test.now()), minutes(2));
    });
}

#[test]
fn an_ephemeral_result_lost_in_a_crash_is_computed_again() {
    for_each_store(async |store| {
        let mut test = store
            .engine()
            .settings(|settings| settings.lazy_flush = hours(1))
            .workflows(
                Workflows::new().function("w", |ctx: Ctx<AnyEvent>, _: ()| async move {
                    let a: u32 = ctx.step("a", || ok(1)).ephemeral().await?;
                    let b: u32 = ctx
                        .step("b", || async {
                            tokio::time::sleep(minutes(10)).await;
                            ok(2).await
                        })
                        .await?;
                    Ok(a + b)
                }),
            )
            .start()
            .await;
        start(&test).await;
        test.advance(minutes(1)).await;
        let run = restart(&mut test).await;
        assert_eq!(output::<u32>(&run).await, 3);
        assert_eq!(test.calls("a"), 2);
    });
}

#[test]
fn records_between_an_early_result_and_its_record_are_seen_after_it_on_replay() {
    for_each_store(async |store| {
        let mut test = store
            .engine()
            .settings(|settings| settings.lazy_flush = secs(30))
            .workflows(Workflows::new().function("w", |ctx: Ctx<AnyEvent>, _: ()| async move {
                let mut order = Vec::new();
                let early = async {
                    let a: u32 = ctx.step("a", || ok(1)).ephemeral().await?;
                    Ok::<_, everstep::Error>(a)
                };
                let event = ctx.event::<Ping>();
                let (mut early, mut event) = (std::pin::pin!(early), std::pin::pin!(event));
                // Keeps the run executing, so that nothing is written in between.
                let busy = ctx.step("busy", || async {
                    tokio::time::sleep(minutes(2)).await;
                    ok(()).await
                });
                let both = async {
                    for _ in 0..2 {
                        tokio::select! {
                            biased;
                            Ok(_) = &mut early, if !order.contains(&"early") => order.push("early"),
                            Ok(_) = &mut event, if !order.contains(&"event") => order.push("event"),
                        }
                    }
                };
                let (busy, ()) = tokio::join!(busy, both);
                busy?;
                ctx.sleep("nap", hours(1)).await?;
                Ok(order)
            }))
            .start()
            .await;
        let run = start(&test).await;
        test.advance(secs(1)).await;
        ping(&run, 1).await;
        test.advance(minutes(5)).await;
        let journal = test.journal(&run).await;
        let lines = journal.lines();
        let at = |line: &str| lines.iter().position(|known| known == line);
        assert!(at("event") < at("step_completed a:0"), "{lines:?}");
        assert!(at("event").is_some());
        let run = restart(&mut test).await;
        assert_eq!(output::<Vec<String>>(&run).await, ["early", "event"]);
    });
}
