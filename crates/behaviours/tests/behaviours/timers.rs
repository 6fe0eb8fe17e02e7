//! Sleeps: durable, with the recorded deadline, and never early, despite any number of crashes.

use std::path::Path;

use everstep::journal::{Body, Timestamp};
use everstep::testing::{
    ReplayError, journal_from_lines, journal_to_lines, replay_check_function, virtual_time,
};
use everstep::{
    AnyEvent, Ctx, Engine, ErrorCode, RunStatus, Workflows, days, hours, millis, minutes, secs,
};

use everstep::journal::record::TimerPurpose;
use everstep_model::{Generation, RunId, StreamName};
use everstep_store::{Outcome, Row, RowsCommit, StreamRef, TimerRow};

use crate::support::{Ping, Seen, TestStore, for_each_store, json, ok, output, restart, start};

async fn nap(ctx: Ctx<AnyEvent>, _: ()) -> everstep::Result<Timestamp> {
    ctx.sleep("nap", hours(1)).await?;
    Ok(ctx.now())
}

// B55
#[test]
fn a_sleep_records_its_end_parks_the_run_and_fires_once() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .evict_all()
            .workflows(Workflows::new().function("w", nap))
            .start()
            .await;
        let begun = test.now();
        let run = start(&test).await;
        test.reach(&run, RunStatus::Sleeping).await;
        test.advance(secs(1)).await;
        assert_eq!(test.hot_runs(), 0);
        let until = run.inspect().await.unwrap().overview.sleeps[0].until;
        assert_eq!(until, begun.after(hours(1)));
        let why = run.why().await.unwrap().to_string();
        assert!(
            why.contains(&format!("sleeps in `nap:0` until {until}")),
            "{why}"
        );
        assert_eq!(output::<Timestamp>(&run).await, until);
        test.advance(hours(5)).await;
        let journal = test.journal(&run).await;
        journal.assert_kinds(&["created", "sleeping", "timer_fired", "completed"]);
        assert!(
            matches!(&journal.entries()[2].record.body, Body::TimerFired(fired) if fired.due == until)
        );
    });
}

// B57
#[test]
fn a_run_woken_early_sleeps_on_to_the_same_end() {
    for_each_store(async |store| {
        let mut test = store
            .engine()
            .evict_all()
            .workflows(Workflows::new().function("w", nap))
            .start()
            .await;
        let end = test.now().after(hours(1));
        start(&test).await;
        for _ in 0..3 {
            test.advance(minutes(10)).await;
            let run = restart(&mut test).await;
            run.send_by_name("unrelated", json(&()), None)
                .await
                .unwrap();
            test.reach(&run, RunStatus::Sleeping).await;
            assert_eq!(run.inspect().await.unwrap().overview.sleeps[0].until, end);
        }
        assert_eq!(
            output::<Timestamp>(&test.run("r").await.unwrap()).await,
            end
        );
    });
}

// B57
#[test]
fn a_sleep_that_ended_without_a_node_ends_when_one_starts() {
    for_each_store(async |store| {
        let mut test = store
            .engine()
            .workflows(Workflows::new().function("w", nap))
            .start()
            .await;
        start(&test).await;
        test.advance(minutes(1)).await;
        test.redeploy(|deploy| deploy).await;
        test.advance(hours(10)).await;
        test.redeploy(|deploy| deploy.workflows(Workflows::new().function("w", nap)))
            .await;
        let back = test.now();
        output::<Timestamp>(&test.run("r").await.unwrap()).await;
        assert!(back.until(test.now()) < secs(1));
    });
}

// B58
#[test]
fn sleeping_until_a_time_that_has_passed_ends_at_once() {
    for_each_store(async |store| {
        let code = |ctx: Ctx<AnyEvent>, _: ()| async move {
            ctx.sleep_until("past", Timestamp::from_millis(5)).await
        };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let begun = test.now();
        let run = start(&test).await;
        output::<()>(&run).await;
        assert!(begun.until(test.now()) < millis(10));
        test.journal(&run)
            .await
            .assert_contains("timer_fired past:0");
    });
}

// B59, B76
#[test]
fn no_timer_is_left_when_a_run_ends() {
    for_each_store(async |store| {
        let code = |ctx: Ctx<AnyEvent>, _: ()| async move {
            let _: Option<Ping> = ctx.event::<Ping>().timeout(days(3)).await?;
            tokio::select! {
                biased;
                done = ctx.sleep("short", minutes(1)) => done,
                done = ctx.sleep("long", days(5)) => done,
            }
        };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let run = test
            .start_by_name("w", json(&()))
            .deadline(days(9))
            .await
            .unwrap();
        run.send_by_name("ping", json(&Ping(1)), None)
            .await
            .unwrap();
        output::<()>(&run).await;
        drop(run);
        assert_eq!(store.timers_left(test).await, []);
    });
}

// B60
#[test]
fn a_sleep_in_a_loop_does_not_run_earlier_rounds_again() {
    for_each_store(async |store| {
        let code = |ctx: Ctx<AnyEvent>, _: ()| async move {
            let mut sum = 0;
            for n in 0..4 {
                sum += ctx.step("work", || ok(n)).await?;
                ctx.sleep("pause", hours(2)).await?;
            }
            Ok(sum)
        };
        let mut test = store
            .engine()
            .evict_all()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        start(&test).await;
        test.advance(hours(5)).await;
        let run = restart(&mut test).await;
        assert_eq!(output::<u32>(&run).await, 6);
        assert_eq!(test.calls("work"), 4);
    });
}

/// Flips a bit in each occurrence of a text in the files of a directory. Returns how many there
/// were.
fn damage(directory: &Path, text: &str) -> usize {
    let mut damaged = 0;
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            damaged += damage(&path, text);
            continue;
        }
        let mut bytes = std::fs::read(&path).unwrap();
        let places = bytes.windows(text.len()).enumerate();
        let found = places.filter(|(_, window)| *window == text.as_bytes());
        let found: Vec<usize> = found.map(|(place, _)| place).collect();
        for place in &found {
            bytes[*place] ^= 1;
        }
        damaged += found.len();
        if !found.is_empty() {
            std::fs::write(&path, bytes).unwrap();
        }
    }
    damaged
}

// B62
#[test]
fn an_engine_refuses_a_store_with_a_damaged_sleep_at_once() {
    virtual_time(async {
        let directory = tempfile::tempdir().unwrap();
        let code =
            |ctx: Ctx<AnyEvent>, name: String| async move { ctx.sleep(&name, hours(1)).await };
        let open = || {
            let engine = Engine::open(directory.path());
            engine
                .workflows(Workflows::new().function("w", code))
                .start()
        };
        let engine = open().await.unwrap();
        for name in ["first", "nap-of-the-damaged-run", "last"] {
            engine.start_by_name("w", json(name)).await.unwrap();
            tokio::time::sleep(secs(1)).await;
        }
        engine.shutdown().await;
        drop(engine);
        assert!(damage(directory.path(), "nap-of-the-damaged-run") > 0);
        let error = open().await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::StoreCorrupt, "{error}");
    });
}

// B62
#[test]
fn a_damaged_journal_is_refused_at_once() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", nap))
            .start()
            .await;
        let run = start(&test).await;
        output::<Timestamp>(&run).await;
        let journal = run.journal().await.unwrap();
        let text = journal_to_lines(&journal).unwrap();
        let error =
            journal_from_lines(&text.replacen("\"until\":\"2", "\"until\":\"x", 1)).unwrap_err();
        assert_eq!(error.line, 2);
        let mut gap = journal.clone();
        gap.remove(1);
        let error = replay_check_function("w", nap, gap).unwrap_err();
        assert!(matches!(error, ReplayError::Damaged(_)), "{error}");
        replay_check_function("w", nap, journal).unwrap();
    });
}

// B65
#[test]
fn of_several_sleeps_each_ends_at_its_time() {
    for_each_store(async |store| {
        let seen = Seen::new();
        let inside = seen.clone();
        let code = move |ctx: Ctx<AnyEvent>, _: ()| {
            let seen = inside.clone();
            async move {
                let nap = async |name: &'static str, length| {
                    ctx.sleep(name, length).await?;
                    seen.add((name, ctx.now()));
                    Ok::<_, everstep::Error>(())
                };
                tokio::try_join!(nap("c", hours(3)), nap("a", hours(1)), nap("b", hours(2)))
                    .map(drop)
            }
        };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let begun = test.now();
        output::<()>(&start(&test).await).await;
        let mut ends = seen.take();
        // The run leaves memory between its timers, so its code runs again from the beginning each
        // time.
        ends.sort();
        ends.dedup();
        let expected =
            [("a", 1), ("b", 2), ("c", 3)].map(|(name, n)| (name, begun.after(hours(n))));
        assert_eq!(ends, expected);
    });
}

// B67
#[test]
fn sleeps_of_months_fire_on_time() {
    for_each_store(async |store| {
        let code = |ctx: Ctx<AnyEvent>, _: ()| async move {
            ctx.sleep("long", days(60)).await?;
            Ok(ctx.event::<Ping>().timeout(days(40)).await?.is_none())
        };
        // Renewing leases every few seconds of these months would take a real database minutes.
        let patient = |settings: &mut everstep::Settings| {
            settings.lease_ttl = days(1);
            settings.sweep_interval = days(1);
            settings.timer_horizon = days(1);
        };
        let engine = store.engine().settings(patient);
        let mut test = engine
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let begun = test.now();
        start(&test).await;
        test.advance(days(30)).await;
        let run = restart(&mut test).await;
        assert!(output::<bool>(&run).await);
        assert_eq!(begun.until(test.now()).as_secs(), days(100).as_secs());
    });
}

#[test]
fn an_endless_sleep_is_stored_as_a_very_long_one() {
    for_each_store(async |store| {
        let code = |ctx: Ctx<AnyEvent>, _: ()| async move {
            tokio::select! {
                biased;
                _ = ctx.sleep("endless", std::time::Duration::MAX) => Ok(1),
                _ = ctx.event::<Ping>().timeout(std::time::Duration::MAX) => Ok(2),
            }
        };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let run = start(&test).await;
        test.advance(days(2)).await;
        crate::support::ping(&run, 1).await;
        assert_eq!(output::<u32>(&run).await, 2);
    });
}

/// A timer in the store that does not belong to an operation of its run.
async fn left_behind(store: &TestStore, due: Timestamp) {
    let store = store.open();
    let name = StreamName::of_run(&RunId::new("r").unwrap(), Generation::FIRST);
    let head = store.head(StreamRef::Name(name)).await.unwrap().unwrap();
    let mut commit = RowsCommit::new(head.number, Timestamp::default());
    commit.rows.put.push(Row::Timer(TimerRow {
        due,
        stream: head.number,
        purpose: TimerPurpose::Wait,
        location: Some("gone:0".parse().unwrap()),
    }));
    let outcomes = store.commit(&[commit.into()]).await.unwrap();
    assert!(matches!(outcomes[0], Outcome::Committed { .. }));
}

#[test]
fn timers_of_runs_that_have_ended_or_were_deleted_are_removed() {
    for_each_store(async |store| {
        for deleted in [false, true] {
            let build = || {
                store
                    .engine()
                    .workflows(Workflows::new().function("w", nap))
            };
            let test = build().start().await;
            let run = start(&test).await;
            test.reach(&run, RunStatus::Sleeping).await;
            let due = test.now().after(hours(2));
            test.shutdown().await;
            drop((run, test));
            left_behind(store, due).await;

            let test = build().start().await;
            let run = test.run("r").await.unwrap();
            run.terminate().await.unwrap();
            if deleted {
                run.delete().await.unwrap();
            }
            drop(run);
            assert_eq!(store.timers_left(test).await.len(), 1, "deleted: {deleted}");
            let test = build().start().await;
            test.advance(hours(3)).await;
            assert_eq!(store.timers_left(test).await, [], "deleted: {deleted}");
            let test = build().start().await;
            if !deleted {
                test.run("r").await.unwrap().delete().await.unwrap();
            }
            test.shutdown().await;
        }
    });
}
