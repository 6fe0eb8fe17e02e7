//! Steps that are the point of no return: nothing comes between their completion and the mark.

use std::ops::ControlFlow;

use everstep::inspect::Outcome;
use everstep::journal::record::{CancelRequested, DeadlinePassed, ForcedFailure};
use everstep::journal::{Body, Timestamp};
use everstep::{
    AnyEvent, Ctx, Error, ErrorCode, Failure, Result, Retry, RunStatus, Workflows, millis, secs,
};

use crate::crash_points::{CrashPoints, Effects};
use crate::sagas::done;
use crate::sagas_crashes::{assert_effects, traced};
use crate::support::{Seen, fail, failure, for_each_store, ok, restart, start};

/// The point of no return. It takes a number of milliseconds.
async fn fulfill(ctx: &Ctx<AnyEvent>, seen: &Seen<String>, millis_long: u64) -> Result<u32> {
    ctx.step("fulfill", || async {
        tokio::time::sleep(millis(millis_long)).await;
        seen.add("fulfill".to_owned());
        Ok::<_, Error>(1)
    })
    .no_return()
    .await
}

/// Steps with an undo and with an internal one, and then the point of no return, which takes a
/// minute.
async fn redeems(ctx: Ctx<AnyEvent>, seen: Seen<String>) -> Result<u32> {
    done(&ctx, "hold", &seen).await?;
    let slot = seen.clone();
    ctx.step("slot", || ok(1))
        .undo(move |_| async move {
            slot.add("free the slot".to_owned());
            Ok::<_, Error>(())
        })
        .undo_internal()
        .await?;
    fulfill(&ctx, &seen, 60_000).await?;
    ctx.sleep("later", secs(600)).await?;
    Ok(1)
}

#[derive(Clone, Copy, Debug)]
enum EndedBy {
    Cancellation,
    Deadline,
    ForcedFailure,
}

const ALL_ENDS: [EndedBy; 3] = [
    EndedBy::Cancellation,
    EndedBy::Deadline,
    EndedBy::ForcedFailure,
];

// B720, B721
#[test]
fn a_step_that_is_the_point_of_no_return_completes_before_the_run_ends_and_forbids_undos() {
    for ended_by in ALL_ENDS {
        for_each_store(async |store| {
            let seen = Seen::new();
            let own = seen.clone();
            let code = move |ctx: Ctx<AnyEvent>, (): ()| redeems(ctx, own.clone());
            let test = store
                .engine()
                .workflows(Workflows::new().function("w", code))
                .start()
                .await;
            let run = test.start_by_name("w", crate::support::json(&())).id("r");
            let run = match ended_by {
                EndedBy::Deadline => run.deadline(secs(30)),
                EndedBy::Cancellation | EndedBy::ForcedFailure => run,
            };
            let run = run.await.unwrap();
            test.advance(secs(31)).await;
            match ended_by {
                EndedBy::Cancellation => drop(run.cancel().await.unwrap()),
                EndedBy::ForcedFailure => drop(run.force_fail("stop").await.unwrap()),
                EndedBy::Deadline => {}
            }
            run.wait_json().await.unwrap_err();
            assert_eq!(seen.take(), ["fulfill", "free the slot"], "{ended_by:?}");
            let journal = test.journal(&run).await;
            journal.assert_contains("undo_skipped hold:0");
            assert_eq!(journal.count("no_return"), 0);
            let overview = run.inspect().await.unwrap().overview;
            let passed_at = overview.step(&"fulfill:0".parse().unwrap()).unwrap();
            assert_eq!(overview.no_return_at, passed_at.completed_at);
        });
    }
}

// B721
#[test]
fn an_interrupted_point_of_no_return_is_repeated_before_the_run_ends() {
    let requests: [Body; 3] = [
        CancelRequested {
            by: None,
            reason: None,
            rollback: true,
        }
        .into(),
        DeadlinePassed {
            deadline: Timestamp::from_millis(1),
        }
        .into(),
        ForcedFailure {
            location: None,
            error: Failure::new(ErrorCode::ForcedFailure, "stop"),
            by: None,
            so_far: None,
        }
        .into(),
    ];
    for request in requests {
        CrashPoints::of(|ctx: Ctx<AnyEvent>, effects: Effects| async move {
            traced(&ctx, &effects, "hold", 0).await?;
            fulfill(&ctx, &effects, 40).await?;
            ctx.sleep("later", secs(600)).await?;
            Ok(1)
        })
        .when("step_started fulfill:0", request)
        .check(|ended| {
            assert_effects(ended, &["do hold", "fulfill"]);
            ended.journal.assert_contains("undo_skipped hold:0");
        });
    }
}

// B721
#[test]
fn a_point_of_no_return_that_fails_after_a_cancellation_is_not_retried_and_not_passed() {
    for_each_store(async |store| {
        let seen = Seen::new();
        let own = seen.clone();
        let code = move |ctx: Ctx<AnyEvent>, (): ()| {
            let seen = own.clone();
            async move {
                done(&ctx, "hold", &seen).await?;
                ctx.step("fulfill", || async {
                    tokio::time::sleep(secs(60)).await;
                    fail("busy").await
                })
                .retry(Retry::constant(9, secs(600)))
                .no_return()
                .await
            }
        };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let run = start(&test).await;
        test.advance(secs(30)).await;
        run.cancel().await.unwrap();
        test.advance(secs(31)).await;
        test.reach(&run, RunStatus::Cancelled).await;
        assert_eq!(seen.take(), ["undo hold!"]);
        assert_eq!(test.calls("fulfill"), 1);
    });
}

// B721
#[test]
fn a_cancellation_leaves_the_branch_of_a_point_of_no_return_alone_until_it_is_passed() {
    for_each_store(async |store| {
        let seen = Seen::new();
        let own = seen.clone();
        let code = move |ctx: Ctx<AnyEvent>, (): ()| {
            let seen = own.clone();
            async move {
                done(&ctx, "hold", &seen).await?;
                // The end of one branch drops the other.
                let waits = ctx.sleep("reminder", secs(600));
                tokio::try_join!(fulfill(&ctx, &seen, 60_000), waits)?;
                Ok(1)
            }
        };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let run = start(&test).await;
        test.advance(secs(30)).await;
        run.cancel().await.unwrap();
        test.advance(secs(31)).await;
        test.reach(&run, RunStatus::Cancelled).await;
        assert_eq!(seen.take(), ["fulfill"]);
        test.journal(&run)
            .await
            .assert_contains("undo_skipped hold:0");
    });
}

// B873
#[test]
fn a_point_of_no_return_is_not_repeated_when_another_branch_is_not_durable() {
    for_each_store(async |store| {
        let seen = Seen::new();
        let own = seen.clone();
        let code = move |ctx: Ctx<AnyEvent>, (): ()| {
            let seen = own.clone();
            async move {
                done(&ctx, "hold", &seen).await?;
                let not_durable = async {
                    tokio::time::sleep(secs(1)).await;
                    ctx.step("x", || ok(1)).await
                };
                tokio::try_join!(fulfill(&ctx, &seen, 30_000), not_durable)?;
                Ok(1)
            }
        };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let run = start(&test).await;
        test.advance(secs(31)).await;
        assert!(failure(&run).await.is(ErrorCode::NotDurable));
        assert_eq!(seen.take(), ["fulfill"]);
        let journal = test.journal(&run).await;
        assert_eq!(journal.count("forced_failure"), 1);
        journal.assert_contains("undo_skipped hold:0");
    });
}

// B720
#[test]
fn a_point_of_no_return_survives_the_iteration_of_its_step() {
    for_each_store(async |store| {
        let seen = Seen::new();
        let own = seen.clone();
        let code = move |ctx: Ctx<AnyEvent>, (): ()| {
            let seen = own.clone();
            async move {
                done(&ctx, "charge", &seen).await?;
                let body = |ctx: Ctx<AnyEvent>, n: u32| async move {
                    let step = ctx.step("count", || ok(n));
                    match n {
                        1 => step.no_return().await?,
                        _ => step.await?,
                    };
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
        let journal = test.journal(&run).await;
        journal.assert_contains("undo_skipped charge:0");
    });
}

// B720
#[test]
fn an_edited_point_of_no_return_is_passed_and_a_skipped_or_failed_one_is_not() {
    for (settled, undone) in [
        ("edited", &[][..]),
        ("skipped", &["undo hold!"]),
        ("failed", &["undo hold!"]),
    ] {
        for_each_store(async |store| {
            let seen = Seen::new();
            let own = seen.clone();
            let code = move |ctx: Ctx<AnyEvent>, (): ()| {
                let seen = own.clone();
                async move {
                    done(&ctx, "hold", &seen).await?;
                    ctx.step("fulfill", || fail("busy"))
                        .retry(Retry::constant(9, secs(600)))
                        .no_return()
                        .await?;
                    Err::<u32, _>(Error::fatal("stop"))
                }
            };
            let test = store
                .engine()
                .workflows(Workflows::new().function("w", code))
                .start()
                .await;
            let run = start(&test).await;
            test.reach(&run, RunStatus::Retrying).await;
            match settled {
                "edited" => drop(run.edit_step("fulfill:0", &7).await.unwrap()),
                "skipped" => drop(run.skip_step("fulfill:0").result(&7).await.unwrap()),
                _ => drop(run.fail_operation("fulfill:0", "no").await.unwrap()),
            }
            failure(&run).await;
            assert_eq!(seen.take(), undone, "{settled}");
        });
    }
}

// B720
#[test]
fn the_timeline_says_which_step_passed_the_point_of_no_return() {
    for_each_store(async |store| {
        let code = |ctx: Ctx<AnyEvent>, (): ()| async move { fulfill(&ctx, &Seen::new(), 0).await };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let run = start(&test).await;
        run.wait_json().await.unwrap();
        let timeline = run.timeline().await.unwrap();
        let is_end = |line: &&everstep::inspect::Line| line.outcome == Some(Outcome::Ok);
        let passed = timeline.iter().find(is_end).unwrap();
        assert!(
            passed.sentence.ends_with("passed the point of no return"),
            "{}",
            passed.sentence
        );
    });
}

// B720
#[test]
fn an_ephemeral_step_is_no_point_of_no_return() {
    for_each_store(async |store| {
        let code = |ctx: Ctx<AnyEvent>, (): ()| async move {
            ctx.step("s", || ok(1)).ephemeral().no_return().await
        };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let run = start(&test).await;
        let message = failure(&run).await.message;
        assert!(message.contains("ephemeral"), "{message}");
    });
}
