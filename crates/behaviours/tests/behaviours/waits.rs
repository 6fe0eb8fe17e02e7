//! Waits for events: their deadlines, their order, and what happens to abandoned waits.

use everstep::journal::record::WaitCompleted;
use everstep::journal::{Body, RecordNumber};
use everstep::schemars::{self, JsonSchema};
use everstep::testing::{ReplayError, replay_check_function};
use everstep::{AnyEvent, Ctx, Event, Result, RunStatus, Workflows, hours, millis, minutes};
use serde::{Deserialize, Serialize};

use crate::support::{Ping, Seen, for_each_store, json, output, ping, restart, start};

fn wait_for(
    timeout: std::time::Duration,
) -> impl Fn(Ctx<AnyEvent>, ()) -> std::pin::Pin<Box<dyn Future<Output = Result<bool>> + Send>>
+ Send
+ Sync {
    move |ctx, ()| {
        Box::pin(async move { Ok(ctx.event::<Ping>().timeout(timeout).await?.is_some()) })
    }
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Named {
    by: String,
}
impl Event for Named {
    const NAME: &'static str = "named";
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Pong(u32);
impl Event for Pong {
    const NAME: &'static str = "pong";
}

// B75
#[test]
fn the_first_call_fixes_the_deadline_of_a_wait() {
    for_each_store(async |store| {
        let mut test = store
            .engine()
            .workflows(Workflows::new().function("w", wait_for(hours(1))))
            .start()
            .await;
        let end = test.now().after(hours(1));
        start(&test).await;
        test.advance(minutes(30)).await;
        test.redeploy(|deploy| {
            deploy.workflows(Workflows::new().function("w", wait_for(hours(9))))
        })
        .await;
        let run = test.run("r").await.unwrap();
        assert_eq!(
            run.inspect().await.unwrap().overview.waits[0].deadline,
            Some(end)
        );
        assert!(!output::<bool>(&run).await);
        assert!(end.until(test.now()) < millis(50));
    });
}

// B75, B76
#[test]
fn an_event_in_time_ends_the_recorded_timeout_even_if_the_code_changed_it() {
    for_each_store(async |store| {
        let mut test = store
            .engine()
            .workflows(Workflows::new().function("w", wait_for(hours(1))))
            .start()
            .await;
        start(&test).await;
        test.advance(minutes(30)).await;
        test.redeploy(|deploy| {
            deploy.workflows(Workflows::new().function("w", wait_for(hours(9))))
        })
        .await;
        let run = test.run("r").await.unwrap();
        ping(&run, 1).await;
        assert!(output::<bool>(&run).await);
        drop(run);
        assert_eq!(store.timers_left(test).await, []);
    });
}

// B76
#[test]
fn an_event_in_time_ends_the_timeout() {
    for_each_store(async |store| {
        let code = |ctx: Ctx<AnyEvent>, _: ()| async move {
            let first = ctx.event::<Ping>().timeout(hours(1)).await?.is_some();
            ctx.event::<Ping>().id("second").await?;
            Ok(first)
        };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let run = start(&test).await;
        test.reach(&run, RunStatus::Waiting).await;
        ping(&run, 1).await;
        test.advance(hours(2)).await;
        assert_eq!(test.journal(&run).await.count("timer_fired"), 0);
        ping(&run, 2).await;
        assert!(output::<bool>(&run).await);
    });
}

// B78, B80
#[test]
fn a_timeout_is_remembered_and_a_late_event_waits_for_a_later_wait() {
    for_each_store(async |store| {
        let seen = Seen::new();
        let inside = seen.clone();
        let code = move |ctx: Ctx<AnyEvent>, _: ()| {
            let seen = inside.clone();
            async move {
                let first = ctx.event::<Ping>().timeout(minutes(1)).await?;
                seen.add(first.clone());
                ctx.sleep("nap", hours(1)).await?;
                let second = ctx.event::<Ping>().timeout(minutes(1)).await?;
                Ok((first, second))
            }
        };
        let mut test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        start(&test).await;
        test.advance(minutes(30)).await;
        let run = restart(&mut test).await;
        ping(&run, 5).await;
        assert_eq!(
            output::<(Option<Ping>, Option<Ping>)>(&run).await,
            (None, Some(Ping(5)))
        );
        let seen = seen.take();
        assert!(
            seen.len() > 1 && seen.iter().all(Option::is_none),
            "{seen:?}"
        );
    });
}

#[test]
fn a_wait_may_fail_or_return_a_default_after_its_timeout() {
    for_each_store(async |store| {
        let code = |ctx: Ctx<AnyEvent>, _: ()| async move {
            let nobody = Named {
                by: "nobody".to_owned(),
            };
            let by = ctx
                .event::<Named>()
                .timeout(minutes(1))
                .or(nobody)
                .await?
                .by;
            let error = ctx
                .event::<Ping>()
                .timeout(minutes(1))
                .or_error()
                .await
                .unwrap_err();
            Ok((by, error.failure().code.clone()))
        };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let expected = ("nobody".to_owned(), "event_timed_out".to_owned());
        assert_eq!(
            output::<(String, String)>(&start(&test).await).await,
            expected
        );
    });
}

#[test]
fn a_dropped_wait_consumes_no_event() {
    for_each_store(async |store| {
        let code = |ctx: Ctx<AnyEvent>, _: ()| async move {
            ctx.sleep("nap", hours(1)).await?;
            // Both events have arrived: the first wins, and the second wait is dropped.
            let first = tokio::select! {
                biased;
                ping = ctx.event::<Ping>() => ping?.0,
                pong = ctx.event::<Pong>() => pong?.0,
            };
            let second = ctx.event::<Pong>().timeout(minutes(1)).await?;
            Ok((first, second))
        };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let run = start(&test).await;
        run.send_by_name("pong", json(&Pong(2)), None)
            .await
            .unwrap();
        ping(&run, 1).await;
        assert_eq!(
            output::<(u32, Option<Pong>)>(&run).await,
            (1, Some(Pong(2)))
        );
        assert_eq!(run.inspect().await.unwrap().overview.events, []);
    });
}

// B69
#[test]
fn of_several_waits_for_one_name_the_first_called_gets_the_first_event() {
    for early in [true, false] {
        for_each_store(async |store| {
            let code = |ctx: Ctx<AnyEvent>, _: ()| async move {
                ctx.sleep("nap", hours(1)).await?;
                let (a, b) =
                    tokio::try_join!(ctx.event::<Ping>().id("a"), ctx.event::<Ping>().id("b"))?;
                let c = ctx.event::<Ping>().await?;
                Ok([a.0, b.0, c.0])
            };
            let mut test = store
                .engine()
                .workflows(Workflows::new().function("w", code))
                .start()
                .await;
            let run = start(&test).await;
            if !early {
                test.advance(hours(2)).await;
            }
            ping(&run, 1).await;
            test.advance(hours(2)).await;
            ping(&run, 2).await;
            let run = restart(&mut test).await;
            ping(&run, 3).await;
            assert_eq!(output::<[u32; 3]>(&run).await, [1, 2, 3]);
        });
    }
}

// B95
#[test]
fn a_wait_that_takes_another_event_than_was_recorded_is_a_divergence() {
    for_each_store(async |store| {
        let code = |ctx: Ctx<AnyEvent>, _: ()| async move {
            ctx.sleep("nap", hours(1)).await?;
            ctx.event::<Ping>().await
        };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let run = start(&test).await;
        ping(&run, 1).await;
        ping(&run, 2).await;
        output::<Ping>(&run).await;
        let mut journal = run.journal().await.unwrap();
        for entry in &mut journal {
            if let Body::WaitCompleted(WaitCompleted { events, .. }) = &mut entry.record.body {
                *events = vec![RecordNumber(events[0].0 + 1)];
            }
        }
        let error = replay_check_function("w", code, journal).unwrap_err();
        assert!(matches!(error, ReplayError::Diverged(_)));
        assert!(error.to_string().contains("took records"), "{error}");
    });
}
