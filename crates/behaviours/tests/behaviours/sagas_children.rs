//! Children in sagas: a parent undoes a completed child once, in the order of completion.

mod loops;

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use everstep::journal::Body;
use everstep::journal::record::ParentClose;
use everstep::testing::{Mock, TestEngineBuilder};
use everstep::{
    AnyEvent, Ctx, Error, ErrorCode, Options, Payload, Result, Retry, RunStatus, WaitError,
    Workflows, hours, millis, minutes, secs,
};

use crate::sagas::done;
use crate::support::{
    Ping, Seen, TestStore, failure, for_each_store, json, ok, output, ping, restart, start,
};

/// A child that records its effects and undoes them when it fails or is cancelled.
pub(crate) fn with_child(setup: TestEngineBuilder, seen: &Seen<String>) -> TestEngineBuilder {
    let seen = seen.clone();
    setup.workflows(
        Workflows::new().function("ship", move |ctx: Ctx<AnyEvent>, parcel: String| {
            let seen = seen.clone();
            async move {
                let (own, label) = (seen.clone(), parcel.clone());
                ctx.step("label", || ok(label.clone()))
                    .undo(move |label: String| async move {
                        own.add(format!("peel off {label}"));
                        Ok::<_, Error>(())
                    })
                    .await?;
                if parcel == "bomb" {
                    return Err(Error::fatal("not accepted"));
                }
                ctx.sleep("drive", secs(5)).await?;
                Ok(format!("{parcel} shipped"))
            }
        }),
    )
}

/// A child whose parent undoes it.
pub(crate) async fn shipped(
    ctx: &Ctx<AnyEvent>,
    parcel: &str,
    seen: &Seen<String>,
) -> Result<Payload> {
    let seen = seen.clone();
    ctx.child_by_name("ship", json(parcel))
        .undo(move |output: Payload| async move {
            seen.add(format!("undo {}", output.decode::<String>()?));
            Ok::<_, Error>(())
        })
        .await
}

// B126, B132
#[test]
fn a_child_that_completed_is_undone_in_its_turn_with_its_output() {
    for_each_store(async |store: &TestStore| {
        let seen = Seen::new();
        let (own, setup) = (seen.clone(), with_child(store.engine(), &seen));
        let code = move |ctx: Ctx<AnyEvent>, (): ()| {
            let seen = own.clone();
            async move {
                done(&ctx, "reserve", &seen).await?;
                shipped(&ctx, "lamp", &seen).await?;
                done(&ctx, "charge", &seen).await?;
                Err::<(), _>(Error::fatal("no"))
            }
        };
        let test = setup
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let run = start(&test).await;
        assert_eq!(failure(&run).await.message, "no");
        // The child itself completed and undoes nothing.
        let expected = ["undo charge!", "undo lamp shipped", "undo reserve!"];
        assert_eq!(seen.take(), expected);
        let journal = test.journal(&run).await;
        journal.assert_lines(&[
            "created",
            "step_started reserve:0",
            "step_completed reserve:0",
            "child_started ship:0",
            "child_finished ship:0",
            "step_started charge:0",
            "step_completed charge:0",
            "undo_started charge:0",
            "undo_completed charge:0",
            "undo_started ship:0",
            "undo_completed ship:0",
            "undo_started reserve:0",
            "undo_completed reserve:0",
            "failed",
        ]);
        assert!(run.inspect().await.unwrap().overview.rolled_back);
    });
}

#[test]
fn a_child_that_failed_has_undone_itself() {
    for_each_store(async |store: &TestStore| {
        let seen = Seen::new();
        let (own, setup) = (seen.clone(), with_child(store.engine(), &seen));
        let code = move |ctx: Ctx<AnyEvent>, (): ()| {
            let seen = own.clone();
            async move { shipped(&ctx, "bomb", &seen).await }
        };
        let test = setup
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let run = start(&test).await;
        assert_eq!(failure(&run).await.code, ErrorCode::ChildFailed.as_str());
        assert_eq!(seen.take(), ["peel off bomb"]);
        assert_eq!(test.journal(&run).await.count("undo_started"), 0);
    });
}

// B135
#[test]
fn the_undo_of_a_child_receives_its_run_and_the_reason_and_is_retried() {
    for_each_store(async |store: &TestStore| {
        let seen = Seen::new();
        let (own, setup) = (seen.clone(), with_child(store.engine(), &Seen::new()));
        let code = move |ctx: Ctx<AnyEvent>, (): ()| {
            let seen = own.clone();
            async move {
                ctx.child_by_name("ship", json("lamp"))
                    .id("s-1")
                    .name("parcel")
                    .undo_with(move |undo| async move {
                        let run = undo.child.as_ref().unwrap().to_string();
                        let (why, key) = (undo.failure.message.clone(), undo.idempotency_key());
                        seen.add((run, why, undo.context.name.clone(), undo.attempt, key));
                        if undo.attempt < 3 {
                            return Err(Error::new("not yet"));
                        }
                        Ok(())
                    })
                    .await?;
                Err::<(), _>(Error::fatal("no"))
            }
        };
        // The default retry policy of the workflow's steps applies.
        let options = Options::new().retry(Retry::constant(2, minutes(1)));
        let test = setup
            .workflows(Workflows::new().function_with("w", options, code))
            .start()
            .await;
        let run = start(&test).await;
        test.reach(&run, RunStatus::RollingBack).await;
        let why = run.why().await.unwrap().to_string();
        assert!(why.contains("parcel:0"), "{why}");
        failure(&run).await;
        let attempts = seen.take();
        let (child, why, name, _, key) = attempts[0].clone();
        assert_eq!(
            (child.as_str(), why.as_str(), name.as_str()),
            ("s-1", "no", "parcel")
        );
        let numbers: Vec<u32> = attempts.iter().map(|(.., attempt, _)| *attempt).collect();
        assert_eq!(numbers, [1, 2, 3]);
        assert!(attempts.iter().all(|(.., other)| *other == key));
        drop(run);
        assert!(store.timers_left(test).await.is_empty());
    });
}

// B129, B130
#[test]
fn a_child_that_cannot_be_undone_stops_the_rollback() {
    for_each_store(async |store: &TestStore| {
        let seen = Seen::new();
        let (own, setup) = (seen.clone(), with_child(store.engine(), &seen));
        let code = move |ctx: Ctx<AnyEvent>, (): ()| {
            let seen = own.clone();
            async move {
                done(&ctx, "reserve", &seen).await?;
                ctx.child_by_name("ship", json("lamp"))
                    .undo(|_| async { Err::<(), _>(Error::fatal("delivered")) })
                    .await?;
                Err::<(), _>(Error::fatal("no"))
            }
        };
        let test = setup
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let run = start(&test).await;
        match run.wait_json().await {
            Err(WaitError::RollbackFailed {
                error,
                rollback_error,
            }) => {
                assert_eq!(error.message, "no");
                let expected = "child `ship:0` could not be undone: delivered";
                assert_eq!(rollback_error.message, expected);
            }
            other => panic!("{other:?}"),
        }
        assert!(seen.take().is_empty());
    });
}

// B142
#[test]
fn past_the_point_of_no_return_only_internal_undos_of_children_run() {
    for_each_store(async |store: &TestStore| {
        let seen = Seen::new();
        let (own, setup) = (seen.clone(), with_child(store.engine(), &seen));
        let code = move |ctx: Ctx<AnyEvent>, (): ()| {
            let seen = own.clone();
            async move {
                shipped(&ctx, "lamp", &seen).await?;
                ctx.child_by_name("ship", json("book"))
                    .undo(move |_| async move {
                        seen.add("internal".to_owned());
                        Ok::<_, Error>(())
                    })
                    .undo_internal()
                    .await?;
                ctx.no_return();
                Err::<(), _>(Error::fatal("no"))
            }
        };
        let test = setup
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let run = start(&test).await;
        failure(&run).await;
        assert_eq!(seen.take(), ["internal"]);
        let journal = test.journal(&run).await;
        journal.assert_contains("undo_completed ship:1");
        journal.assert_contains("undo_skipped ship:0");
    });
}

// B138
#[test]
fn a_cancelled_run_undoes_the_child_that_completed_and_cancels_the_one_that_did_not() {
    for_each_store(async |store: &TestStore| {
        let seen = Seen::new();
        let (own, setup) = (seen.clone(), with_child(store.engine(), &seen));
        let code = move |ctx: Ctx<AnyEvent>, (): ()| {
            let seen = own.clone();
            async move {
                shipped(&ctx, "lamp", &seen).await?;
                shipped(&ctx, "book", &seen).await
            }
        };
        let test = setup
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let run = start(&test).await;
        test.advance(secs(7)).await;
        run.cancel().await.unwrap();
        assert!(matches!(
            run.wait_json().await,
            Err(WaitError::Cancelled(_))
        ));
        test.advance(secs(1)).await;
        let mut seen = seen.take();
        seen.sort();
        assert_eq!(seen, ["peel off book", "undo lamp shipped"]);
    });
}

#[test]
fn a_child_that_completes_after_the_code_stopped_waiting_is_undone() {
    for_each_store(async |store: &TestStore| {
        let seen = Seen::new();
        let (own, setup) = (seen.clone(), with_child(store.engine(), &seen));
        let code = move |ctx: Ctx<AnyEvent>, (): ()| {
            let seen = own.clone();
            async move {
                let child = ctx.child_by_name("ship", json("lamp"));
                let child = child.on_parent_close(ParentClose::Abandon);
                let undoable = child.undo(move |_| async move {
                    seen.add("undone".to_owned());
                    Ok::<_, Error>(())
                });
                assert!(undoable.timeout(secs(1)).await?.is_none());
                ctx.sleep("on", minutes(1)).await?;
                Err::<(), _>(Error::fatal("no"))
            }
        };
        let mut test = setup
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        start(&test).await;
        test.advance(secs(30)).await;
        let run = restart(&mut test).await;
        assert_eq!(failure(&run).await.message, "no");
        assert_eq!(seen.take(), ["undone"]);
    });
}

// B134
#[test]
fn the_rollback_of_a_child_continues_in_the_next_process() {
    for_each_store(async |store: &TestStore| {
        let seen = Seen::new();
        let (own, setup) = (seen.clone(), with_child(store.engine(), &Seen::new()));
        let code = move |ctx: Ctx<AnyEvent>, (): ()| {
            let seen = own.clone();
            async move {
                for parcel in ["lamp", "book"] {
                    let seen = seen.clone();
                    ctx.child_by_name("ship", json(parcel))
                        .undo_with(move |undo| async move {
                            let output = undo.output.unwrap().decode::<String>()?;
                            seen.add(format!("{output} {}", undo.attempt));
                            if undo.attempt == 1 {
                                return Err(Error::new("later"));
                            }
                            Ok(())
                        })
                        .undo_retry(Retry::constant(3, hours(1)))
                        .await?;
                }
                Err::<(), _>(Error::fatal("no"))
            }
        };
        let mut test = setup
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let mut run = start(&test).await;
        for _ in 0..3 {
            test.advance(minutes(40)).await;
            run = restart(&mut test).await;
        }
        assert_eq!(failure(&run).await.message, "no");
        let expected = [
            "book shipped 1",
            "book shipped 2",
            "lamp shipped 1",
            "lamp shipped 2",
        ];
        assert_eq!(seen.take(), expected);
        assert_eq!(test.list().workflow("ship").await.unwrap().runs.len(), 2);
    });
}

#[test]
fn an_explicit_rollback_undoes_children_and_the_code_continues() {
    for_each_store(async |store: &TestStore| {
        let seen = Seen::new();
        let (own, setup) = (seen.clone(), with_child(store.engine(), &seen));
        let code = move |ctx: Ctx<AnyEvent>, (): ()| {
            let seen = own.clone();
            async move {
                shipped(&ctx, "lamp", &seen).await?;
                ctx.rollback().await?;
                ctx.sleep("on", minutes(1)).await?;
                shipped(&ctx, "book", &seen).await
            }
        };
        let mut test = setup
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        start(&test).await;
        test.advance(secs(30)).await;
        let run = restart(&mut test).await;
        assert_eq!(output::<String>(&run).await, "book shipped");
        assert_eq!(seen.take(), ["undo lamp shipped"]);
    });
}

#[test]
fn code_that_no_longer_undoes_a_child_parks_the_run_before_anything_is_undone() {
    for_each_store(async |store: &TestStore| {
        let seen = Seen::new();
        let setup = with_child(store.engine(), &seen);
        let code = |is_undone: bool, seen: &Seen<String>| {
            let seen = seen.clone();
            move |ctx: Ctx<AnyEvent>, (): ()| {
                let seen = seen.clone();
                async move {
                    if is_undone {
                        shipped(&ctx, "lamp", &seen).await?;
                    } else {
                        ctx.child_by_name("ship", json("lamp")).await?;
                    }
                    ctx.event::<Ping>().await?;
                    done(&ctx, "charge", &seen).await?;
                    Err::<(), _>(Error::fatal("no"))
                }
            }
        };
        let mut test = setup
            .workflows(Workflows::new().function("w", code(true, &seen)))
            .start()
            .await;
        let run = start(&test).await;
        test.advance(secs(10)).await;
        drop(run);
        test.redeploy(|setup| setup.workflows(Workflows::new().function("w", code(false, &seen))))
            .await;
        let run = test.run("r").await.unwrap();
        ping(&run, 1).await;
        test.reach(&run, RunStatus::Diverged).await;
        let why = run.why().await.unwrap().to_string();
        let expected = "the child is to be undone, and the code gives no undo for it";
        assert!(why.contains(expected), "{why}");
        assert!(seen.take().is_empty());
        drop(run);
        test.redeploy(|setup| setup.workflows(Workflows::new().function("w", code(true, &seen))))
            .await;
        let run = test.run("r").await.unwrap();
        assert_eq!(failure(&run).await.message, "no");
        assert_eq!(seen.take(), ["undo charge!", "undo lamp shipped"]);
    });
}

// B33
#[test]
fn a_detached_child_has_no_undo() {
    for_each_store(async |store: &TestStore| {
        let code = |ctx: Ctx<AnyEvent>, (): ()| async move {
            let child = ctx.child_by_name("ship", json("lamp"));
            child.undo(|_| async { Ok::<_, Error>(()) }).detach().await
        };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let failure = failure(&start(&test).await).await;
        assert!(failure.message.contains("detached"), "{failure:?}");
        assert_eq!(test.list().await.unwrap().runs.len(), 1);
    });
}

#[test]
fn the_undo_of_a_child_can_be_mocked() {
    for_each_store(async |store: &TestStore| {
        let seen = Seen::new();
        let (own, setup) = (seen.clone(), with_child(store.engine(), &seen));
        let code = move |ctx: Ctx<AnyEvent>, (): ()| {
            let seen = own.clone();
            async move {
                shipped(&ctx, "lamp", &seen).await?;
                Err::<(), _>(Error::fatal("no"))
            }
        };
        let setup = setup.mock_step("rollback:ship", Mock::returns(&()));
        let test = setup
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        failure(&start(&test).await).await;
        assert!(seen.take().is_empty());
        assert_eq!(test.calls("rollback:ship"), 1);
    });
}
