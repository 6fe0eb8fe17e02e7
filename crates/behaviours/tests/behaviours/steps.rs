//! Steps and replay: a step with a recorded result is never executed again.

use everstep::inspect::StepStatus;
use everstep::{
    AnyEvent, Ctx, Error, ErrorCode, Retry, RunStatus, Workflows, hours, minutes, secs,
};

use crate::support::{
    Ping, Seen, fail, failure, for_each_store, json, ok, output, ping, restart, start, start_with,
};

// B1, B2
#[test]
fn a_completed_step_is_not_executed_again_even_if_it_returned_nothing() {
    for_each_store(async |store| {
        let code = |ctx: Ctx<AnyEvent>, _: ()| async move {
            let a: u32 = ctx.step("a", || ok(7)).await?;
            ctx.step("b", || ok(())).await?;
            ctx.sleep("nap", hours(1)).await?;
            Ok(a + 1)
        };
        let mut test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        start(&test).await;
        test.advance(minutes(1)).await;
        let run = restart(&mut test).await;
        assert_eq!(output::<u32>(&run).await, 8);
        assert_eq!((test.calls("a"), test.calls("b")), (1, 1));
    });
}

// B1
#[test]
fn a_step_cut_short_by_a_crash_runs_again_and_no_other_does() {
    for_each_store(async |store| {
        let mut test = store
            .engine()
            .workflows(
                Workflows::new().function("w", |ctx: Ctx<AnyEvent>, _: ()| async move {
                    let a: u32 = ctx.step("a", || ok(1)).await?;
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
        test.advance(minutes(5)).await;
        let run = restart(&mut test).await;
        assert_eq!(output::<u32>(&run).await, 3);
        assert_eq!((test.calls("a"), test.calls("b")), (1, 2));
        let steps = [
            ("a:0", StepStatus::Completed, 1),
            ("b:0", StepStatus::Completed, 2),
        ];
        test.journal(&run).await.assert_steps(&steps);
    });
}

// B4
#[test]
fn a_caught_failure_is_the_same_after_a_restart_and_the_step_stays_failed() {
    for_each_store(async |store| {
        let seen = Seen::new();
        let inside = seen.clone();
        let code = move |ctx: Ctx<AnyEvent>, _: ()| {
            let seen = inside.clone();
            async move {
                let caught = ctx.try_step("a", || fail("no luck")).await?;
                seen.add(caught.unwrap_err());
                ctx.sleep("nap", hours(1)).await?;
                Ok(())
            }
        };
        let mut test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        start(&test).await;
        test.advance(minutes(5)).await;
        let run = restart(&mut test).await;
        output::<()>(&run).await;
        let seen = seen.take();
        assert_eq!(seen.len(), 2);
        assert_eq!(seen[0], seen[1]);
        assert_eq!(
            (seen[0].error.message.as_str(), seen[0].error.attempt),
            ("no luck", 4)
        );
        assert_eq!(test.calls("a"), 4);
    });
}

// B10, B198
#[test]
fn steps_of_one_name_are_counted() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(
                Workflows::new().function("w", |ctx: Ctx<AnyEvent>, _: ()| async move {
                    let mut sum = 0;
                    for n in 0..3 {
                        sum += ctx.step("item", || ok(n)).await?;
                    }
                    Ok(sum)
                }),
            )
            .start()
            .await;
        let run = start(&test).await;
        assert_eq!(output::<u32>(&run).await, 3);
        let steps =
            ["item:0", "item:1", "item:2"].map(|location| (location, StepStatus::Completed, 1));
        test.journal(&run).await.assert_steps(&steps);
    });
}

// B15
#[test]
fn a_step_sees_its_attempt_its_name_its_count_and_its_options() {
    for_each_store(async |store| {
        let seen = Seen::new();
        let inside = seen.clone();
        let code = move |ctx: Ctx<AnyEvent>, _: ()| {
            let seen = inside.clone();
            async move {
                for _ in 0..2 {
                    ctx.step_with("a", |mut step| {
                        let (limit, key) = (step.options.retry.limit, step.idempotency_key());
                        seen.add((step.attempt, step.name.clone(), step.count, limit, key));
                        // A copy, so the change has no effect.
                        step.options.retry.limit = 99;
                        async move {
                            if step.attempt < 3 {
                                Err(Error::new("again"))
                            } else {
                                Ok(())
                            }
                        }
                    })
                    .retry(Retry::constant(2, secs(1)))
                    .await?;
                }
                Ok(())
            }
        };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        output::<()>(&start(&test).await).await;
        let seen = seen.take();
        let short: Vec<_> = seen
            .iter()
            .map(|(attempt, name, count, limit, _)| (*attempt, name.as_str(), *count, *limit))
            .collect();
        assert_eq!(
            short,
            [1, 2, 3]
                .map(|n| (n, "a", 0, 2))
                .into_iter()
                .chain([1, 2, 3].map(|n| (n, "a", 1, 2)))
                .collect::<Vec<_>>()
        );
        let keys: Vec<_> = seen.iter().map(|(.., key)| key).collect();
        assert!(
            keys[0] == keys[1] && keys[1] == keys[2],
            "all attempts of a step share its key"
        );
        assert_ne!(keys[0], keys[3], "another step has another key");
    });
}

// B16
#[test]
fn options_are_fixed_by_the_first_attempt() {
    for_each_store(async |store| {
        let with = |retry: Retry| {
            move |ctx: Ctx<AnyEvent>, _: ()| async move {
                ctx.step("a", || fail("no luck")).retry(retry).await
            }
        };
        let mut test = store
            .engine()
            .workflows(Workflows::new().function("w", with(Retry::constant(3, hours(1)))))
            .start()
            .await;
        start(&test).await;
        test.advance(minutes(30)).await;
        test.redeploy(|deploy| {
            deploy.workflows(Workflows::new().function("w", with(Retry::none())))
        })
        .await;
        let begun = test.now();
        let failure = failure(&test.run("r").await.unwrap()).await;
        assert!(failure.is(ErrorCode::StepExhausted));
        assert_eq!(test.calls("a"), 4);
        assert_eq!(begun.until(test.now()).as_secs() / 60, 150);
    });
}

// B18
#[test]
fn replaying_an_unchanged_history_writes_nothing() {
    for_each_store(async |store| {
        let mut test = store
            .engine()
            .evict_all()
            .workflows(
                Workflows::new().function("w", |ctx: Ctx<AnyEvent>, _: ()| async move {
                    ctx.note("begun");
                    let a: u32 = ctx.step("a", || ok(1)).await?;
                    ctx.set_row("progress", "a", &a)?;
                    let Ping(n) = ctx.event::<Ping>().await?;
                    Ok(a + n)
                }),
            )
            .start()
            .await;
        let run = start(&test).await;
        test.reach(&run, RunStatus::Waiting).await;
        let before = run.journal().await.unwrap();
        // Wakes the run, which is rebuilt from its journal and waits again.
        run.send_by_name("other", json(&()), None).await.unwrap();
        test.reach(&run, RunStatus::Waiting).await;
        let run = restart(&mut test).await;
        run.send_by_name("other", json(&()), None).await.unwrap();
        test.reach(&run, RunStatus::Waiting).await;
        let after = run.journal().await.unwrap();
        assert_eq!(after[..before.len()], before);
        let rest: Vec<_> = after[before.len()..]
            .iter()
            .map(|entry| entry.record.body.type_name())
            .collect();
        assert_eq!(rest, ["event", "event"]);
        ping(&run, 2).await;
        assert_eq!(output::<u32>(&run).await, 3);
    });
}

// B24
#[test]
fn the_first_input_is_used_despite_later_starts() {
    for_each_store(async |store| {
        let mut test = store
            .engine()
            .workflows(
                Workflows::new().function("w", |ctx: Ctx<AnyEvent>, n: u32| async move {
                    ctx.sleep("nap", hours(1)).await?;
                    Ok(n)
                }),
            )
            .start()
            .await;
        start_with(&test, &1).await;
        test.advance(minutes(1)).await;
        test.restart().await;
        let run = start_with(&test, &2).await;
        assert!(!run.created());
        assert_eq!(output::<u32>(&run).await, 1);
    });
}
