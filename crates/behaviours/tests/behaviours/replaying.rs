//! Replays without side effects: recorded journals against changed code, and the second look of
//! development mode.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use everstep::testing::{Recording, ReplayEnd, ReplayError, replay_check_function};
use everstep::{AnyEvent, Ctx, Result, RunStatus, Workflows};

use crate::divergence::{CHANGES, Change, code};
use crate::support::{for_each_store, json, ok, output, start};

/// Calls a different step each time it runs, like code that reads a clock.
fn fickle(
    runs: Arc<AtomicU32>,
) -> impl Fn(Ctx<AnyEvent>, ()) -> std::pin::Pin<Box<dyn Future<Output = Result<u32>> + Send>>
+ Send
+ Sync {
    move |ctx, ()| {
        let is_even = runs.fetch_add(1, Ordering::Relaxed).is_multiple_of(2);
        Box::pin(async move {
            if is_even {
                ctx.step("even", || ok(1)).await
            } else {
                ctx.step("odd", || ok(1)).await
            }
        })
    }
}

// B196
#[test]
fn a_recorded_journal_is_replayed_without_side_effects() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code(Change::None)))
            .start()
            .await;
        let run = test.start_by_name("w", json(&1)).id("r").await.unwrap();
        output::<u32>(&run).await;
        let journal = run.journal().await.unwrap();
        let report = replay_check_function("w", code(Change::None), journal.clone()).unwrap();
        assert_eq!(
            (report.records, report.end),
            (journal.len(), ReplayEnd::Completed(json(&2)))
        );
        for (change, expected) in CHANGES {
            let error = replay_check_function("w", code(change), journal.clone()).unwrap_err();
            assert!(matches!(error, ReplayError::Diverged(_)));
            assert!(error.to_string().contains(expected), "{change:?}: {error}");
        }
        // Every prefix of the journal matches too.
        for end in 1..journal.len() {
            let report = replay_check_function("w", code(Change::None), &journal[..end]).unwrap();
            let done = end + 1 >= journal.len();
            assert_eq!(report.end == ReplayEnd::Completed(json(&2)), done, "{end}");
        }
        assert_eq!(
            (test.calls("a"), test.calls("b"), test.calls("last")),
            (1, 1, 1)
        );
    });
}

// B196
#[test]
fn a_replay_must_reach_the_recorded_end() {
    for_each_store(async |store| {
        let returns = |n: u32| {
            move |ctx: Ctx<AnyEvent>, _: ()| async move { ctx.step("a", || ok(1)).await.map(|a| a + n) }
        };
        let fails = |text: &'static str| {
            move |_: Ctx<AnyEvent>, _: ()| async move { Err::<u32, _>(everstep::Error::new(text)) }
        };
        let named = |ctx: Ctx<AnyEvent>, _: ()| async move { Ok(ctx.metadata().id.to_string()) };
        let test = store.engine().workflows(
            Workflows::new()
                .function("returns", returns(0))
                .function("fails", fails("x"))
                .function("named", named),
        );
        let test = test.start().await;
        let mut journals = Vec::new();
        for workflow in ["returns", "fails", "named"] {
            let run = test
                .start_by_name(workflow, json(&()))
                .id(workflow)
                .await
                .unwrap();
            let _ = run.wait_json().await;
            journals.push(run.journal().await.unwrap());
        }
        replay_check_function("returns", returns(0), journals[0].clone()).unwrap();
        let error = replay_check_function("returns", returns(1), journals[0].clone()).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("the run returned 1, this code returns 2"),
            "{error}"
        );
        replay_check_function("fails", fails("x"), journals[1].clone()).unwrap();
        let error = replay_check_function("fails", fails("y"), journals[1].clone()).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("failed with \"x\", this code fails with \"y\""),
            "{error}"
        );
        let recording = Recording::new(journals[2].clone()).of_run("named").unwrap();
        replay_check_function("named", named, recording).unwrap();
        let error = replay_check_function("fails", fails("x"), journals[0].clone()).unwrap_err();
        assert!(
            matches!(error, ReplayError::OtherWorkflow { .. }),
            "{error}"
        );
    });
}

#[test]
fn development_mode_finds_hidden_nondeterminism_at_once_and_names_both_places() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .development()
            .workflows(Workflows::new().function("w", fickle(Arc::default())))
            .start()
            .await;
        let run = start(&test).await;
        test.reach(&run, RunStatus::Diverged).await;
        let why = run.why().await.unwrap().to_string();
        let line = |text: &str| {
            let lines = include_str!("replaying.rs").lines();
            lines
                .zip(1..)
                .find(|(line, _)| line.contains(text))
                .unwrap()
                .1
        };
        let even = format!(
            "`even:0` (called at crates/behaviours/tests/behaviours/replaying.rs:{})",
            line("step(\"even\"")
        );
        let odd = format!(
            "`odd:0` (called at crates/behaviours/tests/behaviours/replaying.rs:{})",
            line("step(\"odd\"")
        );
        assert!(why.contains(&even) && why.contains(&odd), "{why}");
    });
}

#[test]
fn development_mode_finds_a_result_that_is_not_reproducible() {
    for_each_store(async |store| {
        let runs = Arc::new(AtomicU32::new(0));
        let code = move |_: Ctx<AnyEvent>, _: ()| {
            let run = runs.fetch_add(1, Ordering::Relaxed);
            async move { Ok(run) }
        };
        let test = store
            .engine()
            .development()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let run = start(&test).await;
        test.reach(&run, RunStatus::Diverged).await;
        let why = run.why().await.unwrap().to_string();
        assert!(
            why.contains("the function returned 0 first and 1 on replay"),
            "{why}"
        );
    });
}

#[test]
fn development_mode_leaves_sound_code_alone() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .development()
            .workflows(Workflows::new().function("w", code(Change::None)))
            .start()
            .await;
        let run = test.start_by_name("w", json(&1)).await.unwrap();
        assert_eq!(output::<u32>(&run).await, 2);
        assert_eq!((test.calls("a"), test.calls("last")), (1, 1));
    });
}

// B196
#[test]
fn a_terminated_journal_replays_from_any_end() {
    for_each_store(async |store| {
        let waits = |ctx: Ctx<AnyEvent>, _: ()| async move {
            let received = ctx
                .event::<crate::support::Ping>()
                .timeout(everstep::secs(1));
            Ok(received.await?.is_some())
        };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", waits))
            .start()
            .await;
        let run = start(&test).await;
        assert!(!output::<bool>(&run).await);
        let mut journal = run.journal().await.unwrap();
        let is_fired =
            |entry: &everstep::journal::Entry| entry.record.body.type_name() == "timer_fired";
        let fired = journal.iter().position(is_fired).unwrap();
        journal.truncate(fired + 1);
        let mut last = journal[fired].clone();
        last.number = last.number.plus(1);
        last.record.body = everstep::journal::record::Terminated {
            by: None,
            reason: None,
            abandoned: Vec::new(),
            next_generation: None,
        }
        .into();
        journal.push(last);
        let report = replay_check_function("w", waits, journal).unwrap();
        assert_eq!(report.records, fired + 2);
    });
}
