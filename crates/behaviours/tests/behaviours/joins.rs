//! Joins: concurrent branches, each in its own scope. All must succeed, and every failure is
//! reported.

use everstep::inspect::StepStatus;
use everstep::journal::record::BranchesKind;
use everstep::{
    AnyEvent, Ctx, Error, ErrorCode, Result, Retry, RunStatus, Workflows, hours, minutes, secs,
};

use crate::support::{
    Ping, Seen, fail, failure, for_each_store, ok, output, ping, restart, start, start_with,
};

/// Work that takes a while.
async fn slow<T>(value: T) -> everstep::Result<T> {
    tokio::time::sleep(minutes(1)).await;
    Ok(value)
}

// B111, B11
#[test]
fn branches_run_concurrently_and_return_their_own_types() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(Workflows::new().function(
                "w",
                |ctx: Ctx<AnyEvent>, name: String| async move {
                    let (greeting, number) = ctx
                        .join("load")
                        .branch("greeting", |ctx| {
                            let name = &name;
                            async move { ctx.step("get", || slow(format!("hello {name}"))).await }
                        })
                        .branch("number", |ctx| async move {
                            ctx.step("get", || slow(7_u32)).await
                        })
                        .await?;
                    let created = ctx.metadata().created_at;
                    Ok((greeting, number, created.until(ctx.now()).as_secs()))
                },
            ))
            .start()
            .await;
        let run = start_with(&test, &"ann").await;
        let expected = ("hello ann".to_owned(), 7, 60);
        assert_eq!(output::<(String, u32, u64)>(&run).await, expected);
        test.journal(&run).await.assert_steps(&[
            ("load/greeting/get:0", StepStatus::Completed, 1),
            ("load/number/get:0", StepStatus::Completed, 1),
        ]);
    });
}

// B112
#[test]
fn a_join_waits_for_all_branches_and_its_error_lists_those_that_failed() {
    for_each_store(async |store| {
        let seen = Seen::new();
        let witness = seen.clone();
        let test = store
            .engine()
            .workflows(
                Workflows::new().function("w", move |ctx: Ctx<AnyEvent>, _: ()| {
                    let seen = witness.clone();
                    async move {
                        let joined = ctx
                            .join("all")
                            .branch("bad", |ctx| async move {
                                ctx.step("a", || fail("no")).retry(Retry::none()).await
                            })
                            .branch("good", |ctx| async move { ctx.step("b", || slow(1)).await })
                            .branch("worse", |_| async { Err::<u32, _>(Error::fatal("never")) })
                            .await;
                        let error = joined.unwrap_err();
                        let failure = error.branches_failure().unwrap();
                        assert_eq!(failure.kind, BranchesKind::Join);
                        seen.add(
                            failure
                                .failures
                                .iter()
                                .map(|failed| {
                                    format!("{}: {}", failed.branch, failed.error.message)
                                })
                                .collect::<Vec<_>>(),
                        );
                        Err::<(), _>(error)
                    }
                }),
            )
            .start()
            .await;
        let run = start(&test).await;
        let failure = failure(&run).await;
        assert!(failure.is(ErrorCode::BranchesFailed));
        assert!(failure.message.contains("`bad` (no)"), "{failure}");
        assert_eq!(seen.take(), [["bad: no", "worse: never"]]);
        assert_eq!(test.calls("b"), 1, "the good branch ran to its end");
        let journal = test.journal(&run).await;
        assert_eq!(journal.count("branch_failed"), 2);
        assert_eq!(journal.count("branch_completed"), 1);
    });
}

// B113, B115, B158
#[test]
fn completed_branches_are_not_run_again_when_the_run_is_rebuilt_in_the_middle() {
    for_each_store(async |store| {
        let mut test = store
            .engine()
            .workflows(
                Workflows::new().function("w", |ctx: Ctx<AnyEvent>, _: ()| async move {
                    let (a, (b, c)) =
                        ctx.join("outer")
                            .branch(
                                "fast",
                                |ctx| async move { ctx.step("a", || ok(1_u32)).await },
                            )
                            .branch("nested", |ctx| async move {
                                ctx.join("inner")
                                    .branch("fast", |ctx| async move {
                                        ctx.step("b", || ok(10_u32)).await
                                    })
                                    .branch("waits", |ctx| async move {
                                        let Ping(n) = ctx.event::<Ping>().await?;
                                        ctx.step("c", || ok(n)).await
                                    })
                                    .await
                            })
                            .await?;
                    Ok(a + b + c)
                }),
            )
            .start()
            .await;
        start(&test).await;
        test.advance(minutes(1)).await;
        let run = restart(&mut test).await;
        assert_eq!(run.status().await.unwrap(), RunStatus::Waiting);
        ping(&run, 100).await;
        assert_eq!(output::<u32>(&run).await, 111);
        for step in ["a", "b", "c"] {
            assert_eq!(test.calls(step), 1, "{step}");
        }
        let journal = test.journal(&run).await;
        assert!(
            journal
                .lines()
                .contains(&"step_completed outer/nested/inner/waits/c:0".to_owned())
        );
    });
}

/// A join with a race in a branch, whose winner has a join in it.
async fn join_race_join(ctx: Ctx<AnyEvent>, (): ()) -> Result<(u32, String, u32)> {
    let raced = |ctx: Ctx<AnyEvent>| async move {
        let race = ctx.race("race").branch("slow", |ctx| async move {
            ctx.step("d", || ok(1_000_u32)).await?;
            ctx.sleep("slow", hours(9)).await?;
            Ok(0)
        });
        let won = race
            .branch("both", |ctx| async move {
                let both = ctx.join("both").branch("waits", |ctx| async move {
                    let Ping(n) = ctx.event::<Ping>().await?;
                    ctx.step("c", || ok(n)).await
                });
                let (a, b) = both
                    .branch(
                        "fast",
                        |ctx| async move { ctx.step("b", || ok(10_u32)).await },
                    )
                    .await?;
                Ok(a + b)
            })
            .await?;
        Ok((won.winner, won.value))
    };
    let outer = ctx.join("outer").branch(
        "fast",
        |ctx| async move { ctx.step("a", || ok(1_u32)).await },
    );
    let (a, (winner, b)) = outer.branch("raced", raced).await?;
    Ok((a, winner, b))
}

// B115
#[test]
fn a_race_in_a_branch_of_a_join_and_a_join_in_a_branch_of_the_race_continue_after_a_crash() {
    for_each_store(async |store| {
        let setup = store.engine();
        let workflows = Workflows::new().function("w", join_race_join);
        let mut test = setup.workflows(workflows).start().await;
        start(&test).await;
        test.advance(minutes(1)).await;
        let run = restart(&mut test).await;
        test.reach(&run, RunStatus::Waiting).await;
        ping(&run, 100).await;
        let expected = (1, "both".to_owned(), 110);
        assert_eq!(output::<(u32, String, u32)>(&run).await, expected);
        for step in ["a", "b", "c", "d"] {
            assert_eq!(test.calls(step), 1, "{step}");
        }
        let journal = test.journal(&run).await;
        journal.assert_contains("step_completed outer/raced/race/both/both/waits/c:0");
        journal.assert_contains("race_won outer/raced/race:0");
        drop(run);
        assert_eq!(store.timers_left(test).await, []);
    });
}

#[test]
fn branches_built_at_run_time_keep_the_order_of_their_items_and_the_bound() {
    for_each_store(async |store| {
        let seen = Seen::new();
        let witness = seen.clone();
        let test = store
            .engine()
            .workflows(Workflows::new().function(
                "w",
                move |ctx: Ctx<AnyEvent>, items: Vec<u64>| {
                    let seen = witness.clone();
                    async move {
                        let results = ctx
                            .for_each("items", items, |ctx, item| {
                                let seen = seen.clone();
                                async move {
                                    ctx.step("work", || async {
                                        seen.add((item, true));
                                        tokio::time::sleep(secs(10 * (5 - item))).await;
                                        seen.add((item, false));
                                        ok(item * 2).await
                                    })
                                    .await
                                }
                            })
                            .concurrency(2)
                            .await?;
                        Ok(results)
                    }
                },
            ))
            .start()
            .await;
        let run = start_with(&test, &[1, 2, 3, 4]).await;
        assert_eq!(output::<Vec<u64>>(&run).await, [2, 4, 6, 8]);
        let mut running: i32 = 0;
        for (_, begins) in seen.take() {
            running += if begins { 1 } else { -1 };
            assert!(running <= 2, "{running} at once");
        }
        let journal = test.journal(&run).await;
        assert!(
            journal
                .lines()
                .contains(&"step_completed items/3/work:0".to_owned())
        );
    });
}

#[test]
fn each_branch_can_return_its_own_outcome() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(
                Workflows::new().function("w", |ctx: Ctx<AnyEvent>, _: ()| async move {
                    let settled = ctx
                        .for_each("items", 0..3_u32, |ctx, item| async move {
                            ctx.step("work", || async move {
                                if item == 1 {
                                    fail("odd").await
                                } else {
                                    ok(item).await
                                }
                            })
                            .retry(Retry::none())
                            .await
                        })
                        .settled()
                        .await?;
                    let settled = settled.into_iter();
                    Ok(settled
                        .map(|item| item.map_err(|error| error.to_string()).ok())
                        .collect::<Vec<_>>())
                }),
            )
            .start()
            .await;
        let run = start(&test).await;
        let outcome = output::<Vec<Option<u32>>>(&run).await;
        assert_eq!(outcome, [Some(0), None, Some(2)]);
    });
}

#[test]
fn an_empty_join_returns_an_empty_result() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(
                Workflows::new().function("w", |ctx: Ctx<AnyEvent>, _: ()| async move {
                    ctx.for_each("none", Vec::<u32>::new(), |_, item| async move { Ok(item) })
                        .await
                }),
            )
            .start()
            .await;
        let run = start(&test).await;
        assert_eq!(output::<Vec<u32>>(&run).await, [0_u32; 0]);
    });
}

// B12
#[test]
fn two_branches_of_one_name_or_a_reserved_name_are_refused() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(Workflows::new().function(
                "w",
                |ctx: Ctx<AnyEvent>, name: String| async move {
                    ctx.join("j")
                        .branch("a", |_| async { Ok(()) })
                        .branch(&name, |_| async { Ok(()) })
                        .await?;
                    Ok(())
                },
            ))
            .start()
            .await;
        for (id, name, code) in [
            ("twice", "a", ErrorCode::InvalidOptions),
            ("reserved", "__b", ErrorCode::InvalidName),
            ("slash", "a/b", ErrorCode::InvalidName),
        ] {
            let input = crate::support::json(name);
            let run = test.start_by_name("w", input).id(id).await.unwrap();
            let failure = failure(&run).await;
            assert!(failure.is(code), "{name}: {failure}");
        }
    });
}

// B177
#[test]
fn changed_branches_under_a_running_workflow_are_a_divergence() {
    for_each_store(async |store| {
        let joining = |names: &'static [&'static str]| {
            move |ctx: Ctx<AnyEvent>, _: ()| async move {
                ctx.for_each_by(
                    "all",
                    names.to_vec(),
                    |name| (*name).to_owned(),
                    |ctx, _| async move { ctx.sleep("nap", hours(1)).await },
                )
                .await?;
                Ok(())
            }
        };
        let mut test = store
            .engine()
            .workflows(Workflows::new().function("w", joining(&["a", "b"])))
            .start()
            .await;
        start(&test).await;
        test.advance(minutes(1)).await;
        test.redeploy(|builder| {
            builder.workflows(Workflows::new().function("w", joining(&["a", "c"])))
        })
        .await;
        let run = test.run("r").await.unwrap();
        test.advance(hours(2)).await;
        assert_eq!(run.status().await.unwrap(), RunStatus::Diverged);
        let why = run.why().await.unwrap().to_string();
        assert!(
            why.contains("`a`, `b`") && why.contains("`a`, `c`"),
            "{why}"
        );
    });
}
