//! Explicit rollbacks, after which the code continues.

use std::ops::ControlFlow;

use everstep::operation::Undo;
use everstep::{
    AnyEvent, Ctx, Error, ErrorCode, Result, Retry, RunStatus, Workflows, millis, secs,
};

use crate::crash_points::{CrashPoints, Effects};
use crate::sagas::{done, takes};
use crate::sagas_crashes::{assert_effects, is_rolled_back, traced, undone};
use crate::support::{Ping, Seen, failure, for_each_store, ok, output, restart, start};

// B126
#[test]
fn a_rollback_undoes_completed_steps_and_the_code_continues() {
    for_each_store(async |store| {
        let seen = Seen::new();
        let undone = seen.clone();
        let code = move |ctx: Ctx<AnyEvent>, (): ()| {
            let seen = seen.clone();
            async move {
                ctx.rollback().await?;
                done(&ctx, "hotel", &seen).await?;
                done(&ctx, "flight", &seen).await?;
                ctx.rollback().await?;
                seen.add("again".to_owned());
                ctx.rollback().await?;
                done(&ctx, "train", &seen).await
            }
        };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let run = start(&test).await;
        assert_eq!(output::<String>(&run).await, "train!");
        assert_eq!(
            undone.take(),
            ["undo flight!", "undo hotel!", "again"],
            "what is undone is not undone again"
        );
        assert_eq!(test.journal(&run).await.count("undo_completed"), 2);
    });
}

// B131
#[test]
fn the_undos_of_an_explicit_rollback_receive_the_reason() {
    for_each_store(async |store| {
        let seen = Seen::new();
        let undone = seen.clone();
        let code = move |ctx: Ctx<AnyEvent>, (): ()| {
            let seen = seen.clone();
            async move {
                for because in [false, true] {
                    let undone = seen.clone();
                    ctx.step("book", || ok(1))
                        .undo_with(move |undo: Undo<u32>| async move {
                            undone.add(undo.failure.message);
                            Ok::<_, Error>(())
                        })
                        .await?;
                    if because {
                        ctx.rollback().because(&Error::new("sold out")).await?;
                    } else {
                        ctx.rollback().await?;
                    }
                }
                Ok(())
            }
        };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let () = output(&start(&test).await).await;
        assert_eq!(
            undone.take(),
            ["the workflow asked to roll back", "sold out"]
        );
    });
}

// B129
#[test]
fn a_rollback_stops_with_an_error_at_an_undo_that_fails() {
    for_each_store(async |store| {
        let seen = Seen::new();
        let undone = seen.clone();
        let code = move |ctx: Ctx<AnyEvent>, fails: bool| {
            let seen = seen.clone();
            async move {
                done(&ctx, "first", &seen).await?;
                ctx.step("second", || ok(2))
                    .undo(|_| async { Err::<(), _>(Error::fatal("no")) })
                    .await?;
                done(&ctx, "third", &seen).await?;
                let refused = ctx.rollback().await.unwrap_err();
                assert!(refused.is(ErrorCode::UndoFailed));
                done(&ctx, "fourth", &seen).await?;
                // The undo that failed is not tried again.
                let refused = ctx.rollback().await.unwrap_err();
                if fails { Err(refused) } else { Ok(1) }
            }
        };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        for (id, fails) in [("ends-well", false), ("fails", true)] {
            let run = test
                .start_by_name("w", crate::support::json(&fails))
                .id(id)
                .await
                .unwrap();
            let ended = run.wait_json().await;
            assert_eq!(undone.take(), ["undo third!", "undo fourth!"]);
            let journal = test.journal(&run).await;
            assert_eq!(journal.count("undo_failed"), 1);
            let status = run.status().await.unwrap();
            if fails {
                assert_eq!(status, RunStatus::RollbackFailed, "{ended:?}");
            } else {
                assert_eq!(status, RunStatus::Completed, "{ended:?}");
            }
        }
    });
}

// B142
#[test]
fn a_rollback_after_the_point_of_no_return_runs_internal_undos_only() {
    for_each_store(async |store| {
        let seen = Seen::new();
        let undone = seen.clone();
        let code = move |ctx: Ctx<AnyEvent>, (): ()| {
            let seen = seen.clone();
            async move {
                done(&ctx, "charge", &seen).await?;
                let slot = seen.clone();
                ctx.step("slot", || ok(1))
                    .undo(move |_| async move {
                        slot.add("free the slot".to_owned());
                        Ok::<_, Error>(())
                    })
                    .undo_internal()
                    .await?;
                done(&ctx, "play", &seen).await?;
                ctx.no_return();
                ctx.rollback().await?;
                Ok(1)
            }
        };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let run = start(&test).await;
        assert_eq!(output::<u32>(&run).await, 1);
        assert_eq!(undone.take(), ["free the slot"]);
        assert_eq!(test.journal(&run).await.count("undo_skipped"), 2);
    });
}

// B126
#[test]
fn a_rollback_in_one_branch_leaves_steps_in_flight_in_another_alone() {
    for_each_store(async |store| {
        let seen = Seen::new();
        let undone = seen.clone();
        let code = move |ctx: Ctx<AnyEvent>, fails: bool| {
            let seen = seen.clone();
            async move {
                let rolls_back = async {
                    takes(&ctx, "early", 10, &seen).await?;
                    ctx.rollback().await?;
                    seen.add("rolled back".to_owned());
                    Ok::<_, Error>(())
                };
                let other = async {
                    takes(&ctx, "slow", 30, &seen).await?;
                    seen.add("slow is done".to_owned());
                    Ok::<_, Error>(())
                };
                tokio::try_join!(rolls_back, other)?;
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
            .start()
            .await;
        for (id, fails) in [("ends-well", false), ("fails", true)] {
            let run = test
                .start_by_name("w", crate::support::json(&fails))
                .id(id)
                .await
                .unwrap();
            let _ = run.wait_json().await;
            let mut expected = vec!["early", "rolled back", "slow is done"];
            if fails {
                expected.push("slow");
            }
            assert_eq!(undone.take(), expected);
        }
    });
}

// B134
#[test]
fn two_branches_may_roll_back_concurrently_and_a_dropped_rollback_continues() {
    CrashPoints::of(|ctx: Ctx<AnyEvent>, effects: Effects| async move {
        traced(&ctx, &effects, "a", 1).await?;
        let first = async { ctx.rollback().await };
        let second = async {
            traced(&ctx, &effects, "b", 1).await?;
            ctx.rollback().await
        };
        let gives_up = async { ctx.sleep("a moment", millis(30)).await };
        tokio::select! {
            biased;
            both = async { tokio::try_join!(first, second) } => { both?; }
            slept = gives_up => slept?,
        }
        Ok(7)
    })
    .check(|ended| {
        let mut undone = undone(ended);
        undone.sort();
        assert_eq!(undone, ["a:0", "b:0"], "{:?}", ended.plan);
        assert_eq!(ended.status, RunStatus::Completed);
    });
}

// B134
#[test]
fn code_that_drops_a_rollback_and_fails_undoes_the_rest_at_any_crash_point() {
    CrashPoints::of(|ctx: Ctx<AnyEvent>, effects: Effects| async move {
        traced(&ctx, &effects, "a", 0).await?;
        traced(&ctx, &effects, "b", 1).await?;
        let fails = async {
            ctx.sleep("a moment", millis(10)).await?;
            Err::<(), _>(Error::new("stop"))
        };
        tokio::try_join!(async { ctx.rollback().await }, fails)?;
        Ok(7)
    })
    // A further pass would rely on results that are undone.
    .options(everstep::Options::new().execution_retries(2))
    .check(|ended| {
        assert_effects(ended, &["do a", "do b", "undo b", "undo a"]);
        assert_eq!(ended.status, RunStatus::Failed);
        assert_eq!(ended.journal.count("execution_retried"), 0);
        assert!(is_rolled_back(ended));
    });
}

// B138
#[test]
fn an_explicit_rollback_ends_before_a_cancelled_run() {
    let cancel = everstep::journal::record::CancelRequested {
        by: None,
        reason: None,
        rollback: false,
    };
    CrashPoints::of(|ctx: Ctx<AnyEvent>, effects: Effects| async move {
        traced(&ctx, &effects, "a", 0).await?;
        traced(&ctx, &effects, "b", 1).await?;
        ctx.rollback().await?;
        ctx.step("later", || ok(1)).retry(Retry::none()).await?;
        effects.add("went on".to_owned());
        Ok(7)
    })
    .when("undo_failed b:0", cancel)
    .check(|ended| {
        assert_effects(ended, &["do a", "do b", "undo b", "undo a"]);
        assert_eq!(ended.status, RunStatus::Cancelled);
        assert!(is_rolled_back(ended));
    });
}

// B142
#[test]
fn a_point_of_no_return_survives_the_iteration_that_set_it() {
    for_each_store(async |store| {
        let seen = Seen::new();
        let own = seen.clone();
        let code = move |ctx: Ctx<AnyEvent>, (): ()| {
            let seen = own.clone();
            async move {
                done(&ctx, "charge", &seen).await?;
                let body = |ctx: Ctx<AnyEvent>, n: u32| async move {
                    ctx.step("count", || ok(n)).await?;
                    if n == 1 {
                        ctx.no_return();
                    }
                    Ok(match n {
                        9 => ControlFlow::Break(()),
                        n => ControlFlow::Continue(n + 1),
                    })
                };
                ctx.repeat("loop", 0, body).keep(0).await?;
                ctx.sleep("nap", secs(10)).await?;
                Err::<(), _>(Error::fatal("too late"))
            }
        };
        let mut test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let run = start(&test).await;
        test.reach(&run, RunStatus::Sleeping).await;
        drop(run);
        let run = restart(&mut test).await;
        assert_eq!(failure(&run).await.message, "too late");
        assert!(seen.take().is_empty());
        test.journal(&run)
            .await
            .assert_contains("undo_skipped charge:0");
    });
}

/// Waits for an operation that it called before the rollback, so that no record shows that it
/// continues after it.
async fn waits_beside_its_rollback(ctx: Ctx<AnyEvent>, (): ()) -> Result<()> {
    let waits = ctx.event::<Ping>();
    let rolls_back = async {
        done(&ctx, "hotel", &Seen::new()).await?;
        ctx.rollback().await
    };
    futures_util::future::try_join(waits, rolls_back).await?;
    Ok(())
}

// B138, B144
#[test]
fn a_run_that_is_paused_after_its_rollback_ends_when_it_is_cancelled() {
    for is_cold in [false, true] {
        for_each_store(async |store| {
            let builder = store
                .engine()
                .workflows(Workflows::new().function("w", waits_beside_its_rollback));
            let mut test = builder.start().await;
            let mut run = start(&test).await;
            test.advance(secs(1)).await;
            assert_eq!(test.journal(&run).await.count("undo_completed"), 1);
            run.pause().await.unwrap();
            test.reach(&run, RunStatus::Paused).await;
            if is_cold {
                run = restart(&mut test).await;
            }
            run.cancel().keep().await.unwrap();
            test.reach(&run, RunStatus::Cancelled).await;
        });
    }
}
