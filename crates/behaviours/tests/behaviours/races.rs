//! Races: the first success wins. It is durable before the other branches are dropped, and does not
//! wait for them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use everstep::inspect::StepStatus;
use everstep::journal::Body;
use everstep::journal::record::BranchesKind;
use everstep::{
    AnyEvent, Ctx, Error, ErrorCode, Options, Retry, RunStatus, Workflows, hours, minutes, secs,
};

use crate::support::{Ping, Seen, fail, failure, for_each_store, ok, output, ping, restart, start};

/// Counts how often it is dropped.
struct Dropped(Arc<AtomicU32>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

// B117, B119, B120
#[test]
fn the_first_success_wins_and_the_losers_are_dropped_and_marked_abandoned() {
    for_each_store(async |store| {
        let dropped = Arc::new(AtomicU32::new(0));
        let counter = dropped.clone();
        let mut test = store
            .engine()
            .workflows(
                Workflows::new().function("w", move |ctx: Ctx<AnyEvent>, _: ()| {
                    let dropped = counter.clone();
                    async move {
                        let won = ctx
                            .race("first")
                            .branch("fails", |ctx| async move {
                                ctx.step("f", || fail("no")).retry(Retry::none()).await
                            })
                            .branch("fast", |ctx| async move {
                                ctx.step("a", || async {
                                    tokio::time::sleep(secs(5)).await;
                                    ok(1).await
                                })
                                .await
                            })
                            .branch("never", |ctx| async move {
                                ctx.step("b", || {
                                    let guard = Dropped(dropped.clone());
                                    async move {
                                        std::future::pending::<()>().await;
                                        drop(guard);
                                        ok(2).await
                                    }
                                })
                                .await
                            })
                            .await?;
                        ctx.sleep("later", hours(1)).await?;
                        Ok((won.winner, won.value))
                    }
                }),
            )
            .start()
            .await;
        start(&test).await;
        test.advance(minutes(1)).await;
        assert_eq!(
            dropped.load(Ordering::SeqCst),
            1,
            "the loser sees that it is cancelled"
        );
        let run = restart(&mut test).await;
        assert_eq!(output::<(String, u32)>(&run).await, ("fast".to_owned(), 1));
        assert_eq!((test.calls("a"), test.calls("b")), (1, 1));
        let journal = test.journal(&run).await;
        journal.assert_steps(&[
            ("first/fails/f:0", StepStatus::Exhausted, 1),
            ("first/fast/a:0", StepStatus::Completed, 1),
            ("first/never/b:0", StepStatus::Abandoned, 1),
        ]);
    });
}

#[test]
fn the_winner_is_durable_before_a_loser_is_dropped() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(
                Workflows::new().function("w", |ctx: Ctx<AnyEvent>, _: ()| async move {
                    ctx.race("first")
                        .branch("a", |ctx| async move { ctx.step("a", || ok(1)).await })
                        .branch("b", |ctx| async move {
                            ctx.step("b", std::future::pending::<everstep::Result<u32>>)
                                .await
                        })
                        .await?;
                    Ok(())
                }),
            )
            .start()
            .await;
        let run = start(&test).await;
        output::<()>(&run).await;
        let kinds = test.journal(&run).await.kinds();
        let at = |kind| kinds.iter().position(|known| *known == kind).unwrap();
        assert!(at("race_won") < at("step_abandoned"), "{kinds:?}");
    });
}

// B118
#[test]
fn if_all_fail_the_error_lists_each() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(
                Workflows::new().function("w", |ctx: Ctx<AnyEvent>, _: ()| async move {
                    let lost = ctx
                        .race::<u32>("all")
                        .branch("a", |_| async { Err(Error::fatal("one")) })
                        .branch("b", |_| async { Err(Error::fatal("two")) })
                        .await;
                    let error = lost.unwrap_err();
                    let failure = error.branches_failure().unwrap();
                    assert_eq!(failure.kind, BranchesKind::Race);
                    assert_eq!(failure.failures.len(), 2);
                    Err::<(), _>(error)
                }),
            )
            .start()
            .await;
        let run = start(&test).await;
        let failure = failure(&run).await;
        assert!(failure.is(ErrorCode::BranchesFailed));
        assert!(
            failure.message.contains("`a` (one), `b` (two)"),
            "{failure}"
        );
    });
}

// B121
#[test]
fn a_branch_that_is_retried_keeps_the_race_open_and_may_win() {
    for_each_store(async |store| {
        let attempts = Seen::new();
        let witness = attempts.clone();
        let test = store
            .engine()
            .workflows(
                Workflows::new().function("w", move |ctx: Ctx<AnyEvent>, _: ()| {
                    let attempts = witness.clone();
                    async move {
                        let won = ctx
                            .race("retrying")
                            .branch("flaky", |ctx| async move {
                                ctx.step_with("f", |step| {
                                    attempts.add(step.attempt);
                                    async move {
                                        if step.attempt < 3 {
                                            fail("again").await
                                        } else {
                                            ok(3).await
                                        }
                                    }
                                })
                                .retry(Retry::constant(5, secs(1)))
                                .await
                            })
                            .branch("fails", |_| async { Err(Error::fatal("no")) })
                            .await?;
                        Ok(won.winner)
                    }
                }),
            )
            .start()
            .await;
        let run = start(&test).await;
        assert_eq!(output::<String>(&run).await, "flaky");
        assert_eq!(attempts.take(), [1, 2, 3]);
    });
}

// B122
#[test]
fn a_parked_race_of_a_timer_and_an_event_is_woken_by_either() {
    for_each_store(async |store| {
        for (send, winner) in [(true, "event"), (false, "timer")] {
            let mut test = store
                .engine()
                .workflows(
                    Workflows::new().function("w", |ctx: Ctx<AnyEvent>, _: ()| async move {
                        let won = ctx
                            .race("either")
                            .branch("timer", |ctx| async move {
                                ctx.sleep("nap", hours(1)).await?;
                                Ok(0)
                            })
                            .branch("event", |ctx| async move {
                                let Ping(n) = ctx.event::<Ping>().await?;
                                Ok(n)
                            })
                            .await?;
                        Ok(won.winner)
                    }),
                )
                .start()
                .await;
            let run = test
                .start_by_name("w", crate::support::json(&()))
                .id(winner)
                .await
                .unwrap();
            test.reach(&run, RunStatus::Waiting).await;
            test.restart().await;
            let run = test.run(winner).await.unwrap();
            if send {
                ping(&run, 1).await;
            }
            assert_eq!(output::<String>(&run).await, winner);
            drop(run);
            assert!(
                store.timers_left(test).await.is_empty(),
                "nothing is left of the loser"
            );
        }
    });
}

#[test]
fn a_late_result_of_a_loser_has_no_effect() {
    for_each_store(async |store| {
        let mut test = store
            .engine()
            .workflows(
                Workflows::new().function("w", |ctx: Ctx<AnyEvent>, _: ()| async move {
                    // Both results may be in one commit. The first in the journal wins on every
                    // replay.
                    let won = ctx
                        .race("tie")
                        .branch("a", |ctx| async move { ctx.step("a", || ok(1)).await })
                        .branch("b", |ctx| async move { ctx.step("b", || ok(2)).await })
                        .await?;
                    ctx.sleep("later", hours(1)).await?;
                    Ok(won.winner)
                }),
            )
            .start()
            .await;
        start(&test).await;
        test.advance(minutes(1)).await;
        let run = restart(&mut test).await;
        let winner = output::<String>(&run).await;
        let journal = test.journal(&run).await;
        let recorded = journal
            .entries()
            .iter()
            .find_map(|entry| match &entry.record.body {
                Body::RaceWon(won) => Some(won.winner.to_string()),
                _ => None,
            });
        assert_eq!(recorded, Some(winner));
        assert_eq!(journal.count("race_won"), 1);
    });
}

#[test]
fn a_race_without_branches_is_refused() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(
                Workflows::new().function("w", |ctx: Ctx<AnyEvent>, _: ()| async move {
                    ctx.race::<()>("none").await?;
                    Ok(())
                }),
            )
            .start()
            .await;
        let run = start(&test).await;
        assert!(failure(&run).await.is(ErrorCode::InvalidOptions));
    });
}

// B78
#[test]
fn an_event_after_the_winner_is_not_taken_by_a_loser() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(
                Workflows::new().function("w", |ctx: Ctx<AnyEvent>, _: ()| async move {
                    ctx.race("first")
                        .branch("asked", |ctx| async move {
                            ctx.event::<Ping>().id("one").await.map(|Ping(n)| n)
                        })
                        .branch("also", |ctx| async move {
                            ctx.event::<Ping>().id("two").await.map(|Ping(n)| n)
                        })
                        .await?;
                    let Ping(n) = ctx.event::<Ping>().id("later").await?;
                    Ok(n)
                }),
            )
            .start()
            .await;
        let run = start(&test).await;
        test.reach(&run, RunStatus::Waiting).await;
        // Both are in the journal before the first of them is folded, so the second comes before
        // the winner is durable.
        run.pause().await.unwrap();
        test.reach(&run, RunStatus::Paused).await;
        ping(&run, 1).await;
        ping(&run, 2).await;
        run.resume().await.unwrap();
        let taken = tokio::time::timeout(secs(60), output::<u32>(&run)).await;
        assert_eq!(taken, Ok(2));
    });
}

// B40, B78
#[test]
fn losers_of_a_race_do_not_run_in_a_later_pass() {
    for_each_store(async |store| {
        let code = |ctx: Ctx<AnyEvent>, _: ()| async move {
            let race = ctx
                .race("first")
                .branch("event", |ctx| async move {
                    ctx.event::<Ping>().id("lost").await.map(|Ping(n)| n)
                })
                .branch("time", |ctx| async move {
                    ctx.sleep("short", secs(1)).await.map(|()| 0)
                });
            let winner = race.await?.winner;
            if ctx.metadata().attempt == 1 {
                return Err(Error::new("not yet"));
            }
            let Ping(n) = ctx.event::<Ping>().id("later").await?;
            Ok((winner, n))
        };
        let options = Options::new().execution_retries(1);
        let test = store
            .engine()
            .workflows(Workflows::new().function_with("w", options, code));
        let test = test.start().await;
        let run = start(&test).await;
        test.reach(&run, RunStatus::Retrying).await;
        // It has arrived when the second pass reaches the race.
        ping(&run, 7).await;
        let ended = tokio::time::timeout(secs(60), output::<(String, u32)>(&run)).await;
        assert_eq!(ended, Ok(("time".to_owned(), 7)));
        let journal = run.journal().await.unwrap();
        let waits = journal.iter().filter(|entry| match &entry.record.body {
            Body::Waiting(wait) => wait.location.to_string().contains("lost"),
            _ => false,
        });
        assert_eq!(waits.count(), 1);
    });
}
