//! Loops: their state and result are durable, and each iteration is executed once.

use std::ops::ControlFlow;

use everstep::{
    AnyEvent, Ctx, Error, Options, Result, Retry, RunStatus, Workflows, hours, millis, minutes,
    secs,
};

use crate::support::{
    Ping, Seen, TestStore, failure, for_each_store, ok, output, ping, restart, start, start_with,
};

fn goes_on<B, S>(state: S, result: B, is_over: bool) -> Result<ControlFlow<B, S>> {
    Ok(if is_over {
        ControlFlow::Break(result)
    } else {
        ControlFlow::Continue(state)
    })
}

/// Five iterations of one step, which records its execution; then a sleep.
async fn five(ctx: Ctx<AnyEvent>, seen: Seen<u32>) -> Result<u32> {
    let body = |ctx: Ctx<AnyEvent>, n: u32| {
        let seen = &seen;
        async move {
            let work = || {
                seen.add(n);
                ok(n + 1)
            };
            let next = ctx.step("count", work).await?;
            goes_on(next, next * 10, next == 5)
        }
    };
    let result = ctx.repeat("five", 0, body).keep(1).await?;
    ctx.sleep("nap", hours(1)).await?;
    Ok(result)
}

// B101
#[test]
fn a_loop_returns_its_result_and_a_replay_executes_nothing() {
    for_each_store(async |store| {
        let seen = Seen::new();
        let ran = seen.clone();
        let code = move |ctx: Ctx<AnyEvent>, (): ()| five(ctx, ran.clone());
        let mut test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let run = start(&test).await;
        test.reach(&run, RunStatus::Sleeping).await;
        let run = restart(&mut test).await;
        test.advance(hours(2)).await;
        assert_eq!(output::<u32>(&run).await, 50);
        assert_eq!(seen.take(), [0, 1, 2, 3, 4]);
    });
}

// B101
#[test]
fn an_empty_result_is_a_result() {
    for_each_store(async |store| {
        let code = |ctx: Ctx<AnyEvent>, (): ()| async move {
            let body = |ctx: Ctx<AnyEvent>, n: u32| async move {
                ctx.step("count", || ok(())).await?;
                goes_on(n + 1, (), n == 2)
            };
            ctx.repeat("three", 0, body).await?;
            ctx.sleep("nap", hours(1)).await
        };
        let mut test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let run = start(&test).await;
        test.reach(&run, RunStatus::Sleeping).await;
        let run = restart(&mut test).await;
        test.advance(hours(2)).await;
        output::<()>(&run).await;
        assert_eq!(test.calls("count"), 3);
    });
}

/// Sums up the pings it gets in five iterations.
async fn sum_up(ctx: Ctx<AnyEvent>, seen: Seen<(u32, u32)>) -> Result<u32> {
    let body = |ctx: Ctx<AnyEvent>, (n, sum): (u32, u32)| {
        seen.add((n, sum));
        async move {
            let got = ctx.event::<Ping>().await?.0;
            let sum = ctx.step("add", || ok(sum + got)).await?;
            goes_on((n + 1, sum), sum, n == 4)
        }
    };
    ctx.repeat("sum", (0, 0), body).keep(0).await
}

// B102
#[test]
fn after_a_crash_the_loop_continues_in_the_same_iteration_with_its_state() {
    for_each_store(async |store| {
        let seen = Seen::new();
        let began = seen.clone();
        let code = move |ctx: Ctx<AnyEvent>, (): ()| sum_up(ctx, began.clone());
        let mut test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let mut run = start(&test).await;
        for n in 0..5_u32 {
            test.reach(&run, RunStatus::Waiting).await;
            seen.take();
            run = restart(&mut test).await;
            ping(&run, 1 << n).await;
            test.advance(secs(1)).await;
            let kept = n.saturating_sub(1);
            let first = seen.take()[0];
            assert_eq!(first, (kept, (1 << kept) - 1), "it began where it was");
        }
        assert_eq!(output::<u32>(&run).await, 31);
        assert_eq!(test.calls("add"), 5);
    });
}

// B104
#[test]
fn a_loop_without_state_continues_until_it_returns_a_value() {
    for_each_store(async |store| {
        let code = |ctx: Ctx<AnyEvent>, (): ()| async move {
            ctx.repeat_until("look", |ctx| async move {
                let got = ctx.event::<Ping>().await?.0;
                Ok((got > 2).then_some(got))
            })
            .await
        };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let run = start(&test).await;
        for n in 0..5 {
            let _ = run
                .send_by_name("ping", crate::support::json(&Ping(n)), None)
                .await;
        }
        assert_eq!(output::<u32>(&run).await, 3);
    });
}

// B108
#[test]
fn an_error_in_the_body_fails_the_loop() {
    for_each_store(async |store| {
        let code = |ctx: Ctx<AnyEvent>, (): ()| async move {
            let body = |ctx: Ctx<AnyEvent>, n: u32| async move {
                let work = || async move {
                    if n == 3 {
                        Err(Error::new("not this one"))
                    } else {
                        Ok(n)
                    }
                };
                ctx.step("work", work).retry(Retry::none()).await?;
                Ok(ControlFlow::<(), _>::Continue(n + 1))
            };
            ctx.repeat("work", 0, body).await
        };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let run = start(&test).await;
        assert!(failure(&run).await.message.contains("not this one"));
        test.journal(&run)
            .await
            .assert_contains("step_failed work/~3/work:0");
    });
}

// B60
#[test]
fn a_sleep_in_a_loop_does_not_run_earlier_iterations_again() {
    for_each_store(async |store| {
        let code = |ctx: Ctx<AnyEvent>, (): ()| async move {
            let body = |ctx: Ctx<AnyEvent>, n: u32| async move {
                ctx.step("before", || ok(n)).await?;
                ctx.sleep("nap", minutes(10)).await?;
                goes_on(n + 1, n, n == 5)
            };
            ctx.repeat("nap", 0, body).keep(2).await
        };
        for evicted in [false, true] {
            let engine = store
                .engine()
                .workflows(Workflows::new().function("w", code))
                .development();
            let engine = if evicted { engine.evict_all() } else { engine };
            let test = engine.start().await;
            let run = test
                .start_by_name("w", crate::support::json(&()))
                .id(format!("r{evicted}"))
                .await
                .unwrap();
            test.advance(hours(2)).await;
            assert_eq!(output::<u32>(&run).await, 5);
            assert_eq!(test.calls("before"), 6);
            test.shutdown().await;
        }
    });
}

/// Nested loops with joins and races. Each step is counted once.
async fn nested(ctx: Ctx<AnyEvent>, (): ()) -> Result<u32> {
    let outer = |ctx: Ctx<AnyEvent>, total: u32| async move {
        let inner = |ctx: Ctx<AnyEvent>, n: u32| async move {
            let both = ctx
                .join("both")
                .branch("a", |ctx| async move { ctx.step("a", || ok(1)).await });
            let (a, b) = both
                .branch("b", |ctx| async move {
                    ctx.sleep("pause", millis(20)).await?;
                    ctx.step("b", || ok(1)).await
                })
                .await?;
            let first = ctx.race("first").branch("long", |ctx| async move {
                ctx.sleep("long", hours(1)).await?;
                Ok(0)
            });
            let won = first
                .branch("c", |ctx| async move {
                    ctx.sleep("pause", millis(20)).await?;
                    ctx.step("c", || ok(1)).await
                })
                .await?;
            let sum = n + a + b + won.value;
            goes_on(sum, sum, n >= 9)
        };
        let sum = ctx.repeat("inner", 0, inner).keep(1).await?;
        goes_on(total + sum, total + sum, total >= 36)
    };
    ctx.repeat("outer", 0, outer).keep(1).await
}

// B109
#[test]
fn loops_and_branches_inside_a_loop_continue_after_crashes() {
    for_each_store(async |store| {
        let mut test = store
            .engine()
            .workflows(Workflows::new().function("w", nested))
            .development()
            .start()
            .await;
        let mut run = start(&test).await;
        while run.status().await.unwrap() != RunStatus::Completed {
            test.advance(millis(13)).await;
            run = restart(&mut test).await;
        }
        assert_eq!(output::<u32>(&run).await, 48);
        // Four outer iterations of four inner ones. An attempt that a crash interrupts is repeated.
        for step in ["a", "b", "c"] {
            assert!(test.calls(step) >= 16, "{step}");
        }
        drop(run);
        assert_eq!(store.timers_left(test).await, []);
    });
}

/// The versions seen by five iterations, each of which waits for a ping before its version gate, if
/// it has one.
async fn gated(ctx: Ctx<AnyEvent>, seen: Seen<(u32, u32)>, has_gate: bool) -> Result<()> {
    let body = |ctx: Ctx<AnyEvent>, n: u32| {
        let seen = &seen;
        async move {
            ctx.step("first", || ok(n)).await?;
            if has_gate {
                seen.add((n, ctx.version("change", 2)?));
            }
            ctx.event::<Ping>().await?;
            goes_on(n + 1, (), n == 4)
        }
    };
    ctx.repeat("gated", 0, body).keep(0).await
}

// B180
#[test]
fn a_gate_is_decided_in_each_iteration() {
    for_each_store(async |store| {
        let seen = Seen::new();
        let (before, after) = (seen.clone(), seen.clone());
        let mut test = store
            .engine()
            .workflows(
                Workflows::new()
                    .function("w", move |ctx, (): ()| gated(ctx, before.clone(), false)),
            )
            .start()
            .await;
        let run = start(&test).await;
        for _ in 0..2 {
            test.reach(&run, RunStatus::Waiting).await;
            ping(&run, 0).await;
            test.advance(secs(1)).await;
        }
        test.reach(&run, RunStatus::Waiting).await;
        test.redeploy(|setup| {
            setup.workflows(
                Workflows::new().function("w", move |ctx, (): ()| gated(ctx, after.clone(), true)),
            )
        })
        .await;
        let run = test.run("r").await.unwrap();
        for _ in 0..3 {
            ping(&run, 0).await;
            test.advance(secs(1)).await;
        }
        output::<()>(&run).await;
        let decided: Vec<_> = seen.take().into_iter().filter(|(n, _)| *n >= 2).collect();
        assert_eq!(decided, [(2, 1), (3, 2), (4, 2)]);
    });
}

/// A change of the code of a loop.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Change {
    None,
    StepRenamed,
    StepAdded,
    EndsSooner,
    LoopRenamed,
    StateIsText,
}

async fn changing(ctx: Ctx<AnyEvent>, change: Change) -> Result<u32> {
    let name = if change == Change::LoopRenamed {
        "other"
    } else {
        "loop"
    };
    if change == Change::StateIsText {
        let body = |ctx: Ctx<AnyEvent>, text: String| async move {
            ctx.step("work", || ok(1)).await?;
            ctx.event::<Ping>().await?;
            Ok(ControlFlow::<u32, _>::Continue(text))
        };
        return ctx.repeat(name, String::new(), body).await;
    }
    let body = move |ctx: Ctx<AnyEvent>, n: u32| async move {
        if change == Change::StepAdded {
            ctx.step("added", || ok(1)).await?;
        }
        let step = if change == Change::StepRenamed {
            "renamed"
        } else {
            "work"
        };
        ctx.step(step, || ok(1)).await?;
        if change == Change::EndsSooner {
            return Ok(ControlFlow::Break(n));
        }
        ctx.event::<Ping>().await?;
        goes_on(n + 1, n, n == 9)
    };
    ctx.repeat(name, 0, body).keep(1).await
}

fn register(
    setup: everstep::testing::TestEngineBuilder,
    change: Change,
) -> everstep::testing::TestEngineBuilder {
    setup.workflows(Workflows::new().function("w", move |ctx, (): ()| changing(ctx, change)))
}

/// A run in its fifth iteration, then the same code with a change.
async fn changed(store: &TestStore, change: Change) -> everstep::testing::TestEngine {
    let mut test = register(store.engine(), Change::None).start().await;
    let run = start(&test).await;
    for _ in 0..4 {
        test.reach(&run, RunStatus::Waiting).await;
        ping(&run, 0).await;
        test.advance(secs(1)).await;
    }
    test.reach(&run, RunStatus::Waiting).await;
    test.redeploy(|setup| register(setup, change)).await;
    let run = test.run("r").await.unwrap();
    ping(&run, 0).await;
    test.advance(secs(1)).await;
    test
}

// B177
#[test]
fn a_changed_loop_body_is_a_divergence_until_the_code_fits_again() {
    for change in [
        Change::StepRenamed,
        Change::StepAdded,
        Change::EndsSooner,
        Change::LoopRenamed,
    ] {
        for_each_store(async |store| {
            let mut test = changed(store, change).await;
            let run = test.run("r").await.unwrap();
            assert_eq!(
                run.status().await.unwrap(),
                RunStatus::Diverged,
                "{change:?}"
            );
            test.redeploy(|setup| register(setup, Change::None)).await;
            let run = test.run("r").await.unwrap();
            for _ in 0..5 {
                ping(&run, 0).await;
                test.advance(secs(1)).await;
            }
            assert_eq!(output::<u32>(&run).await, 9);
        });
    }
}

#[test]
fn a_recorded_state_that_no_longer_fits_is_a_clear_error() {
    for_each_store(async |store| {
        let test = changed(store, Change::StateIsText).await;
        let run = test.run("r").await.unwrap();
        test.reach(&run, RunStatus::Diverged).await;
        let why = run.why().await.unwrap().to_string();
        assert!(
            why.contains("state of loop `loop` does not match its type"),
            "{why}"
        );
    });
}

#[test]
fn an_empty_loop_body_blocks_no_other_run_and_writes_few_records() {
    for_each_store(async |store| {
        let spin = |ctx: Ctx<AnyEvent>, times: u32| async move {
            let body = |_: Ctx<AnyEvent>, n: u32| async move { goes_on(n + 1, n, n == times) };
            ctx.repeat("spin", 0, body).await
        };
        let test = store
            .engine()
            .workflows(
                Workflows::new()
                    .function("w", spin)
                    .function("quick", |ctx: Ctx<AnyEvent>, (): ()| async move {
                        ctx.step("one", || ok(1)).await
                    }),
            )
            .start()
            .await;
        let run = start_with(&test, &5_000).await;
        let quick = test.start_by_name("quick", crate::support::json(&())).await;
        assert_eq!(output::<u32>(&quick.unwrap()).await, 1);
        assert_eq!(output::<u32>(&run).await, 5_000);
        assert!(test.journal(&run).await.entries().len() < 200);
    });
}

/// Fails in its first pass, in iteration 12 of 15.
async fn second_pass(ctx: Ctx<AnyEvent>, seen: Seen<(u32, u32)>) -> Result<u32> {
    let pass = ctx.metadata().attempt;
    let body = |ctx: Ctx<AnyEvent>, n: u32| {
        seen.add((pass, n));
        async move {
            let n = ctx.step("count", || ok(n + 1)).await?;
            if pass == 1 && n == 13 {
                return Err(Error::new("the first pass fails"));
            }
            goes_on(n, n, n == 15)
        }
    };
    let result = ctx.repeat("count", 0, body).keep(2).await?;
    ctx.step("after", || ok(result)).await
}

// B102
#[test]
fn a_second_pass_begins_with_the_first_iteration_that_was_kept() {
    for_each_store(async |store| {
        let seen = Seen::new();
        let began = seen.clone();
        let code = move |ctx, (): ()| second_pass(ctx, began.clone());
        let options = Options::new().execution_retries(1);
        let test = store
            .engine()
            .workflows(Workflows::new().function_with("w", options, code));
        let test = test.development().start().await;
        let run = start(&test).await;
        test.advance(hours(1)).await;
        assert_eq!(output::<u32>(&run).await, 15);
        assert_eq!(test.calls("count"), 15);
        let again: Vec<u32> = seen
            .take()
            .into_iter()
            .filter(|(pass, _)| *pass == 2)
            .map(|(_, n)| n)
            .collect();
        assert!(again[0] >= 8, "{again:?}");
        assert_eq!(again.last(), Some(&14));
    });
}
