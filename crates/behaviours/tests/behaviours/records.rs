//! What a run publishes: its records, notes, rows, attributes and emissions, each once.

use std::ops::ControlFlow;

use everstep::inspect::Overview;
use everstep::journal::{Body, Entry, RecordNumber};
use everstep::{AnyEvent, Ctx, Error, Retry, RunStatus, Workflows, hours, minutes, secs};

use crate::support::{Ping, Seen, fail, for_each_store, json, ok, output, ping, restart, start};

// B182
#[test]
fn notes_rows_and_emissions_happen_once_however_often_the_code_runs() {
    for_each_store(async |store| {
        let code = |ctx: Ctx<AnyEvent>, _: ()| async move {
            for n in 0..3 {
                ctx.note(format!("round {n}"));
                ctx.set_row("progress", "round", &n)?;
                ctx.emit("round", &n)?;
                ctx.sleep("nap", hours(2)).await?;
            }
            ctx.delete_row("progress", "round")?;
            Ok(())
        };
        let mut test = store
            .engine()
            .evict_all()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let mut rounds = Vec::new();
        let mut emissions = test.subscribe();
        start(&test).await;
        test.advance(hours(3)).await;
        for _ in 0..2 {
            rounds.push(emissions.next().await.unwrap().payload);
        }
        let run = restart(&mut test).await;
        let mut emissions = test.subscribe();
        output::<()>(&run).await;
        let last = emissions.next().await.unwrap();
        assert_eq!((last.run.as_str(), last.topic.as_str()), ("r", "round"));
        rounds.push(last.payload);
        assert_eq!(rounds, [json(&0), json(&1), json(&2)]);
        test.advance(hours(1)).await;
        let journal = test.journal(&run).await;
        let counts = ["note", "state_changed", "emitted"].map(|kind| journal.count(kind));
        assert_eq!(counts, [3, 4, 3]);
    });
}

// B182
#[test]
fn a_note_before_a_crash_in_the_following_step_is_not_written_twice() {
    for_each_store(async |store| {
        let code = |ctx: Ctx<AnyEvent>, _: ()| async move {
            ctx.note("about to work");
            ctx.emit("begun", &())?;
            let work = || async {
                tokio::time::sleep(minutes(10)).await;
                ok(()).await
            };
            ctx.step("long", work).await
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
        let journal = test.journal(&run).await;
        assert_eq!((journal.count("note"), journal.count("emitted")), (1, 1));
    });
}

// B197
#[test]
fn a_tail_returns_records_in_order_without_gaps_and_repetitions() {
    for_each_store(async |store| {
        let code = |ctx: Ctx<AnyEvent>, _: ()| async move {
            let work = |step: everstep::operation::StepContext| async move {
                if step.attempt == 1 {
                    Err(Error::new("no luck"))
                } else {
                    Ok(1)
                }
            };
            ctx.step_with("a", work)
                .retry(Retry::constant(1, secs(1)))
                .await?;
            ctx.sleep("nap", minutes(1)).await?;
            ctx.event::<Ping>().await?;
            ctx.step("b", || fail("no luck")).retry(Retry::none()).await
        };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let run = start(&test).await;
        let tail = async {
            let mut records = run.records().await.unwrap();
            let mut all = Vec::new();
            while let Some(entry) = records.next().await.unwrap() {
                if matches!(entry.record.body, Body::Waiting(_)) {
                    ping(&run, 1).await;
                }
                all.push(entry);
            }
            all
        };
        let hopping = async {
            let mut all = Vec::new();
            loop {
                let mut records = run
                    .records_from(RecordNumber(all.len() as u64))
                    .await
                    .unwrap();
                for _ in 0..2 {
                    match records.next().await.unwrap() {
                        Some(entry) => all.push(entry),
                        None => return all,
                    }
                }
            }
        };
        let (all, hopped) = tokio::join!(tail, hopping);
        assert_eq!(all, hopped);
        assert_eq!(all, run.journal().await.unwrap());
        test.journal(&run).await.assert_lines(&[
            "created",
            "step_started a:0",
            "step_failed a:0",
            "timer_fired a:0",
            "step_started a:0",
            "step_completed a:0",
            "sleeping nap:0",
            "timer_fired nap:0",
            "waiting ping:0",
            "event",
            "wait_completed ping:0",
            "step_started b:0",
            "step_failed b:0",
            "failed",
        ]);
    });
}

// B195
#[test]
fn now_random_and_uuid_are_the_same_on_every_replay() {
    for_each_store(async |store| {
        let seen = Seen::new();
        let inside = seen.clone();
        let code = move |ctx: Ctx<AnyEvent>, _: ()| {
            let seen = inside.clone();
            async move {
                let first = (ctx.now(), ctx.random(), ctx.uuid());
                ctx.event::<Ping>().await?;
                let second = (ctx.now(), ctx.random(), ctx.uuid());
                seen.add((first, second.clone()));
                ctx.sleep("nap", hours(1)).await?;
                Ok(second)
            }
        };
        let mut test = store
            .engine()
            .evict_all()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let run = start(&test).await;
        test.advance(minutes(7)).await;
        ping(&run, 1).await;
        test.reach(&run, RunStatus::Sleeping).await;
        let run = restart(&mut test).await;
        run.send_by_name("other", json(&()), None).await.unwrap();
        run.wait_json().await.unwrap();
        let seen = seen.take();
        assert!(seen.len() >= 3);
        assert!(seen.iter().all(|values| *values == seen[0]), "{seen:?}");
        let (first, second) = &seen[0];
        assert_ne!((first.1, &first.2), (second.1, &second.2));
        assert_eq!(first.0.until(second.0), minutes(7));
        let uuid = &first.2;
        assert_eq!((uuid.len(), uuid.as_bytes()[14]), (36, b'4'), "{uuid}");
    });
}

#[test]
fn a_journal_longer_than_a_page_is_replayed_completely() {
    for_each_store(async |store| {
        let code = |ctx: Ctx<AnyEvent>, _: ()| async move {
            for n in 0..12_000 {
                ctx.set_row("rows", n.to_string(), &n)?;
            }
            let Ping(n) = ctx.event::<Ping>().await?;
            ctx.step("after", || ok(n)).await
        };
        let mut test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let run = start(&test).await;
        test.reach(&run, RunStatus::Waiting).await;
        let run = restart(&mut test).await;
        ping(&run, 3).await;
        assert_eq!(output::<u32>(&run).await, 3);
        let mut records = run.records().await.unwrap();
        let mut count = 0;
        while records.next().await.unwrap().is_some() {
            count += 1;
        }
        assert_eq!(count, 12_007);
    });
}

#[test]
fn an_application_cannot_use_collections_of_the_engine() {
    for_each_store(async |store| {
        let code = |ctx: Ctx<AnyEvent>, _: ()| async move {
            for collection in ["workflow", "step", "rpc", "event", "workflow:event"] {
                let refused = ctx.set_row(collection, "k", &1);
                assert!(refused.is_err(), "{collection}");
            }
            assert!(ctx.delete_row("rows", "").is_err());
            ctx.set_row("steps", "k", &1)
        };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let run = start(&test).await;
        output::<()>(&run).await;
        assert_eq!(test.journal(&run).await.count("state_changed"), 1);
    });
}

// B182
#[test]
fn an_attribute_is_written_once_per_call_and_the_overview_shows_its_latest_value() {
    for_each_store(async |store| {
        let code = |ctx: Ctx<AnyEvent>, _: ()| async move {
            ctx.set_attribute("amount", 1500)?;
            ctx.set_attribute("paid", false)?;
            ctx.set_attribute("stage", "payment")?;
            ctx.sleep("nap", hours(2)).await?;
            ctx.set_attribute("stage", "shipping")?;
            Ok(())
        };
        let mut test = store
            .engine()
            .evict_all()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let run = start(&test).await;
        test.advance(hours(1)).await;
        let attribute = |run: Vec<Entry>, name: &str| {
            let attributes = Overview::of(&run).attributes;
            attributes.get(name).map(|value| value.as_bytes().to_vec())
        };
        let journal = run.journal().await.unwrap();
        assert_eq!(
            attribute(journal.clone(), "stage"),
            Some(b"\"payment\"".to_vec())
        );
        assert_eq!(attribute(journal, "amount"), Some(b"1500".to_vec()));
        let run = restart(&mut test).await;
        output::<()>(&run).await;
        let journal = run.journal().await.unwrap();
        assert_eq!(
            attribute(journal.clone(), "stage"),
            Some(b"\"shipping\"".to_vec())
        );
        assert_eq!(attribute(journal, "paid"), Some(b"false".to_vec()));
        assert_eq!(test.journal(&run).await.count("attribute_set"), 4);
    });
}

// B105
#[test]
fn a_loop_keeps_the_iteration_that_set_an_attribute_until_a_later_one_sets_it_again() {
    for_each_store(async |store| {
        let code = |ctx: Ctx<AnyEvent>, _: ()| async move {
            let body = |ctx: Ctx<AnyEvent>, n: u64| async move {
                if n == 1 || n == 5 {
                    ctx.set_attribute("round", n)?;
                }
                ctx.step("work", || ok(())).await?;
                Ok(if n == 20 {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(n + 1)
                })
            };
            ctx.repeat("rounds", 0, body).keep(1).await
        };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let run = start(&test).await;
        output::<()>(&run).await;
        let journal = run.journal().await.unwrap();
        let set: Vec<_> = journal
            .iter()
            .filter(|entry| entry.record.body.type_name() == "attribute_set")
            .filter_map(|entry| entry.record.body.location().map(ToString::to_string))
            .collect();
        assert_eq!(set, ["rounds/~5/__attribute:0"]);
        let attributes = Overview::of(&journal).attributes;
        assert_eq!(attributes.get("round"), Some(&json(&5)));
    });
}
