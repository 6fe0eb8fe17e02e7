//! Close policies: when its parent stops waiting, a child is cancelled, is terminated, or
//! continues.

use everstep::journal::record::ParentClose;
use everstep::testing::TestEngine;
use everstep::{
    Ctx, Error, ErrorCode, Options, Payload, Result, RunStatus, Workflows, hours, minutes, secs,
};

use crate::support::{
    Seen, TestStore, failure, for_each_store, json, ok, output, start, start_with,
};

/// Why a parent stops waiting.
const WAYS: [&str; 5] = ["returns", "fails", "times out", "drops", "deadline"];

/// Stops waiting for its child `c` in one of several ways, and ends a minute later.
async fn parent(ctx: Ctx, (way, policy): (String, ParentClose)) -> Result<()> {
    let child = || {
        ctx.child_by_name("c", json(&2))
            .id("c")
            .on_parent_close(policy)
    };
    let soon = async {
        ctx.sleep("soon", secs(2)).await?;
        Ok::<_, Error>(())
    };
    match way.as_str() {
        "returns" => {
            drop(futures_util::future::select(Box::pin(soon), child()).await);
            Ok(())
        }
        "fails" => {
            let fails = async {
                soon.await?;
                Err::<(), _>(Error::fatal("it failed"))
            };
            futures_util::future::try_join(child(), fails)
                .await
                .map(drop)
        }
        "times out" => {
            assert_eq!(child().timeout(secs(2)).await?, None);
            ctx.sleep("on", minutes(1)).await
        }
        "drops" => {
            drop(futures_util::future::select(Box::pin(soon), child()).await);
            ctx.sleep("on", minutes(1)).await
        }
        "deadline" => child().await.map(drop),
        other => panic!("{other}"),
    }
}

/// Waits for an hour, optionally with a child.
async fn child(ctx: Ctx, generations: u32) -> Result<()> {
    let rest = ctx.sleep("rest", hours(1));
    if generations > 1 {
        let grandchild = ctx
            .child_by_name("c", json(&(generations - 1)))
            .id("grandchild");
        futures_util::future::try_join(grandchild, rest)
            .await
            .map(drop)
    } else {
        rest.await
    }
}

async fn engine(store: &TestStore) -> TestEngine {
    let builder = store
        .engine()
        .workflows(Workflows::new().function("c", child));
    builder
        .workflows(Workflows::new().function_with("w", Options::new(), parent))
        .start()
        .await
}

async fn status(test: &TestEngine, run: &str) -> RunStatus {
    test.run(run).await.unwrap().status().await.unwrap()
}

async fn stop_waiting(test: &TestEngine, way: &str, policy: ParentClose) {
    let start = test.start_by_name("w", json(&(way, policy))).id("r");
    let start = if way == "deadline" {
        start.deadline(secs(2))
    } else {
        start
    };
    start.await.unwrap();
    test.advance(secs(1)).await;
    assert_eq!(status(test, "c").await, RunStatus::Waiting, "{way}");
    test.advance(secs(2)).await;
}

#[test]
fn a_child_is_cancelled_and_so_are_its_own_children() {
    for way in WAYS {
        for_each_store(async |store: &TestStore| {
            let test = engine(store).await;
            stop_waiting(&test, way, ParentClose::Cancel).await;
            assert_eq!(status(&test, "c").await, RunStatus::Cancelled, "{way}");
            assert_eq!(
                status(&test, "grandchild").await,
                RunStatus::Cancelled,
                "{way}"
            );
            let journal = test.journal(&test.run("c").await.unwrap()).await;
            assert_eq!(journal.count("cancel_requested"), 1);
            test.advance(minutes(2)).await;
            assert_eq!(store.timers_left(test).await, [], "{way}");
        });
    }
}

#[test]
fn a_child_is_ended_at_once_and_its_own_children_are_cancelled() {
    for way in WAYS {
        for_each_store(async |store: &TestStore| {
            let test = engine(store).await;
            stop_waiting(&test, way, ParentClose::Terminate).await;
            assert_eq!(status(&test, "c").await, RunStatus::Terminated, "{way}");
            assert_eq!(
                status(&test, "grandchild").await,
                RunStatus::Cancelled,
                "{way}"
            );
            test.advance(minutes(2)).await;
            assert_eq!(store.timers_left(test).await, [], "{way}");
        });
    }
}

#[test]
fn an_abandoned_child_continues() {
    for way in WAYS {
        for_each_store(async |store: &TestStore| {
            let test = engine(store).await;
            stop_waiting(&test, way, ParentClose::Abandon).await;
            assert_eq!(status(&test, "c").await, RunStatus::Waiting, "{way}");
            test.advance(hours(2)).await;
            assert_eq!(status(&test, "c").await, RunStatus::Completed, "{way}");
            assert_eq!(store.outbox_left(test).await, [], "{way}");
        });
    }
}

#[test]
fn a_child_that_is_executing_a_step_is_ended_too() {
    for policy in [ParentClose::Cancel, ParentClose::Terminate] {
        for_each_store(async |store: &TestStore| {
            let went_on = Seen::new();
            let busy = {
                let went_on = went_on.clone();
                move |ctx: Ctx, _: u32| {
                    let went_on = went_on.clone();
                    async move {
                        let work = || async {
                            tokio::time::sleep(secs(30)).await;
                            ok(()).await
                        };
                        ctx.step("work", work).await?;
                        went_on.add(());
                        Ok(())
                    }
                }
            };
            let builder = store
                .engine()
                .workflows(Workflows::new().function("c", busy).function("w", parent));
            let test = builder.start().await;
            test.start_by_name("w", json(&("drops", policy)))
                .id("r")
                .await
                .unwrap();
            test.advance(minutes(2)).await;
            let expected = match policy {
                ParentClose::Cancel => RunStatus::Cancelled,
                _ => RunStatus::Terminated,
            };
            assert_eq!(status(&test, "c").await, expected);
            assert!(went_on.take().is_empty(), "its code went on after its end");
        });
    }
}

#[test]
fn a_detached_child_is_independent_of_its_parent() {
    for_each_store(async |store: &TestStore| {
        let parent = |ctx: Ctx, _: ()| async move {
            let chosen = ctx
                .child_by_name("c", json(&1))
                .id("chosen")
                .detach()
                .await?;
            let derived = ctx.child_by_name("c", json(&1)).detach().await?;
            Ok((chosen.to_string(), derived.to_string()))
        };
        let test = store
            .engine()
            .workflows(Workflows::new().function("c", child).function("w", parent))
            .start()
            .await;
        let run = start(&test).await;
        let (chosen, derived): (String, String) = output(&run).await;
        assert_eq!(chosen, "chosen");
        test.advance(minutes(1)).await;
        for id in [&chosen, &derived] {
            assert_eq!(status(&test, id).await, RunStatus::Sleeping);
        }
        test.advance(hours(2)).await;
        for id in [&chosen, &derived] {
            assert_eq!(status(&test, id).await, RunStatus::Completed);
        }
        drop(run);
        assert_eq!(store.outbox_left(test).await, []);
    });
}

#[test]
fn a_run_that_is_only_waited_for_is_not_ended() {
    for_each_store(async |store: &TestStore| {
        let test = engine(store).await;
        test.start_by_name("c", json(&1)).id("c").await.unwrap();
        let input = ("times out", ParentClose::Terminate);
        test.start_by_name("w", json(&input)).id("r").await.unwrap();
        test.advance(minutes(5)).await;
        assert_eq!(status(&test, "r").await, RunStatus::Completed);
        assert_eq!(status(&test, "c").await, RunStatus::Sleeping);
    });
}

// B167
#[test]
fn a_parent_is_notified_when_its_child_is_ended_by_another_request() {
    for policy in [ParentClose::Cancel, ParentClose::Terminate] {
        for_each_store(async |store: &TestStore| {
            let middle = |ctx: Ctx, _: u32| async move {
                let error = ctx
                    .child_by_name("c", json(&1))
                    .id("shared")
                    .await
                    .unwrap_err();
                Err::<(), _>(error)
            };
            let outer = move |ctx: Ctx, _: ()| async move {
                let child = ctx
                    .child_by_name("c", json(&1))
                    .id("shared")
                    .on_parent_close(policy);
                child.timeout(secs(5)).await
            };
            let builder = store
                .engine()
                .workflows(Workflows::new().function("c", child));
            let builder = builder.workflows(
                Workflows::new()
                    .function("outer", outer)
                    .function("w", middle),
            );
            let test = builder.start().await;
            test.start_by_name("outer", Payload::null())
                .id("o")
                .await
                .unwrap();
            test.advance(secs(1)).await;
            let run = start_with(&test, &0).await;
            let failure = failure(&run).await;
            assert!(failure.is(ErrorCode::ChildFailed));
            let cause = failure.cause.unwrap();
            let expected = match policy {
                ParentClose::Cancel => ErrorCode::RunCancelled,
                _ => ErrorCode::RunTerminated,
            };
            assert!(cause.is(expected), "{cause:?}");
            assert!(
                cause
                    .message
                    .contains("its parent `o` no longer waits for it"),
                "{cause}"
            );
        });
    }
}
