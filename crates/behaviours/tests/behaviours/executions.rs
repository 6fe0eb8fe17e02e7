//! Retries of the whole function, and deadlines.

use everstep::inspect::StepStatus;
use everstep::{
    AnyEvent, Ctx, Error, ErrorCode, Options, Retry, RunStatus, Workflows, hours, minutes, secs,
};

use crate::support::{
    Ping, Seen, fail, failure, for_each_store, json, ok, output, ping, restart, start,
};

fn retried(times: u32) -> Options {
    Options::new().execution_retries(times)
}

// B40
#[test]
fn a_failed_function_runs_again_and_completed_steps_keep_their_results() {
    for_each_store(async |store| {
        let seen = Seen::new();
        let inside = seen.clone();
        let code = move |ctx: Ctx<AnyEvent>, _: ()| {
            let seen = inside.clone();
            async move {
                seen.add((ctx.metadata().attempt, tokio::time::Instant::now()));
                let a: u32 = ctx.step("a", || ok(5)).await?;
                if ctx.metadata().attempt < 3 {
                    return Err(Error::new("not yet"));
                }
                let b: u32 = ctx.step("b", || ok(6)).await?;
                Ok(a + b)
            }
        };
        let test = store
            .engine()
            .workflows(Workflows::new().function_with("w", retried(2), code))
            .start()
            .await;
        let run = start(&test).await;
        assert_eq!(output::<u32>(&run).await, 11);
        assert_eq!((test.calls("a"), test.calls("b")), (1, 1));
        // A pass may be polled again from its beginning after an eviction; here nothing is evicted.
        let seen = seen.take();
        let passes: Vec<_> = seen.iter().map(|(pass, _)| *pass).collect();
        assert_eq!(passes, [1, 2, 3]);
        let delays: Vec<_> = seen
            .windows(2)
            .map(|pair| (pair[1].1 - pair[0].1).as_secs())
            .collect();
        assert_eq!(delays, [2, 4]);
    });
}

// B40
#[test]
fn retries_of_the_function_are_off_by_default_and_end_in_failure() {
    for (options, passes) in [(Options::new(), 1), (retried(2), 3)] {
        for_each_store(async |store| {
            let seen = Seen::new();
            let inside = seen.clone();
            let code = move |_: Ctx<AnyEvent>, _: ()| {
                inside.add(());
                async { Err::<u32, _>(Error::new("broken")) }
            };
            let test = store
                .engine()
                .workflows(Workflows::new().function_with("w", options, code))
                .start()
                .await;
            let failure = failure(&start(&test).await).await;
            assert!(failure.is(ErrorCode::WorkflowFailed), "{failure:?}");
            assert_eq!(seen.take().len(), passes);
        });
    }
}

// B40
#[test]
fn a_start_may_set_its_own_execution_retries() {
    for_each_store(async |store| {
        let code = |ctx: Ctx<AnyEvent>, _: ()| async move {
            if ctx.metadata().attempt < 2 {
                Err(Error::new("not yet"))
            } else {
                Ok(ctx.metadata().attempt)
            }
        };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let run = test
            .start_by_name("w", json(&()))
            .execution_retries(1)
            .await
            .unwrap();
        assert_eq!(output::<u32>(&run).await, 2);
    });
}

// B40
#[test]
fn an_error_that_is_not_retryable_ends_the_run_at_once() {
    for_each_store(async |store| {
        let code = |_: Ctx<AnyEvent>, _: ()| async { Err::<u32, _>(Error::fatal("never")) };
        let test = store
            .engine()
            .workflows(Workflows::new().function_with("w", retried(5), code))
            .start()
            .await;
        let run = start(&test).await;
        failure(&run).await;
        assert_eq!(test.journal(&run).await.count("execution_retried"), 0);
    });
}

// B40
#[test]
fn a_step_that_failed_in_one_pass_is_tried_again_in_the_next() {
    for_each_store(async |store| {
        let code = |ctx: Ctx<AnyEvent>, _: ()| async move {
            let work = |step: everstep::operation::StepContext| async move {
                if step.attempt < 4 {
                    Err(Error::new("no luck"))
                } else {
                    Ok(step.attempt)
                }
            };
            ctx.step_with("a", work)
                .retry(Retry::constant(1, secs(1)))
                .await
        };
        let mut test = store
            .engine()
            .workflows(Workflows::new().function_with("w", retried(3), code))
            .start()
            .await;
        let run = start(&test).await;
        test.advance(second_pass_delay_midpoint()).await;
        assert_eq!(run.status().await.unwrap(), RunStatus::Retrying);
        let why = run.why().await.unwrap().to_string();
        assert!(
            why.contains("runs again (attempt 2)") && why.contains("no luck"),
            "{why}"
        );
        let run = restart(&mut test).await;
        assert_eq!(output::<u32>(&run).await, 4);
        test.journal(&run)
            .await
            .assert_steps(&[("a:0", StepStatus::Completed, 4)]);
    });
}

/// One second of the step's backoff, and one of the two seconds before the second pass.
fn second_pass_delay_midpoint() -> std::time::Duration {
    secs(2)
}

// B40
#[test]
fn waits_events_and_notes_of_earlier_passes_are_kept() {
    for_each_store(async |store| {
        let code = |ctx: Ctx<AnyEvent>, _: ()| async move {
            ctx.note("begun");
            let Ping(first) = ctx.event::<Ping>().await?;
            let timed_out = ctx.event::<Ping>().timeout(minutes(1)).await?.is_none();
            ctx.sleep("nap", hours(1)).await?;
            if ctx.metadata().attempt == 1 {
                return Err(Error::new("not yet"));
            }
            let Ping(second) = ctx.event::<Ping>().await?;
            Ok((first, timed_out, second))
        };
        let mut test = store
            .engine()
            .workflows(Workflows::new().function_with("w", retried(1), code))
            .start()
            .await;
        let run = start(&test).await;
        ping(&run, 1).await;
        test.advance(hours(1) + minutes(1) + secs(1)).await;
        // Sent in the pause between two passes.
        ping(&run, 2).await;
        let run = restart(&mut test).await;
        assert_eq!(output::<(u32, bool, u32)>(&run).await, (1, true, 2));
        let journal = test.journal(&run).await;
        assert_eq!(
            (
                journal.count("note"),
                journal.count("sleeping"),
                journal.count("execution_retried")
            ),
            (1, 1, 1)
        );
    });
}

// B41
#[test]
fn a_deadline_counts_from_creation_despite_retries() {
    for_each_store(async |store| {
        let code = |ctx: Ctx<AnyEvent>, _: ()| async move {
            if ctx.metadata().attempt == 1 {
                ctx.sleep("first", minutes(50)).await?;
                return Err(Error::new("again"));
            }
            ctx.sleep("second", minutes(50)).await
        };
        let options = retried(100).deadline(hours(1));
        let test = store
            .engine()
            .workflows(Workflows::new().function_with("w", options, code))
            .start()
            .await;
        let begun = test.now();
        let run = start(&test).await;
        let failure = failure(&run).await;
        assert!(failure.is(ErrorCode::DeadlineExceeded), "{failure:?}");
        assert_eq!(begun.until(test.now()).as_secs(), 3_600);
        assert_eq!(test.journal(&run).await.count("execution_retried"), 1);
    });
}

// B41
#[test]
fn a_run_that_sleeps_or_executes_a_step_ends_at_its_deadline() {
    for in_step in [true, false] {
        for_each_store(async |store| {
            let code = move |ctx: Ctx<AnyEvent>, _: ()| async move {
                if in_step {
                    let work = || async {
                        tokio::time::sleep(hours(5)).await;
                        ok(()).await
                    };
                    ctx.step("long", work).await
                } else {
                    ctx.sleep("nap", hours(5)).await
                }
            };
            let test = store
                .engine()
                .workflows(Workflows::new().function("w", code))
                .start()
                .await;
            let begun = test.now();
            let run = test
                .start_by_name("w", json(&()))
                .id("r")
                .deadline(hours(1))
                .await
                .unwrap();
            let failure = failure(&run).await;
            assert!(failure.is(ErrorCode::DeadlineExceeded), "{failure:?}");
            let took = begun.until(test.now());
            assert!(took >= hours(1) && took < hours(1) + secs(1), "{took:?}");
            if in_step {
                test.journal(&run)
                    .await
                    .assert_steps(&[("long:0", StepStatus::Abandoned, 1)]);
            }
        });
    }
}

// B41
#[test]
fn a_deadline_that_passed_without_a_node_ends_the_run_at_once() {
    for_each_store(async |store| {
        let code = |ctx: Ctx<AnyEvent>, _: ()| async move { ctx.sleep("nap", hours(5)).await };
        let mut test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        test.start_by_name("w", json(&()))
            .id("r")
            .deadline(hours(1))
            .await
            .unwrap();
        test.advance(secs(1)).await;
        test.redeploy(|deploy| deploy).await;
        test.advance(hours(3)).await;
        test.redeploy(|deploy| deploy.workflows(Workflows::new().function("w", code)))
            .await;
        let begun = test.now();
        let failure = failure(&test.run("r").await.unwrap()).await;
        assert!(failure.is(ErrorCode::DeadlineExceeded), "{failure:?}");
        assert!(begun.until(test.now()) < secs(1));
    });
}

// B41
#[test]
fn no_retry_is_scheduled_after_the_deadline() {
    for_each_store(async |store| {
        let code = |ctx: Ctx<AnyEvent>, _: ()| async move {
            ctx.step("a", || fail("no luck")).retry(Retry::none()).await
        };
        let options = retried(100).deadline(secs(7));
        let test = store
            .engine()
            .workflows(Workflows::new().function_with("w", options, code))
            .start()
            .await;
        let begun = test.now();
        let failure = failure(&start(&test).await).await;
        // Passes begin after 0, 2 and 6 seconds; the next could begin after 14.
        assert_eq!(failure.message, "no luck");
        assert_eq!((test.calls("a"), begun.until(test.now()).as_secs()), (3, 6));
    });
}

// B40
#[test]
fn development_mode_follows_the_passes_of_a_function() {
    for_each_store(async |store| {
        let code = |ctx: Ctx<AnyEvent>, _: ()| async move {
            ctx.note("begun");
            let a: u32 = ctx.step("a", || ok(5)).await?;
            ctx.sleep("nap", minutes(1)).await?;
            if ctx.metadata().attempt < 3 {
                Err(Error::new("not yet"))
            } else {
                Ok(a)
            }
        };
        let test = store
            .engine()
            .development()
            .workflows(Workflows::new().function_with("w", retried(2), code))
            .start()
            .await;
        assert_eq!(output::<u32>(&start(&test).await).await, 5);
    });
}

#[test]
fn a_run_that_ends_between_two_executions_leaves_no_timer() {
    for_each_store(async |store| {
        for cancels in [true, false] {
            let code = |_: Ctx<AnyEvent>, _: ()| async { Err::<(), _>(Error::new("not yet")) };
            let test = store
                .engine()
                .workflows(Workflows::new().function_with("w", retried(100), code))
                .start()
                .await;
            let run = start(&test).await;
            test.reach(&run, RunStatus::Retrying).await;
            if cancels {
                run.cancel().keep().await.unwrap();
                test.reach(&run, RunStatus::Cancelled).await;
            } else {
                run.force_fail("enough").await.unwrap();
                test.reach(&run, RunStatus::Failed).await;
            }
            run.delete().await.unwrap();
            drop(run);
            assert_eq!(store.timers_left(test).await, [], "cancels: {cancels}");
        }
    });
}
