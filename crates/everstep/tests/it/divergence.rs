//! Code that changed under a running workflow: parked before it does anything, and resumed when it fits again.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use everstep::testing::{Recording, ReplayEnd, ReplayError, replay_check_function};
use everstep::{Ctx, ErrorCode, Result, RunStatus, hours, minutes};

use crate::support::{Ping, TestStore, failure, for_each_store, json, ok, output, ping, start};

/// The workflow as it was, and as somebody changed it.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Change {
    None,
    StepRenamed,
    StepAdded,
    StepRemoved,
    OrderSwapped,
    StepBecameSleep,
    SleepBecameWait,
    ReturnsEarly,
    EndsInError,
}

fn code(
    change: Change,
) -> impl Fn(Ctx, u32) -> std::pin::Pin<Box<dyn Future<Output = Result<u32>> + Send>> + Copy + Send + Sync
{
    move |ctx, n| Box::pin(run(ctx, n, change))
}

async fn run(ctx: Ctx, n: u32, change: Change) -> Result<u32> {
    if change == Change::ReturnsEarly {
        return Ok(0);
    }
    if change == Change::EndsInError {
        return Err(everstep::Error::new("on purpose"));
    }
    if change == Change::StepAdded {
        ctx.step("added", || ok(())).await?;
    }
    let (first, second) = if change == Change::OrderSwapped {
        ("b", "a")
    } else {
        ("a", "b")
    };
    let first = if change == Change::StepRenamed {
        "renamed"
    } else {
        first
    };
    if change == Change::StepBecameSleep {
        ctx.sleep("a", minutes(1)).await?;
    } else if change != Change::StepRemoved {
        ctx.step(first, || ok(n)).await?;
    }
    let sum: u32 = ctx.step(second, || ok(n + 1)).await?;
    if change == Change::SleepBecameWait {
        ctx.event::<Ping>().id("nap").await?;
    } else {
        ctx.sleep("nap", hours(1)).await?;
    }
    ctx.step("last", || ok(sum)).await
}

const CHANGES: [(Change, &str); 8] = [
    (
        Change::StepRenamed,
        "the journal holds step `a:0` at record 1, but the code called step `renamed:0`",
    ),
    (
        Change::StepAdded,
        "the journal holds step `a:0` at record 1, but the code called step `added:0`",
    ),
    (
        Change::StepRemoved,
        "the journal holds step `a:0` at record 1, but the code called step `b:0`",
    ),
    (
        Change::OrderSwapped,
        "the journal holds step `a:0` at record 1, but the code called step `b:0`",
    ),
    (
        Change::StepBecameSleep,
        "the journal holds step `a:0` at record 1, but the code called sleep `a:0`",
    ),
    (
        Change::SleepBecameWait,
        "the journal holds sleep `nap:0` at record 5, but the code called wait for event `nap:0`",
    ),
    (
        Change::ReturnsEarly,
        "the journal holds step `a:0` at record 1, but the code did not reach it",
    ),
    (
        Change::EndsInError,
        "the journal holds step `a:0` at record 1, but the code did not reach it",
    ),
];

// B13, B177
#[test]
fn a_run_whose_code_changed_is_parked_before_any_side_effect_and_goes_on_with_code_that_fits() {
    for (change, expected) in CHANGES {
        for_each_store(async |store| {
            let mut test = store
                .engine()
                .function("w", code(Change::None))
                .start()
                .await;
            test.start_by_name("w", json(&1)).id("r").await.unwrap();
            test.advance(minutes(1)).await;
            test.redeploy(|deploy| deploy.function("w", code(change)))
                .await;
            test.advance(hours(1)).await;
            let run = test.run("r").await.unwrap();
            assert_eq!(
                run.status().await.unwrap(),
                RunStatus::Diverged,
                "{change:?}"
            );
            let why = run.why().await.unwrap().to_string();
            assert!(why.contains(expected), "{change:?}: {why}");
            assert!(
                why.contains("called at") || why.contains("did not reach"),
                "{why}"
            );
            // It stays parked, and says so once.
            test.restart().await;
            test.advance(hours(5)).await;
            let run = test.run("r").await.unwrap();
            assert_eq!(test.journal(&run).await.count("diverged"), 1, "{change:?}");
            let calls = ["a", "b", "last", "added", "renamed"].map(|step| test.calls(step));
            assert_eq!(calls, [1, 1, 0, 0, 0], "{change:?}");
            drop(run);
            test.redeploy(|deploy| deploy.function("w", code(Change::None)))
                .await;
            assert_eq!(output::<u32>(&test.run("r").await.unwrap()).await, 2);
        });
    }
}

// B13
#[test]
fn a_parked_run_keeps_what_is_sent_to_it() {
    for_each_store(async |store| {
        let code = |step: &'static str| {
            move |ctx: Ctx, _: ()| async move {
                ctx.step(step, || ok(())).await?;
                ctx.event::<Ping>().await
            }
        };
        let mut test = store.engine().function("w", code("a")).start().await;
        start(&test).await;
        test.advance(minutes(1)).await;
        test.redeploy(|deploy| deploy.function("w", code("b")))
            .await;
        let run = test.run("r").await.unwrap();
        ping(&run, 4).await;
        test.reach(&run, RunStatus::Diverged).await;
        drop(run);
        test.redeploy(|deploy| deploy.function("w", code("a")))
            .await;
        assert_eq!(output::<Ping>(&test.run("r").await.unwrap()).await, Ping(4));
    });
}

/// Passes a gate, then does what its version says.
fn gated(
    latest: Option<u32>,
) -> impl Fn(Ctx, ()) -> std::pin::Pin<Box<dyn Future<Output = Result<u32>> + Send>> + Copy + Send + Sync
{
    move |ctx, ()| {
        Box::pin(async move {
            ctx.step("before", || ok(())).await?;
            let version = match latest {
                Some(latest) => ctx.version("faster", latest)?,
                None => 1,
            };
            let step = if version == 1 { "slow" } else { "fast" };
            ctx.step(step, || ok(())).await?;
            ctx.sleep("nap", hours(1)).await?;
            Ok(version)
        })
    }
}

async fn version_after(
    store: &TestStore,
    first: Option<u32>,
    then: Option<u32>,
) -> (everstep::testing::TestEngine, everstep::RunHandle) {
    let mut test = store.engine().function("w", gated(first)).start().await;
    start(&test).await;
    test.advance(minutes(1)).await;
    test.redeploy(|deploy| deploy.function("w", gated(then)))
        .await;
    let run = test.run("r").await.unwrap();
    (test, run)
}

// B180
#[test]
fn a_gate_gives_new_runs_the_latest_version_and_old_ones_the_first() {
    for (first, then, expected) in [
        (None, Some(2), 1),
        (Some(2), Some(2), 2),
        (Some(2), Some(3), 2),
        (Some(1), Some(2), 1),
    ] {
        for_each_store(async |store| {
            let (_test, run) = version_after(store, first, then).await;
            assert_eq!(
                output::<u32>(&run).await,
                expected,
                "{first:?} then {then:?}"
            );
        });
    }
}

// B180
#[test]
fn a_version_the_code_no_longer_knows_is_a_divergence() {
    for_each_store(async |store| {
        let (test, run) = version_after(store, Some(3), Some(2)).await;
        test.advance(hours(1)).await;
        assert_eq!(run.status().await.unwrap(), RunStatus::Diverged);
        let why = run.why().await.unwrap().to_string();
        assert!(
            why.contains("follows version 3, this code knows up to 2"),
            "{why}"
        );
    });
}

// B180
#[test]
fn versions_count_from_one() {
    for_each_store(async |store| {
        let test = store.engine().function("w", gated(Some(0))).start().await;
        assert!(
            failure(&start(&test).await)
                .await
                .is(ErrorCode::InvalidOptions)
        );
    });
}

// B196
#[test]
fn a_recorded_journal_is_replayed_without_side_effects() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .function("w", code(Change::None))
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
        // Every beginning of the journal fits too.
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
fn a_replay_must_come_to_the_recorded_end() {
    for_each_store(async |store| {
        let returns = |n: u32| {
            move |ctx: Ctx, _: ()| async move { ctx.step("a", || ok(1)).await.map(|a| a + n) }
        };
        let fails = |text: &'static str| {
            move |_: Ctx, _: ()| async move { Err::<u32, _>(everstep::Error::new(text)) }
        };
        let named = |ctx: Ctx, _: ()| async move { Ok(ctx.metadata().id.to_string()) };
        let test = store
            .engine()
            .function("returns", returns(0))
            .function("fails", fails("x"))
            .function("named", named);
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

/// Calls another step each time it runs, as code that reads a clock does.
fn fickle(
    runs: Arc<AtomicU32>,
) -> impl Fn(Ctx, ()) -> std::pin::Pin<Box<dyn Future<Output = Result<u32>> + Send>> + Send + Sync {
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

#[test]
fn development_mode_finds_hidden_nondeterminism_at_once_and_names_both_places() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .development()
            .function("w", fickle(Arc::default()))
            .start()
            .await;
        let run = start(&test).await;
        test.reach(&run, RunStatus::Diverged).await;
        let why = run.why().await.unwrap().to_string();
        let line = |text: &str| {
            let lines = include_str!("divergence.rs").lines();
            lines
                .zip(1..)
                .find(|(line, _)| line.contains(text))
                .unwrap()
                .1
        };
        let even = format!(
            "`even:0` (called at crates/everstep/tests/it/divergence.rs:{})",
            line("step(\"even\"")
        );
        let odd = format!(
            "`odd:0` (called at crates/everstep/tests/it/divergence.rs:{})",
            line("step(\"odd\"")
        );
        assert!(why.contains(&even) && why.contains(&odd), "{why}");
        let test = store.engine().function("w", fickle(Arc::default()));
        drop(test);
    });
}

#[test]
fn development_mode_finds_a_result_that_is_not_reproducible() {
    for_each_store(async |store| {
        let runs = Arc::new(AtomicU32::new(0));
        let code = move |_: Ctx, _: ()| {
            let run = runs.fetch_add(1, Ordering::Relaxed);
            async move { Ok(run) }
        };
        let test = store
            .engine()
            .development()
            .function("w", code)
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
            .function("w", code(Change::None))
            .start()
            .await;
        let run = test.start_by_name("w", json(&1)).await.unwrap();
        assert_eq!(output::<u32>(&run).await, 2);
        assert_eq!((test.calls("a"), test.calls("last")), (1, 1));
    });
}
