//! Sagas: steps with undos, and runs that undo them when they fail.

mod undos;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use everstep::inspect::StepStatus;
use everstep::operation::Undo;
use everstep::testing::Mock;
use everstep::{
    AnyEvent, Ctx, Error, ErrorCode, Failure, Retry, RunStatus, WaitError, Workflows, millis, secs,
};
use serde::{Deserialize, Serialize};

use crate::support::{Seen, fail, failure, for_each_store, ok, output, start};

/// A step that completes at once and records its undo.
pub(crate) async fn done(
    ctx: &Ctx<AnyEvent>,
    name: &'static str,
    seen: &Seen<String>,
) -> everstep::Result<String> {
    let undone = seen.clone();
    ctx.step(name, || ok(format!("{name}!")))
        .undo(move |output: String| async move {
            undone.add(format!("undo {output}"));
            Ok::<_, Error>(())
        })
        .await
}

/// Like [`done`], but takes a number of milliseconds.
pub(crate) async fn takes(
    ctx: &Ctx<AnyEvent>,
    name: &'static str,
    millis_long: u64,
    seen: &Seen<String>,
) -> everstep::Result<String> {
    let undone = seen.clone();
    let work = || async {
        tokio::time::sleep(millis(millis_long)).await;
        ok(name.to_owned()).await
    };
    ctx.step(name, work)
        .undo(move |output: String| async move {
            undone.add(output);
            Ok::<_, Error>(())
        })
        .await
}

// B126, B132
#[test]
fn a_run_that_fails_undoes_its_steps_the_latest_first_each_with_its_output() {
    for_each_store(async |store| {
        let seen = Seen::new();
        let undone = seen.clone();
        let code = move |ctx: Ctx<AnyEvent>, (): ()| {
            let seen = seen.clone();
            async move {
                done(&ctx, "reserve", &seen).await?;
                ctx.step("log", || ok(1)).await?;
                done(&ctx, "charge", &seen).await?;
                ctx.step("ship", || fail("no lorry"))
                    .retry(Retry::none())
                    .await
            }
        };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let run = start(&test).await;
        assert_eq!(failure(&run).await.message, "no lorry");
        assert_eq!(undone.take(), ["undo charge!", "undo reserve!"]);
        let journal = test.journal(&run).await;
        journal.assert_lines(&[
            "created",
            "step_started reserve:0",
            "step_completed reserve:0",
            "step_started log:0",
            "step_completed log:0",
            "step_started charge:0",
            "step_completed charge:0",
            "step_started ship:0",
            "step_failed ship:0",
            "undo_started charge:0",
            "undo_completed charge:0",
            "undo_started reserve:0",
            "undo_completed reserve:0",
            "failed",
        ]);
        journal.assert_steps(&[
            ("reserve:0", StepStatus::Undone, 1),
            ("log:0", StepStatus::Completed, 1),
            ("charge:0", StepStatus::Undone, 1),
            ("ship:0", StepStatus::Exhausted, 1),
        ]);
        let info = run.inspect().await.unwrap();
        assert!(info.overview.rolled_back);
        drop(run);
        assert!(store.timers_left(test).await.is_empty());
    });
}

// B132
#[test]
fn a_run_that_succeeds_undoes_nothing() {
    for_each_store(async |store| {
        let seen = Seen::new();
        let undone = seen.clone();
        let code = move |ctx: Ctx<AnyEvent>, (): ()| {
            let seen = seen.clone();
            async move { done(&ctx, "reserve", &seen).await }
        };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let run = start(&test).await;
        assert_eq!(output::<String>(&run).await, "reserve!");
        assert!(undone.take().is_empty());
        let info = run.inspect().await.unwrap();
        assert!(!info.overview.rolled_back);
    });
}

// B126
#[test]
fn concurrent_steps_are_undone_in_reverse_order_of_completion() {
    for_each_store(async |store| {
        let seen = Seen::new();
        let undone = seen.clone();
        let code = move |ctx: Ctx<AnyEvent>, (): ()| {
            let seen = seen.clone();
            async move {
                tokio::try_join!(
                    takes(&ctx, "slow", 30, &seen),
                    takes(&ctx, "quick", 10, &seen),
                    takes(&ctx, "middle", 20, &seen),
                )?;
                Err::<(), _>(Error::fatal("enough"))
            }
        };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let run = start(&test).await;
        assert_eq!(failure(&run).await.message, "enough");
        assert_eq!(undone.take(), ["slow", "middle", "quick"]);
    });
}

// B129, B130, B137
#[test]
fn an_undo_that_fails_for_good_stops_the_chain_and_both_errors_are_kept() {
    for_each_store(async |store| {
        let seen = Seen::new();
        let undone = seen.clone();
        let code = move |ctx: Ctx<AnyEvent>, (): ()| {
            let seen = seen.clone();
            async move {
                done(&ctx, "first", &seen).await?;
                ctx.step("second", || ok(2))
                    .undo(|_| fail("the bank is closed"))
                    .undo_retry(Retry::none())
                    .await?;
                done(&ctx, "third", &seen).await?;
                Err::<(), _>(Error::fatal("out of stock"))
            }
        };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let run = start(&test).await;
        let Err(WaitError::RollbackFailed {
            error,
            rollback_error,
        }) = run.wait_json().await
        else {
            panic!("its rollback did not fail");
        };
        assert_eq!(error.message, "out of stock");
        assert!(rollback_error.is(ErrorCode::UndoFailed));
        assert_eq!(
            rollback_error.message,
            "step `second:0` could not be undone: the bank is closed"
        );
        assert_eq!(rollback_error.cause.unwrap().message, "the bank is closed");
        assert_eq!(
            undone.take(),
            ["undo third!"],
            "nothing before it is undone"
        );
        assert_eq!(run.status().await.unwrap(), RunStatus::RollbackFailed);
        test.journal(&run)
            .await
            .assert_contains("undo_failed second:0");
    });
}

// B133
#[test]
fn a_failed_step_is_undone_only_if_it_registered_a_payload_first() {
    for_each_store(async |store| {
        let seen = Seen::new();
        let undone = seen.clone();
        let code = move |ctx: Ctx<AnyEvent>, (): ()| {
            let seen = seen.clone();
            async move {
                let failing = |name: &'static str, registers: bool| {
                    let undone = seen.clone();
                    ctx.step_with(name, move |step| async move {
                        if registers {
                            step.undo_with(&name)?;
                        }
                        Err::<u32, _>(Error::fatal("half done"))
                    })
                    .undo_with(move |undo: Undo<u32>| async move {
                        let payload: Option<String> = undo.payload_as()?;
                        undone.add(format!("{:?} {payload:?}", undo.output));
                        Ok::<_, Error>(())
                    })
                };
                let _ = failing("registers", true).await;
                let _ = failing("does not", false).await;
                let plain = seen.clone();
                let _ = ctx
                    .step_with("plain", |step| async move {
                        step.undo_with(&1)?;
                        Err::<u32, _>(Error::fatal("half done"))
                    })
                    .undo(move |_| async move {
                        plain.add("plain".to_owned());
                        Ok::<_, Error>(())
                    })
                    .await;
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
        assert_eq!(undone.take(), ["None Some(\"registers\")"]);
        let journal = test.journal(&run).await;
        journal.assert_contains("undo_completed registers:0");
        assert_eq!(journal.count("undo_started"), 1);
    });
}

// B52, B206
#[test]
fn an_error_that_asks_to_roll_back_stops_at_once_and_undoes() {
    for_each_store(async |store| {
        let seen = Seen::new();
        let undone = seen.clone();
        let code = move |ctx: Ctx<AnyEvent>, (): ()| {
            let seen = seen.clone();
            async move {
                done(&ctx, "reserve", &seen).await?;
                let tried = ctx
                    .try_step("check", || async {
                        Err::<u32, _>(Error::new("invalid order").rollback())
                    })
                    .await?;
                panic!("the failure was swallowed: {tried:?}");
                #[allow(unreachable_code)]
                Ok(())
            }
        };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let run = start(&test).await;
        assert_eq!(failure(&run).await.message, "invalid order");
        assert_eq!(test.calls("check"), 1);
        assert_eq!(undone.take(), ["undo reserve!"]);
        test.journal(&run).await.assert_steps(&[
            ("reserve:0", StepStatus::Undone, 1),
            ("check:0", StepStatus::Failed, 1),
        ]);
    });
}

// B142
#[test]
fn after_the_point_of_no_return_only_internal_undos_run_and_the_rest_is_recorded_as_skipped() {
    for_each_store(async |store| {
        let seen = Seen::new();
        let undone = seen.clone();
        let code = move |ctx: Ctx<AnyEvent>, (): ()| {
            let seen = seen.clone();
            async move {
                let internal = seen.clone();
                ctx.step("slot", || ok(1))
                    .undo(move |_| async move {
                        internal.add("free the slot".to_owned());
                        Ok::<_, Error>(())
                    })
                    .undo_internal()
                    .await?;
                done(&ctx, "charge", &seen).await?;
                ctx.no_return();
                done(&ctx, "play", &seen).await?;
                Err::<(), _>(Error::fatal("the band left"))
            }
        };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let run = start(&test).await;
        assert_eq!(failure(&run).await.message, "the band left");
        assert_eq!(undone.take(), ["free the slot"]);
        let journal = test.journal(&run).await;
        let tail: Vec<_> = journal.lines().split_off(8);
        assert_eq!(
            tail,
            [
                "undo_skipped play:0",
                "undo_skipped charge:0",
                "undo_started slot:0",
                "undo_completed slot:0",
                "failed",
            ]
        );
    });
}

// B143
#[test]
fn a_best_effort_step_neither_fails_the_saga_nor_is_undone_after_failing() {
    for_each_store(async |store| {
        let seen = Seen::new();
        let undone = seen.clone();
        let code = move |ctx: Ctx<AnyEvent>, (): ()| {
            let seen = seen.clone();
            async move {
                done(&ctx, "charge", &seen).await?;
                let confirmed = ctx
                    .step("confirm", || fail("no mail server"))
                    .retry(Retry::none())
                    .undo(|_| fail("there is nothing to undo"))
                    .best_effort()
                    .await?;
                assert_eq!(confirmed, None);
                done(&ctx, "ship", &seen).await
            }
        };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        assert_eq!(output::<String>(&start(&test).await).await, "ship!");
        assert!(undone.take().is_empty());
    });
}
