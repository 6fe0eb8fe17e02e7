//! Events: kept in order, consumed once, never lost.

use everstep::control::Sent;
use everstep::journal::{Body, Timestamp};
use everstep::{
    AnyEvent, Ctx, ErrorCode, Event, RunStatus, Workflows, hours, millis, minutes, secs,
};

use crate::support::{Ping, for_each_store, json, ok, output, ping, restart, start};

// B68, B69, B70
#[test]
fn early_events_are_kept_and_taken_in_order_without_waiting() {
    for_each_store(async |store| {
        let code = |ctx: Ctx<AnyEvent>, _: ()| async move {
            ctx.sleep("nap", hours(1)).await?;
            let mut taken = Vec::new();
            for _ in 0..4 {
                taken.push(ctx.event::<Ping>().await?.0);
            }
            Ok(taken)
        };
        let mut test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
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
fn a_waiting_run_shows_what_it_waits_for() {
    for_each_store(async |store| {
        let code =
            |ctx: Ctx<AnyEvent>, _: ()| async move { ctx.event::<Ping>().timeout(hours(1)).await };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
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

// B82
#[test]
fn an_event_sent_while_a_step_runs_is_kept_for_a_later_wait() {
    for_each_store(async |store| {
        let code = |ctx: Ctx<AnyEvent>, _: ()| async move {
            let work = || async {
                tokio::time::sleep(minutes(10)).await;
                ok(()).await
            };
            ctx.step("long", work).await?;
            ctx.event::<Ping>().await
        };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
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
            let code = |ctx: Ctx<AnyEvent>, _: ()| async move { ctx.event::<Ping>().await };
            let builder = store
                .engine()
                .workflows(Workflows::new().function("w", code));
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

// B96
#[test]
fn an_event_sent_concurrently_with_the_wait_is_not_lost() {
    for evict in [false, true] {
        for_each_store(async |store| {
            let code = |ctx: Ctx<AnyEvent>, n: u64| async move {
                ctx.step("a", || ok(())).await?;
                ctx.sleep("nap", millis(n % 7 + 1)).await?;
                let Ping(first) = ctx.event::<Ping>().await?;
                let Ping(second) = ctx.event::<Ping>().await?;
                Ok((first, second))
            };
            let builder = store
                .engine()
                .workflows(Workflows::new().function("w", code));
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
        let code = |ctx: Ctx<AnyEvent>, _: ()| async move {
            ctx.event::<Ping>().await?;
            Ok(ctx.now())
        };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
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
        let code = |ctx: Ctx<AnyEvent>, _: ()| async move {
            let first = ctx.event::<Ping>().await?;
            let second = ctx.event::<Ping>().timeout(hours(1)).await?;
            Ok((first, second))
        };
        let mut test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
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

// B90
#[test]
fn a_finished_run_refuses_events_with_the_reason() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", |_: Ctx<AnyEvent>, _: ()| async { Ok(()) }))
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
        let code = |ctx: Ctx<AnyEvent>, _: ()| async move {
            ctx.sleep("nap", hours(1)).await?;
            ctx.event::<Ping>().await?;
            ctx.sleep("nap", hours(1)).await
        };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
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

// B360
#[test]
fn large_events_are_refused_while_few_wait_also_after_a_restart() {
    for_each_store(async |store| {
        let code = |ctx: Ctx<AnyEvent>, _: ()| async move {
            ctx.sleep("nap", hours(1)).await?;
            ctx.event::<Ping>().await?;
            ctx.sleep("nap", hours(1)).await
        };
        let mut test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let run = start(&test).await;
        let large = json(&"x".repeat(1024 * 1024 - 2));
        for _ in 0..15 {
            run.send_by_name("pong", large.clone(), None).await.unwrap();
        }
        ping(&run, 1).await;
        let run = restart(&mut test).await;
        for _ in 0..2 {
            let refused = run.send_by_name("pong", large.clone(), None).await;
            assert_eq!(refused.unwrap_err().code(), ErrorCode::TooManyEvents);
        }
        let half = json(&"x".repeat(512 * 1024 - 2));
        run.send_by_name("pong", half, None).await.unwrap();
        // Small events are unaffected.
        ping(&run, 2).await;
        test.advance(hours(1) + secs(1)).await;
        // The run took one of 18 events, so 17 wait.
        let refused = run.send_by_name("pong", large, None).await;
        assert_eq!(refused.unwrap_err().code(), ErrorCode::TooManyEvents);
    });
}
