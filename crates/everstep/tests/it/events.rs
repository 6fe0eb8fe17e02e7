//! Events: kept in order, consumed once, never lost.

use std::future::Future;

use everstep::record::WaitCompleted;
use everstep::testing::{ReplayError, replay_check_function};
use everstep::{
    Body, Ctx, ErrorCode, Event, RecordNumber, Result, RunStatus, Sent, Timestamp, hours, millis,
    minutes, secs,
};
use serde::{Deserialize, Serialize};

use crate::support::{Ping, Seen, for_each_store, json, ok, output, ping, restart, start};

// B68, B69, B70
#[test]
fn events_that_come_early_are_kept_and_taken_in_order_without_waiting() {
    for_each_store(async |store| {
        let code = |ctx: Ctx, _: ()| async move {
            ctx.sleep("nap", hours(1)).await?;
            let mut taken = Vec::new();
            for _ in 0..4 {
                taken.push(ctx.event::<Ping>().await?.0);
            }
            Ok(taken)
        };
        let mut test = store.engine().function("w", code).start().await;
        let end = test.now().after(hours(1));
        let run = start(&test).await;
        ping(&run, 7).await;
        ping(&run, 3).await;
        test.advance(minutes(1)).await;
        let run = restart(&mut test).await;
        ping(&run, 3).await;
        ping(&run, 5).await;
        assert_eq!(output::<Vec<u32>>(&run).await, [7, 3, 3, 5]);
        assert_eq!(test.now(), end);
    });
}

// B72, B192
#[test]
fn a_waiting_run_says_what_it_waits_for() {
    for_each_store(async |store| {
        let code = |ctx: Ctx, _: ()| async move { ctx.event::<Ping>().timeout(hours(1)).await };
        let test = store.engine().function("w", code).start().await;
        let run = start(&test).await;
        test.reach(&run, RunStatus::Waiting).await;
        let waits = run.inspect().await.unwrap().overview.waits;
        assert_eq!(waits.len(), 1);
        assert_eq!(
            (
                waits[0].names[0].as_str(),
                waits[0].location.to_string().as_str()
            ),
            ("ping", "ping:0")
        );
        let why = run.why().await.unwrap().to_string();
        assert!(
            why.starts_with("waiting: it waits for event `ping` since"),
            "{why}"
        );
        ping(&run, 1).await;
        output::<Option<Ping>>(&run).await;
        assert_eq!(run.inspect().await.unwrap().overview.waits, []);
    });
}

fn wait_for(
    timeout: std::time::Duration,
) -> impl Fn(Ctx, ()) -> std::pin::Pin<Box<dyn Future<Output = Result<bool>> + Send>> + Send + Sync
{
    move |ctx, ()| {
        Box::pin(async move { Ok(ctx.event::<Ping>().timeout(timeout).await?.is_some()) })
    }
}

// B75
#[test]
fn the_first_call_fixes_the_deadline_of_a_wait() {
    for_each_store(async |store| {
        let mut test = store
            .engine()
            .function("w", wait_for(hours(1)))
            .start()
            .await;
        let end = test.now().after(hours(1));
        start(&test).await;
        test.advance(minutes(30)).await;
        test.redeploy(|deploy| deploy.function("w", wait_for(hours(9))))
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

// B76
#[test]
fn an_event_in_time_ends_the_timeout() {
    for_each_store(async |store| {
        let code = |ctx: Ctx, _: ()| async move {
            let first = ctx.event::<Ping>().timeout(hours(1)).await?.is_some();
            ctx.event::<Ping>().id("second").await?;
            Ok(first)
        };
        let test = store.engine().function("w", code).start().await;
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
        let code = move |ctx: Ctx, _: ()| {
            let seen = inside.clone();
            async move {
                let first = ctx.event::<Ping>().timeout(minutes(1)).await?;
                seen.add(first.clone());
                ctx.sleep("nap", hours(1)).await?;
                let second = ctx.event::<Ping>().timeout(minutes(1)).await?;
                Ok((first, second))
            }
        };
        let mut test = store.engine().function("w", code).start().await;
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

// B82
#[test]
fn an_event_sent_while_a_step_runs_is_there_for_a_later_wait() {
    for_each_store(async |store| {
        let code = |ctx: Ctx, _: ()| async move {
            let work = || async {
                tokio::time::sleep(minutes(10)).await;
                ok(()).await
            };
            ctx.step("long", work).await?;
            ctx.event::<Ping>().await
        };
        let test = store.engine().function("w", code).start().await;
        let begun = test.now();
        let run = start(&test).await;
        test.advance(minutes(5)).await;
        ping(&run, 4).await;
        assert_eq!(output::<Ping>(&run).await, Ping(4));
        assert_eq!(begun.until(test.now()).as_secs(), 600);
    });
}

// B83, B99
#[test]
fn an_event_wakes_a_run_at_once_in_memory_or_not() {
    for evict in [false, true] {
        for_each_store(async |store| {
            let code = |ctx: Ctx, _: ()| async move { ctx.event::<Ping>().await };
            let builder = store.engine().function("w", code);
            let builder = if evict { builder.evict_all() } else { builder };
            let test = builder.start().await;
            let run = start(&test).await;
            test.reach(&run, RunStatus::Waiting).await;
            assert_eq!(test.hot_runs(), usize::from(!evict));
            let sent = test.now();
            ping(&run, 1).await;
            output::<Ping>(&run).await;
            assert_eq!(sent.until(test.now()), millis(0));
        });
    }
}

// B95
#[test]
fn a_wait_that_takes_another_event_than_was_recorded_is_a_divergence() {
    for_each_store(async |store| {
        let code = |ctx: Ctx, _: ()| async move {
            ctx.sleep("nap", hours(1)).await?;
            ctx.event::<Ping>().await
        };
        let test = store.engine().function("w", code).start().await;
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

// B96
#[test]
fn an_event_sent_at_the_very_moment_of_the_wait_is_not_lost() {
    for evict in [false, true] {
        for_each_store(async |store| {
            let code = |ctx: Ctx, n: u64| async move {
                ctx.step("a", || ok(())).await?;
                ctx.sleep("nap", millis(n % 7 + 1)).await?;
                let Ping(first) = ctx.event::<Ping>().await?;
                let Ping(second) = ctx.event::<Ping>().await?;
                Ok((first, second))
            };
            let builder = store.engine().function("w", code);
            let test = if evict { builder.evict_all() } else { builder }
                .start()
                .await;
            let runs = (0..40_u64).map(async |n| {
                let run = test.start_by_name("w", json(&n)).await.unwrap();
                tokio::time::sleep(millis(n % 11)).await;
                tokio::join!(ping(&run, 1), ping(&run, 2));
                let (first, second) = output::<(u32, u32)>(&run).await;
                assert_eq!(first + second, 3);
            });
            futures_util::future::join_all(runs).await;
        });
    }
}

// B98
#[test]
fn the_journal_keeps_name_payload_and_time_of_an_event() {
    for_each_store(async |store| {
        let code = |ctx: Ctx, _: ()| async move {
            ctx.event::<Ping>().await?;
            Ok(ctx.now())
        };
        let test = store.engine().function("w", code).start().await;
        let run = start(&test).await;
        test.advance(minutes(3)).await;
        let sent_at = test.now();
        ping(&run, 9).await;
        assert_eq!(
            output::<Timestamp>(&run).await,
            sent_at,
            "the code's clock is that of the event"
        );
        let journal = run.journal().await.unwrap();
        let event = journal.iter().find_map(|entry| match &entry.record.body {
            Body::Event(event) => Some((entry.record.time, event)),
            _ => None,
        });
        let (time, event) = event.unwrap();
        assert_eq!(
            (time, event.name.as_str(), &event.payload),
            (sent_at, Ping::NAME, &json(&Ping(9)))
        );
    });
}

#[test]
fn an_event_with_a_dedup_id_is_seen_once() {
    for_each_store(async |store| {
        let code = |ctx: Ctx, _: ()| async move {
            let first = ctx.event::<Ping>().await?;
            let second = ctx.event::<Ping>().timeout(hours(1)).await?;
            Ok((first, second))
        };
        let mut test = store.engine().function("w", code).start().await;
        let run = start(&test).await;
        let send = async |run: &everstep::RunHandle, n| {
            run.send_by_name("ping", json(&Ping(n)), Some("x".to_owned()))
                .await
        };
        let Sent::Accepted(first) = send(&run, 1).await.unwrap() else {
            panic!("not accepted")
        };
        assert_eq!(send(&run, 2).await.unwrap(), Sent::Duplicate(first));
        let run = restart(&mut test).await;
        assert_eq!(send(&run, 3).await.unwrap(), Sent::Duplicate(first));
        assert_eq!(output::<(Ping, Option<Ping>)>(&run).await, (Ping(1), None));
    });
}

#[test]
fn a_finished_run_refuses_events_with_the_reason() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .function("w", |_: Ctx, _: ()| async { Ok(()) })
            .start()
            .await;
        let run = start(&test).await;
        output::<()>(&run).await;
        let error = run
            .send_by_name("ping", json(&Ping(1)), None)
            .await
            .unwrap_err();
        assert_eq!(
            (error.code(), error.finished_as()),
            (ErrorCode::RunFinished, Some(RunStatus::Completed))
        );
        test.journal(&run)
            .await
            .assert_kinds(&["created", "completed"]);
    });
}

// B186
#[test]
fn too_many_and_too_large_events_are_refused_each_with_its_code() {
    for_each_store(async |store| {
        let code = |ctx: Ctx, _: ()| async move {
            ctx.sleep("nap", hours(1)).await?;
            ctx.event::<Ping>().await?;
            ctx.sleep("nap", hours(1)).await
        };
        let test = store.engine().function("w", code).start().await;
        let run = start(&test).await;
        let large = "x".repeat(1024 * 1024);
        let error = run
            .send_by_name(
                "ping",
                everstep::Payload::from_json(format!("\"{large}\"")).unwrap(),
                None,
            )
            .await;
        assert_eq!(error.unwrap_err().code(), ErrorCode::PayloadTooLarge);
        futures_util::future::join_all((0..10_000).map(|n| ping(&run, n))).await;
        let error = run
            .send_by_name("ping", json(&Ping(0)), None)
            .await
            .unwrap_err();
        assert_eq!(error.code(), ErrorCode::TooManyEvents);
        test.advance(hours(1) + secs(1)).await;
        ping(&run, 0).await;
    });
}

#[derive(Serialize, Deserialize)]
struct Named {
    by: String,
}
impl Event for Named {
    const NAME: &'static str = "named";
}

#[test]
fn a_wait_may_raise_or_take_a_default_when_nothing_came() {
    for_each_store(async |store| {
        let code = |ctx: Ctx, _: ()| async move {
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
        let test = store.engine().function("w", code).start().await;
        let expected = ("nobody".to_owned(), "event_timed_out".to_owned());
        assert_eq!(
            output::<(String, String)>(&start(&test).await).await,
            expected
        );
    });
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Pong(u32);
impl Event for Pong {
    const NAME: &'static str = "pong";
}

#[test]
fn a_wait_that_is_given_up_takes_no_event_with_it() {
    for_each_store(async |store| {
        let code = |ctx: Ctx, _: ()| async move {
            ctx.sleep("nap", hours(1)).await?;
            // Both are there already: the first wins, the second is dropped before it is seen.
            let first = tokio::select! {
                biased;
                ping = ctx.event::<Ping>() => ping?.0,
                pong = ctx.event::<Pong>() => pong?.0,
            };
            let second = ctx.event::<Pong>().timeout(minutes(1)).await?;
            Ok((first, second))
        };
        let test = store.engine().function("w", code).start().await;
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
            let code = |ctx: Ctx, _: ()| async move {
                ctx.sleep("nap", hours(1)).await?;
                let (a, b) =
                    tokio::try_join!(ctx.event::<Ping>().id("a"), ctx.event::<Ping>().id("b"))?;
                let c = ctx.event::<Ping>().await?;
                Ok([a.0, b.0, c.0])
            };
            let mut test = store.engine().function("w", code).start().await;
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
