//! Awaiting, or acting on, something that is not durable is a clear error.

use everstep::{AnyEvent, Ctx, Error, ErrorCode, Failure, Result, Workflows, hours, minutes, secs};

use crate::support::{Ping, Seen, failure, for_each_store, ok, output, ping, start};

type Code = fn(Ctx<AnyEvent>) -> std::pin::Pin<Box<dyn Future<Output = Result<()>> + Send>>;

/// Runs this code and returns its failure.
fn fails_with(code: Code, check: impl Fn(&Failure)) {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", move |ctx, ()| code(ctx)))
            .start()
            .await;
        let failure = failure(&start(&test).await).await;
        assert!(failure.is(ErrorCode::NotDurable), "{failure:?}");
        check(&failure);
    });
}

#[test]
fn awaiting_a_timer_of_the_runtime_is_a_clear_error() {
    fails_with(
        |_| {
            Box::pin(async {
                tokio::time::sleep(hours(1)).await;
                Ok(())
            })
        },
        |failure| {
            assert!(
                failure.message.contains("not durable") && failure.message.contains("inside steps"),
                "{failure}"
            )
        },
    );
}

#[test]
fn awaiting_a_channel_after_a_step_is_a_clear_error() {
    fails_with(
        |ctx| {
            Box::pin(async move {
                ctx.step("a", || ok(())).await?;
                let (_keep, receive) = tokio::sync::oneshot::channel::<()>();
                let _ = receive.await;
                Ok(())
            })
        },
        |failure| assert!(failure.message.contains("not durable"), "{failure}"),
    );
}

#[test]
fn acting_on_a_wake_that_is_not_in_the_journal_is_an_error_with_a_location() {
    fails_with(
        |ctx| {
            Box::pin(async move {
                let acting = async {
                    tokio::time::sleep(secs(1)).await;
                    ctx.step("late", || ok(())).await
                };
                let (slow, late) = tokio::join!(
                    ctx.step("slow", || async {
                        tokio::time::sleep(secs(5)).await;
                        ok(()).await
                    }),
                    acting,
                );
                slow.and(late)
            })
        },
        |failure| {
            assert!(
                failure.message.contains("`late:0`") && failure.message.contains("not_durable.rs"),
                "{failure}"
            )
        },
    );
}

#[test]
fn calling_ctx_inside_a_step_is_a_clear_error() {
    let codes: [Code; 3] = [
        |ctx| Box::pin(async move { ctx.step("outer", || ctx.step("inner", || ok(()))).await }),
        |ctx| Box::pin(async move { ctx.step("outer", || ctx.sleep("inner", secs(1))).await }),
        |ctx| {
            Box::pin(async move {
                let work = || async {
                    tokio::time::sleep(secs(1)).await;
                    ctx.event::<Ping>().await.map(drop)
                };
                ctx.step("outer", work).await
            })
        },
    ];
    for code in codes {
        fails_with(code, |failure| {
            assert!(failure.message.contains("from inside a step"), "{failure}");
        });
    }
}

#[test]
fn timers_and_channels_inside_a_step_are_fine() {
    for_each_store(async |store| {
        let code = |ctx: Ctx<AnyEvent>, _: ()| async move {
            let work = || async {
                let (send, receive) = tokio::sync::oneshot::channel();
                tokio::spawn(async move {
                    tokio::time::sleep(secs(3)).await;
                    let _ = send.send(5);
                });
                Ok::<u32, everstep::Error>(receive.await?)
            };
            ctx.step("a", work).await
        };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        assert_eq!(output::<u32>(&start(&test).await).await, 5);
    });
}

#[test]
fn returning_because_of_a_timer_of_the_runtime_is_a_clear_error() {
    fails_with(
        |ctx| {
            Box::pin(async move {
                let slow = ctx.step("slow", || async {
                    tokio::time::sleep(hours(1)).await;
                    Ok::<_, everstep::Error>(())
                });
                let _ = tokio::time::timeout(secs(1), slow).await;
                Ok(())
            })
        },
        |failure| assert!(failure.message.contains("not in the journal"), "{failure}"),
    );
}

#[test]
fn drawing_a_random_number_inside_a_step_is_a_clear_error() {
    fails_with(
        |ctx| {
            Box::pin(async move {
                let drawn = ctx.clone();
                let _: u64 = ctx.step("draw", || ok(drawn.random())).await?;
                Ok(())
            })
        },
        |failure| assert!(failure.message.contains("random number"), "{failure}"),
    );
}

#[test]
fn a_step_that_was_called_and_is_not_polled_waits_without_holding_up_the_run() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(
                Workflows::new().function("w", |ctx: Ctx<AnyEvent>, _: ()| async move {
                    let mut step = std::pin::pin!(ctx.step("held", || ok(1_u32)));
                    std::future::poll_fn(|context| {
                        assert!(step.as_mut().poll(context).is_pending());
                        std::task::Poll::Ready(())
                    })
                    .await;
                    ctx.sleep("nap", hours(1)).await?;
                    step.await
                }),
            )
            .start()
            .await;
        let run = start(&test).await;
        assert_eq!(output::<u32>(&run).await, 1);
    });
}

#[test]
fn a_wake_of_the_code_of_a_suspended_run_keeps_no_task_busy() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(
                Workflows::new().function("w", |ctx: Ctx<AnyEvent>, _: ()| async move {
                    let nap = async {
                        tokio::time::sleep(minutes(1)).await;
                        std::future::pending::<()>().await;
                    };
                    tokio::select! {
                        biased;
                        ping = ctx.event::<Ping>() => ping.map(|Ping(n)| n),
                        () = nap => Ok(0),
                    }
                }),
            )
            .start()
            .await;
        let run = start(&test).await;
        // Virtual time does not advance while a task is ready.
        test.advance(minutes(5)).await;
        ping(&run, 7).await;
        assert_eq!(output::<u32>(&run).await, 7);
    });
}

#[test]
fn using_ctx_from_a_thread_inside_a_poll_is_a_clear_error() {
    fails_with(
        |ctx| {
            Box::pin(async move {
                ctx.step("a", || ok(())).await?;
                std::thread::scope(|scope| {
                    scope.spawn(|| ctx.note("from a thread"));
                });
                Ok(())
            })
        },
        |failure| assert!(failure.message.contains("a thread"), "{failure}"),
    );
}

#[test]
fn steps_are_undone_when_the_run_fails_while_operations_are_open() {
    for_each_store(async |store| {
        let undone: Seen<u32> = Seen::new();
        let seen = undone.clone();
        let code = move |ctx: Ctx<AnyEvent>, (): ()| {
            let seen = seen.clone();
            async move {
                let undo = async move |done: u32| {
                    seen.add(done);
                    Ok::<_, Error>(())
                };
                ctx.step("a", || ok(7u32)).undo(undo).await?;
                let (_keep, never) = tokio::sync::oneshot::channel::<()>();
                let late = async {
                    tokio::time::sleep(secs(1)).await;
                    ctx.note("woken by something that is not durable");
                    let _ = never.await;
                };
                let (slept, ()) = tokio::join!(ctx.sleep("open", hours(1)), late);
                slept
            }
        };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let failure = failure(&start(&test).await).await;
        assert!(failure.is(ErrorCode::NotDurable), "{failure:?}");
        assert_eq!(undone.take(), [7]);
    });
}

#[test]
fn an_undo_that_uses_ctx_ends_and_is_recorded_once() {
    for_each_store(async |store| {
        let undone: Seen<u32> = Seen::new();
        let seen = undone.clone();
        let code = move |ctx: Ctx<AnyEvent>, (): ()| {
            let seen = seen.clone();
            async move {
                let handle = ctx.clone();
                let undo = async move |done: u32| {
                    handle.note("undoing");
                    tokio::time::sleep(secs(5)).await;
                    seen.add(done);
                    Ok::<_, Error>(())
                };
                ctx.step("a", || ok(7u32)).undo(undo).await?;
                Err::<(), _>(Error::fatal("no"))
            }
        };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let failure = failure(&start(&test).await).await;
        assert!(!failure.is(ErrorCode::NotDurable), "{failure:?}");
        assert_eq!(undone.take(), [7]);
    });
}
