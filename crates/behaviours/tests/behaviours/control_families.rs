//! Control of runs that have parents, children, or something to undo.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use everstep::journal::{Generation, record::ParentClose};
use everstep::{
    AnyEvent, Ctx, Error, ErrorCode, Result, Retry, RunStatus, WaitError, Workflow, Workflows,
    millis, minutes, secs,
};

use crate::control_support::status_everywhere;
use crate::support::{Seen, failure, for_each_store, ok, output, start};

/// Answers after five minutes.
struct Slow;

impl Workflow for Slow {
    const NAME: &'static str = "slow";
    type Input = u32;
    type Output = u32;
    type Interface = ();

    async fn run(&self, ctx: Ctx<Self>, n: u32) -> Result<u32> {
        ctx.sleep("think", minutes(5)).await?;
        ctx.step("answer", || ok(n * 2)).await
    }
}

async fn parent(ctx: Ctx<AnyEvent>, (): ()) -> Result<u32> {
    ctx.child::<Slow>(&21).id("child").await
}

async fn patient(ctx: Ctx<AnyEvent>, (): ()) -> Result<u32> {
    ctx.child::<Slow>(&21)
        .id("child")
        .on_parent_close(ParentClose::Abandon)
        .await
}

// B149
#[test]
fn a_parent_is_notified_when_its_child_is_terminated() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(Workflows::new().workflow(Slow).function("w", parent))
            .start()
            .await;
        let run = start(&test).await;
        test.advance(secs(1)).await;
        let child = test.run("child").await.unwrap();
        child.terminate().reason("no").await.unwrap();
        let failure = failure(&run).await;
        assert_eq!(failure.code, ErrorCode::ChildFailed.as_str());
    });
}

// B149, B153
#[test]
fn children_of_a_terminated_or_deleted_parent_are_cancelled() {
    for_each_store(async |store| {
        for delete in [false, true] {
            let test = store
                .engine()
                .workflows(Workflows::new().workflow(Slow).function("w", parent))
                .start()
                .await;
            let run = start(&test).await;
            test.advance(secs(1)).await;
            let child = test.run("child").await.unwrap();
            if delete {
                run.delete().await.unwrap();
            } else {
                run.terminate().await.unwrap();
            }
            assert!(matches!(
                child.wait_json().await,
                Err(WaitError::Cancelled(_))
            ));
            test.advance(secs(1)).await;
            let _ = run.delete().await;
            child.delete().await.unwrap();
            test.shutdown().await;
        }
    });
}

// B47
#[test]
fn a_recovered_run_waits_for_the_child_it_had() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(Workflows::new().workflow(Slow).function("w", patient))
            .start()
            .await;
        let run = start(&test).await;
        test.advance(minutes(1)).await;
        run.terminate().await.unwrap();
        run.recover().await.unwrap();
        test.advance(millis(10)).await;
        assert_eq!(status_everywhere(&test, &run).await, RunStatus::Waiting);
        assert_eq!(output::<u32>(&run).await, 42);
        assert_eq!(test.calls("answer"), 1);
    });
}

// B151
#[test]
fn a_fork_waits_for_the_originals_child_and_never_ends_it() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(Workflows::new().workflow(Slow).function("w", parent))
            .start()
            .await;
        let run = start(&test).await;
        test.advance(minutes(1)).await;
        let fork = run.fork().id("f").await.unwrap();
        let short = run.fork().id("g").await.unwrap();
        test.advance(minutes(1)).await;
        short.cancel().keep().await.unwrap();
        test.reach(&short, RunStatus::Cancelled).await;
        assert_eq!(output::<u32>(&fork).await, 42);
        assert_eq!(output::<u32>(&run).await, 42);
        assert_eq!(test.calls("answer"), 1);
    });
}

/// Steps `a` and `b` with undos, and `c`, which fails while the bank is closed.
fn saga(
    bank: Arc<AtomicBool>,
    refunds: Arc<AtomicBool>,
    seen: Seen<&'static str>,
) -> impl Fn(Ctx<AnyEvent>, ()) -> futures_util::future::BoxFuture<'static, Result<u32>>
+ Clone
+ Send
+ Sync
+ 'static {
    move |ctx, ()| {
        let (bank, refunds, seen) = (bank.clone(), refunds.clone(), seen.clone());
        Box::pin(async move {
            for name in ["a", "b"] {
                let (undone, refunds, done) = (seen.clone(), refunds.clone(), seen.clone());
                let _: u32 = ctx
                    .step(name, || {
                        done.add(name);
                        ok(1)
                    })
                    .undo(move |_| {
                        let (undone, works) = (undone.clone(), refunds.load(Ordering::Relaxed));
                        async move {
                            if name == "a" && !works {
                                return Err(Error::new("no refunds today").non_retryable());
                            }
                            undone.add(if name == "a" { "undo a" } else { "undo b" });
                            Ok(())
                        }
                    })
                    .await?;
            }
            ctx.step("c", || async {
                match bank.load(Ordering::Relaxed) {
                    true => Ok(3),
                    false => Err(Error::new("closed")),
                }
            })
            .retry(Retry::none())
            .await
        })
    }
}

// B47
#[test]
fn undone_steps_are_executed_again_when_a_run_is_recovered() {
    for_each_store(async |store| {
        let (bank, refunds) = (
            Arc::new(AtomicBool::new(false)),
            Arc::new(AtomicBool::new(true)),
        );
        let seen = Seen::new();
        let code = saga(bank.clone(), refunds, seen.clone());
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let run = start(&test).await;
        failure(&run).await;
        assert_eq!(seen.take(), ["a", "b", "undo b", "undo a"]);
        bank.store(true, Ordering::Relaxed);
        run.recover().await.unwrap();
        assert_eq!(output::<u32>(&run).await, 3);
        assert_eq!(seen.take(), ["a", "b"]);
    });
}

// B137
#[test]
fn a_retried_rollback_leaves_finished_undos_alone() {
    for_each_store(async |store| {
        let (bank, refunds) = (
            Arc::new(AtomicBool::new(false)),
            Arc::new(AtomicBool::new(false)),
        );
        let seen = Seen::new();
        let code = saga(bank, refunds.clone(), seen.clone());
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let run = start(&test).await;
        let ended = run.wait_json().await;
        assert!(
            matches!(ended, Err(WaitError::RollbackFailed { .. })),
            "{ended:?}"
        );
        assert_eq!(seen.take(), ["a", "b", "undo b"]);
        // It fails again, and can be tried again.
        let done = run.retry_rollback().by("alice").await.unwrap();
        assert_eq!(done.generation, Generation(2));
        let ended = run.wait_json().await;
        assert!(
            matches!(ended, Err(WaitError::RollbackFailed { .. })),
            "{ended:?}"
        );
        refunds.store(true, Ordering::Relaxed);
        run.retry_rollback().await.unwrap();
        let failure = failure(&run).await;
        assert!(failure.message.contains("closed"), "{failure}");
        assert_eq!(seen.take(), ["undo a"]);
    });
}

// B152
#[test]
fn a_restart_from_inside_a_loop_repeats_the_whole_loop() {
    for_each_store(async |store| {
        let seen: Seen<u32> = Seen::new();
        let saw = seen.clone();
        let code = move |ctx: Ctx<AnyEvent>, (): ()| {
            let saw = saw.clone();
            async move {
                let first: u32 = ctx.step("first", || ok(100)).await?;
                let sum: u32 = ctx
                    .repeat("sum", 0u32, move |ctx, n| {
                        let saw = saw.clone();
                        async move {
                            let next: u32 = ctx
                                .step("add", || {
                                    saw.add(n);
                                    ok(n + 1)
                                })
                                .await?;
                            Ok(if next == 4 {
                                std::ops::ControlFlow::Break(next)
                            } else {
                                std::ops::ControlFlow::Continue(next)
                            })
                        }
                    })
                    .await?;
                Ok::<_, Error>(first + sum)
            }
        };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let run = start(&test).await;
        assert_eq!(output::<u32>(&run).await, 104);
        assert_eq!(seen.take(), [0, 1, 2, 3]);
        run.restart_from("sum/~2/add").await.unwrap();
        assert_eq!(output::<u32>(&run).await, 104);
        assert_eq!(seen.take(), [0, 1, 2, 3]);
        assert_eq!(test.calls("first"), 1);
    });
}

// B151
#[test]
fn a_copy_waits_for_a_child_whose_start_is_not_delivered_yet() {
    for_each_store(async |store| {
        // The workflow of the child is not registered, so it is not started yet.
        let mut test = store
            .engine()
            .workflows(Workflows::new().function("w", parent))
            .start()
            .await;
        let run = start(&test).await;
        test.advance(secs(1)).await;
        let fork = run.fork().id("fork").await.unwrap();
        test.advance(minutes(2)).await;
        assert_eq!(status_everywhere(&test, &fork).await, RunStatus::Waiting);
        test.redeploy(|engine| {
            engine.workflows(Workflows::new().workflow(Slow).function("w", parent))
        })
        .await;
        for id in ["r", "fork"] {
            assert_eq!(output::<u32>(&test.run(id).await.unwrap()).await, 42);
        }
        assert_eq!(test.calls("answer"), 1);
        assert_eq!(store.outbox_left(test).await, []);
    });
}
