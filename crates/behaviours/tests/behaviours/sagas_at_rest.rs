//! Rollbacks that wait, are evicted, shut down and replayed; and undos that the code does not
//! supply or cannot decode.

use everstep::operation::Undo;
use everstep::testing::{Mock, ReplayEnd, ReplayError, replay_check_function};
use everstep::{
    AnyEvent, Ctx, Error, ErrorCode, Result, Retry, RunStatus, WaitError, Workflows, hours,
    minutes, secs,
};

use crate::sagas::{done, takes};
use crate::support::{Seen, failure, for_each_store, ok, output, restart, start};

async fn waits_for_its_undo(ctx: Ctx<AnyEvent>, seen: Seen<String>) -> Result<()> {
    done(&ctx, "first", &seen).await?;
    ctx.step("second", || ok(2))
        .undo(|_| async { Err::<(), _>(Error::new("the bank sleeps")) })
        .undo_retry(Retry::constant(2, hours(1)).max_delay(hours(1)))
        .await?;
    Err(Error::fatal("stop"))
}

// B134
#[test]
fn a_rollback_that_waits_for_a_retry_is_rolling_back_and_costs_no_memory() {
    for_each_store(async |store| {
        let seen = Seen::new();
        let undone = seen.clone();
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", move |ctx, (): ()| {
                waits_for_its_undo(ctx, seen.clone())
            }))
            .mock_step(
                "rollback:second",
                Mock::fails(Error::new("it sleeps")).times(2),
            )
            .mock_step("rollback:second", Mock::returns(&()))
            .evict_all()
            .development()
            .start()
            .await;
        let run = start(&test).await;
        test.reach(&run, RunStatus::RollingBack).await;
        test.advance(minutes(90)).await;
        assert_eq!(test.hot_runs(), 0);
        assert_eq!(run.status().await.unwrap(), RunStatus::RollingBack);
        let why = run.why().await.unwrap().to_string();
        assert!(why.contains("retries undoing step `second:0`"), "{why}");
        assert_eq!(failure(&run).await.message, "stop");
        assert_eq!(undone.take(), ["undo first!"]);
        assert_eq!(test.calls("rollback:second"), 3);
    });
}

// B159
#[test]
fn an_undo_in_flight_at_shutdown_ends_and_the_next_process_continues() {
    for_each_store(async |store| {
        let seen = Seen::new();
        let undone = seen.clone();
        let code = move |ctx: Ctx<AnyEvent>, (): ()| {
            let seen = seen.clone();
            async move {
                done(&ctx, "first", &seen).await?;
                ctx.step("second", || ok(2))
                    .undo(move |_| async move {
                        tokio::time::sleep(secs(2)).await;
                        seen.add("second".to_owned());
                        Ok::<_, Error>(())
                    })
                    .await?;
                Err::<(), _>(Error::fatal("stop"))
            }
        };
        let mut test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let run = start(&test).await;
        test.reach(&run, RunStatus::RollingBack).await;
        let began = test.now();
        test.shutdown().await;
        assert!(
            began.until(test.now()) < secs(3),
            "it waits for nothing else"
        );
        assert_eq!(undone.take(), ["second"], "it ends, and no other begins");
        drop(run);
        let run = restart(&mut test).await;
        assert_eq!(failure(&run).await.message, "stop");
        assert_eq!(undone.take(), ["undo first!"]);
    });
}

// B18, B134
#[test]
fn development_mode_and_replay_accept_what_rollbacks_leave_in_a_journal() {
    for_each_store(async |store| {
        let code = |ctx: Ctx<AnyEvent>, how: u32| async move {
            let seen = Seen::new();
            takes(&ctx, "first", 5, &seen).await?;
            if how == 1 {
                ctx.rollback().await?;
            }
            ctx.no_return();
            let last = ctx
                .step("last", || ok(2))
                .undo(move |_| async move {
                    match how {
                        2 => Err(Error::fatal("no")),
                        _ => Ok(()),
                    }
                })
                .undo_internal();
            last.await?;
            if how == 3 {
                return Ok(how);
            }
            Err::<u32, _>(Error::fatal(format!("stop {how}")))
        };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .development()
            .start()
            .await;
        for how in 0..4 {
            let run = test
                .start_by_name("w", crate::support::json(&how))
                .id(format!("r{how}"))
                .await
                .unwrap();
            let ended = run.wait_json().await;
            let journal = run.journal().await.unwrap();
            let replayed = replay_check_function("w", code, journal.clone()).unwrap();
            match (how, ended, replayed.end) {
                (0 | 1, Err(WaitError::Failed(live)), ReplayEnd::Failed(cold))
                | (
                    2,
                    Err(WaitError::RollbackFailed { error: live, .. }),
                    ReplayEnd::Failed(cold),
                ) => {
                    assert_eq!(live.message, cold.message);
                }
                (3, Ok(live), ReplayEnd::Completed(cold)) => assert_eq!(live, cold),
                other => panic!("{other:?}"),
            }
            // Code that fails with another error diverges.
            let other = move |ctx: Ctx<AnyEvent>, how: u32| async move {
                code(ctx, how).await.map_err(|_| Error::fatal("other"))
            };
            let replayed = replay_check_function("w", other, journal);
            assert_eq!(replayed.is_ok(), how == 3, "{replayed:?}");
        }
    });
}

#[test]
fn code_that_no_longer_supplies_an_undo_is_parked_before_anything_is_undone() {
    for_each_store(async |store| {
        let seen = Seen::new();
        let undone = seen.clone();
        let code = |with_undo: bool| {
            let seen = seen.clone();
            move |ctx: Ctx<AnyEvent>, (): ()| {
                let seen = seen.clone();
                async move {
                    if with_undo {
                        done(&ctx, "first", &seen).await?;
                    } else {
                        ctx.step("first", || ok("first!".to_owned())).await?;
                    }
                    done(&ctx, "second", &seen).await?;
                    ctx.sleep("nap", minutes(1)).await?;
                    Err::<(), _>(Error::fatal("stop"))
                }
            }
        };
        let mut test = store
            .engine()
            .workflows(Workflows::new().function("w", code(true)))
            .start()
            .await;
        let run = start(&test).await;
        test.reach(&run, RunStatus::Sleeping).await;
        drop(run);
        let without = code(false);
        test.redeploy(|engine| engine.workflows(Workflows::new().function("w", without)))
            .await;
        let run = test.run("r").await.unwrap();
        test.advance(minutes(2)).await;
        assert_eq!(run.status().await.unwrap(), RunStatus::Diverged);
        let why = run.why().await.unwrap().to_string();
        assert!(why.contains("the code gives no undo for it"), "{why}");
        assert!(why.contains("`first:0`"), "{why}");
        assert!(undone.take().is_empty());
        drop(run);
        let with = code(true);
        test.redeploy(|engine| engine.workflows(Workflows::new().function("w", with)))
            .await;
        let run = test.run("r").await.unwrap();
        assert_eq!(failure(&run).await.message, "stop");
        assert_eq!(undone.take(), ["undo second!", "undo first!"]);
    });
}

#[test]
fn code_that_no_longer_rolls_back_where_it_did_does_not_fit() {
    for_each_store(async |store| {
        let code = |rolls_back: bool| {
            move |ctx: Ctx<AnyEvent>, (): ()| async move {
                done(&ctx, "first", &Seen::new()).await?;
                if rolls_back {
                    ctx.rollback().await?;
                }
                ctx.step("last", || ok(1)).await
            }
        };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code(true)))
            .start()
            .await;
        let run = start(&test).await;
        assert_eq!(output::<u32>(&run).await, 1);
        let journal = run.journal().await.unwrap();
        assert!(replay_check_function("w", code(true), journal.clone()).is_ok());
        let error = replay_check_function("w", code(false), journal).unwrap_err();
        assert!(matches!(error, ReplayError::Diverged(_)));
        assert!(error.to_string().contains("did not roll back"), "{error}");
    });
}

// B131
#[test]
fn an_undo_that_takes_another_type_than_was_recorded_fails_with_a_clear_error() {
    for_each_store(async |store| {
        let old = |ctx: Ctx<AnyEvent>, (): ()| async move {
            ctx.step("charge", || ok("ch_1".to_owned()))
                .undo(|_| ok(()))
                .await?;
            ctx.sleep("nap", minutes(1)).await?;
            Err::<(), _>(Error::fatal("stop"))
        };
        let new = |ctx: Ctx<AnyEvent>, (): ()| async move {
            // The result is not looked at, so the code does not notice that its type has changed.
            let _: Result<u32> = ctx.step("charge", || ok(1)).undo(|_| ok(())).await;
            ctx.sleep("nap", minutes(1)).await?;
            Err::<(), _>(Error::fatal("stop"))
        };
        let mut test = store
            .engine()
            .workflows(Workflows::new().function("w", old))
            .start()
            .await;
        let run = start(&test).await;
        test.reach(&run, RunStatus::Sleeping).await;
        drop(run);
        test.redeploy(|engine| engine.workflows(Workflows::new().function("w", new)))
            .await;
        let run = test.run("r").await.unwrap();
        let Err(WaitError::RollbackFailed { rollback_error, .. }) = run.wait_json().await else {
            panic!("its rollback did not fail");
        };
        let cause = rollback_error.cause.unwrap();
        assert!(cause.is(ErrorCode::Undecodable));
        assert!(
            cause
                .message
                .contains("the recorded result of step `charge` does not fit"),
            "{cause}"
        );
        assert_eq!(test.journal(&run).await.count("undo_failed"), 1);
    });
}

// B131, B205
#[test]
fn a_payload_of_another_type_and_one_that_cannot_be_recorded_are_errors() {
    for_each_store(async |store| {
        let code = |ctx: Ctx<AnyEvent>, (): ()| async move {
            ctx.step_with("charge", |step| async move {
                let unreadable = std::collections::HashMap::from([((1, 2), 3)]);
                let error = step.undo_with(&unreadable).unwrap_err();
                assert!(error.is(ErrorCode::Unserializable), "{error}");
                step.undo_with("account 7")
            })
            .undo_with(|undo: Undo<()>| async move {
                let payload: Option<u32> = undo.payload_as()?;
                panic!("it was read as {payload:?}");
                #[allow(unreachable_code)]
                Ok::<_, Error>(())
            })
            .await?;
            Err::<(), _>(Error::fatal("stop"))
        };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let run = start(&test).await;
        let Err(WaitError::RollbackFailed { rollback_error, .. }) = run.wait_json().await else {
            panic!("its rollback did not fail");
        };
        assert!(rollback_error.cause.unwrap().is(ErrorCode::Undecodable));
    });
}

#[test]
fn only_the_undo_of_a_sensitive_step_receives_the_true_value() {
    for_each_store(async |store| {
        let seen = Seen::new();
        let undone = seen.clone();
        let code = move |ctx: Ctx<AnyEvent>, (): ()| {
            let seen = seen.clone();
            async move {
                ctx.step("secret", || ok("pin 1234".to_owned()))
                    .sensitive()
                    .undo(move |pin| async move {
                        seen.add(pin);
                        Ok::<_, Error>(())
                    })
                    .await?;
                Err::<(), _>(Error::fatal("stop"))
            }
        };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let run = start(&test).await;
        failure(&run).await;
        assert_eq!(undone.take(), ["pin 1234"]);
        let info = run.inspect().await.unwrap();
        assert_eq!(info.overview.steps[0].result, None);
    });
}

#[test]
fn options_of_an_undo_that_contradict_each_other_are_refused() {
    for_each_store(async |store| {
        let code = |ctx: Ctx<AnyEvent>, how: u32| async move {
            let step = ctx.step("charge", || ok(1));
            match how {
                0 => step.undo_internal().await,
                1 => step.undo_retry(Retry::none()).await,
                2 => step.undo_timeout(secs(1)).await,
                _ => step.undo(|_| ok(())).undo_timeout(secs(0)).await,
            }
        };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        for how in 0..4 {
            let run = test
                .start_by_name("w", crate::support::json(&how))
                .await
                .unwrap();
            assert!(failure(&run).await.is(ErrorCode::InvalidOptions), "{how}");
        }
    });
}

#[test]
fn a_workflow_that_panics_is_rolled_back() {
    for_each_store(async |store| {
        let seen = Seen::new();
        let undone = seen.clone();
        let code = move |ctx: Ctx<AnyEvent>, panics: bool| {
            let seen = seen.clone();
            async move {
                done(&ctx, "first", &seen).await?;
                assert!(!panics, "a bug");
                Ok(())
            }
        };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let run = crate::support::start_with(&test, &true).await;
        assert!(failure(&run).await.is(ErrorCode::WorkflowPanicked));
        assert_eq!(undone.take(), ["undo first!"]);
    });
}

#[test]
fn an_undo_that_holds_the_run_itself_does_not_keep_it_in_memory() {
    for_each_store(async |store| {
        let held = std::sync::Arc::new(());
        let kept = held.clone();
        let code = move |ctx: Ctx<AnyEvent>, fails: bool| {
            let held = held.clone();
            async move {
                let (own, captured) = (ctx.clone(), held.clone());
                ctx.step("first", || ok(1))
                    .undo(move |_| async move {
                        drop((own, captured));
                        Ok::<_, Error>(())
                    })
                    .await?;
                ctx.sleep("nap", minutes(1)).await?;
                if fails {
                    Err(Error::fatal("stop"))
                } else {
                    Ok(())
                }
            }
        };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .evict_all()
            .start()
            .await;
        let before = std::sync::Arc::strong_count(&kept);
        for fails in [false, true] {
            let input = crate::support::json(&fails);
            let run = test.start_by_name("w", input).await.unwrap();
            let _ = run.wait_json().await;
            test.advance(secs(1)).await;
            assert_eq!(std::sync::Arc::strong_count(&kept), before);
        }
    });
}
