//! Code that changed under a running workflow: the run is parked before the code has effects, and
//! continues when the code matches again.

use everstep::{AnyEvent, Ctx, ErrorCode, Result, RunStatus, Workflows, hours, minutes};

use crate::support::{Ping, TestStore, failure, for_each_store, json, ok, output, ping, start};

/// The original workflow and changed versions of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Change {
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

pub(crate) fn code(
    change: Change,
) -> impl Fn(Ctx<AnyEvent>, u32) -> std::pin::Pin<Box<dyn Future<Output = Result<u32>> + Send>>
+ Copy
+ Send
+ Sync {
    move |ctx, n| Box::pin(run(ctx, n, change))
}

async fn run(ctx: Ctx<AnyEvent>, n: u32, change: Change) -> Result<u32> {
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

pub(crate) const CHANGES: [(Change, &str); 8] = [
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
fn a_run_whose_code_changed_is_parked_before_any_side_effect_and_continues_with_code_that_fits() {
    for (change, expected) in CHANGES {
        for_each_store(async |store| {
            let mut test = store
                .engine()
                .workflows(Workflows::new().function("w", code(Change::None)))
                .start()
                .await;
            test.start_by_name("w", json(&1)).id("r").await.unwrap();
            test.advance(minutes(1)).await;
            test.redeploy(|deploy| deploy.workflows(Workflows::new().function("w", code(change))))
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
            // It stays parked, with one record.
            test.restart().await;
            test.advance(hours(5)).await;
            let run = test.run("r").await.unwrap();
            assert_eq!(test.journal(&run).await.count("diverged"), 1, "{change:?}");
            let calls = ["a", "b", "last", "added", "renamed"].map(|step| test.calls(step));
            assert_eq!(calls, [1, 1, 0, 0, 0], "{change:?}");
            drop(run);
            test.redeploy(|deploy| {
                deploy.workflows(Workflows::new().function("w", code(Change::None)))
            })
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
            move |ctx: Ctx<AnyEvent>, _: ()| async move {
                ctx.step(step, || ok(())).await?;
                ctx.event::<Ping>().await
            }
        };
        let mut test = store
            .engine()
            .workflows(Workflows::new().function("w", code("a")))
            .start()
            .await;
        start(&test).await;
        test.advance(minutes(1)).await;
        test.redeploy(|deploy| deploy.workflows(Workflows::new().function("w", code("b"))))
            .await;
        let run = test.run("r").await.unwrap();
        ping(&run, 4).await;
        test.reach(&run, RunStatus::Diverged).await;
        drop(run);
        test.redeploy(|deploy| deploy.workflows(Workflows::new().function("w", code("a"))))
            .await;
        assert_eq!(output::<Ping>(&test.run("r").await.unwrap()).await, Ping(4));
    });
}

/// Passes a version gate, then executes the code of its version.
fn gated(
    latest: Option<u32>,
) -> impl Fn(Ctx<AnyEvent>, ()) -> std::pin::Pin<Box<dyn Future<Output = Result<u32>> + Send>>
+ Copy
+ Send
+ Sync {
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
    let mut test = store
        .engine()
        .workflows(Workflows::new().function("w", gated(first)))
        .start()
        .await;
    start(&test).await;
    test.advance(minutes(1)).await;
    test.redeploy(|deploy| deploy.workflows(Workflows::new().function("w", gated(then))))
        .await;
    let run = test.run("r").await.unwrap();
    (test, run)
}

// B180
#[test]
fn a_version_gate_returns_the_latest_version_to_new_runs_and_the_first_to_old_ones() {
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
fn a_version_that_the_code_no_longer_supports_is_a_divergence() {
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
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", gated(Some(0))))
            .start()
            .await;
        assert!(
            failure(&start(&test).await)
                .await
                .is(ErrorCode::InvalidOptions)
        );
    });
}
