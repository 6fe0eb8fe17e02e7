//! Retries and timeouts of steps.

use std::time::Duration;

use everstep::inspect::StepStatus;
use everstep::{
    Ctx, Error, ErrorCode, Failure, Options, Result, Retry, RunStatus, Workflows, hours, millis,
    minutes, secs,
};

use crate::support::{Seen, TestStore, fail, failure, for_each_store, ok, output, restart, start};

/// Seconds between the attempts of a step that always fails, and the run's failure.
async fn delays(
    store: &TestStore,
    defaults: Options,
    step: impl Fn(&Ctx) -> Option<Retry> + Copy + Send + Sync + 'static,
) -> (Vec<u64>, Failure) {
    let seen = Seen::new();
    let inside = seen.clone();
    let code = move |ctx: Ctx, _: ()| {
        let seen = inside.clone();
        async move {
            let attempt = ctx.step("a", || {
                seen.add(tokio::time::Instant::now());
                fail("no luck")
            });
            match step(&ctx) {
                Some(retry) => attempt.retry(retry).await,
                None => attempt.await,
            }
        }
    };
    let test = store
        .engine()
        .workflows(Workflows::new().function_with("w", defaults, code))
        .start()
        .await;
    let failure = failure(&start(&test).await).await;
    let times = seen.take();
    let delays = times
        .windows(2)
        .map(|pair| (pair[1] - pair[0]).as_secs())
        .collect();
    test.shutdown().await;
    (delays, failure)
}

// B25, B31, B199
#[test]
fn a_step_is_retried_according_to_its_policy() {
    for (retry, expected) in [
        (Retry::none(), vec![]),
        (Retry::constant(3, secs(2)), vec![2, 2, 2]),
        (Retry::linear(4, secs(2)), vec![2, 4, 6, 8]),
        (Retry::exponential(4, secs(2)), vec![2, 4, 8, 16]),
        (Retry::exponential(7, secs(1)), vec![1, 2, 4, 8, 16, 30, 30]),
        (Retry::constant(2, secs(9)).max_delay(secs(5)), vec![5, 5]),
        (Retry::linear(3, secs(2)).max_delay(secs(5)), vec![2, 4, 5]),
        (
            Retry::exponential(4, secs(2)).max_delay(secs(5)),
            vec![2, 4, 5, 5],
        ),
    ] {
        for_each_store(async |store| {
            let (delays, failure) = delays(store, Options::new(), move |_| Some(retry)).await;
            assert_eq!(delays, expected, "{retry:?}");
            assert!(failure.is(ErrorCode::StepExhausted), "{failure:?}");
            assert_eq!(
                (failure.message.as_str(), failure.attempt as usize),
                ("no luck", expected.len() + 1)
            );
        });
    }
}

// B200
#[test]
fn a_step_overrides_its_workflow_which_overrides_the_defaults() {
    for_each_store(async |store| {
        let (delays, _) = delays(store, Options::new(), |_| None).await;
        assert_eq!(delays, [1, 2, 4]);
    });
    let workflow = Options::new().retry(Retry::constant(2, secs(7)));
    for_each_store(async |store| {
        let (delays, _) = delays(store, workflow, |_| None).await;
        assert_eq!(delays, [7, 7]);
    });
    for_each_store(async |store| {
        let (delays, _) = delays(store, workflow, |_| Some(Retry::constant(1, secs(3)))).await;
        assert_eq!(delays, [3]);
    });
    for_each_store(async |store| {
        let test = store
            .engine()
            .defaults(Options::new().retry(Retry::none()))
            .workflows(
                Workflows::new().function("w", |ctx: Ctx, _: ()| async move {
                    ctx.step("a", || fail("no luck")).await
                }),
            )
            .start()
            .await;
        failure(&start(&test).await).await;
        assert_eq!(test.calls("a"), 1);
    });
}

// B27
#[test]
fn between_attempts_the_run_is_parked_with_the_status_retrying() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .evict_all()
            .workflows(
                Workflows::new().function("w", |ctx: Ctx, _: ()| async move {
                    ctx.step("a", || fail("no luck"))
                        .retry(Retry::constant(1, minutes(10)))
                        .await
                }),
            )
            .start()
            .await;
        let run = start(&test).await;
        test.reach(&run, RunStatus::Retrying).await;
        test.advance(secs(1)).await;
        assert_eq!(test.hot_runs(), 0);
        let step = run.inspect().await.unwrap().overview.steps.remove(0);
        assert!(test.now().until(step.next_retry_at.unwrap()) > minutes(9));
        let why = run.why().await.unwrap().to_string();
        assert!(
            why.contains("retries step `a:0` (attempt 2)") && why.contains("no luck"),
            "{why}"
        );
    });
}

/// Returns how often the step ran, and the failure of the run.
pub(crate) async fn outcome(
    store: &TestStore,
    code: impl Fn(Ctx, ()) -> Outcome + Send + Sync + 'static,
) -> (u32, Failure) {
    let test = store
        .engine()
        .workflows(Workflows::new().function("w", code))
        .start()
        .await;
    let failure = failure(&start(&test).await).await;
    let calls = test.calls("a");
    test.shutdown().await;
    (calls, failure)
}

pub(crate) type Outcome = std::pin::Pin<Box<dyn Future<Output = Result<u32>> + Send>>;

// B29, B30
#[test]
fn an_error_that_is_not_retryable_fails_at_once_and_keeps_its_name_and_message() {
    for message in ["card declined", ""] {
        for_each_store(async |store| {
            let (calls, failure) = outcome(store, move |ctx, ()| {
                Box::pin(async move {
                    ctx.step("a", || async {
                        Err(Error::fatal(message).named("Declined"))
                    })
                    .await
                })
            })
            .await;
            assert_eq!(calls, 1);
            assert_eq!(
                (failure.name.as_str(), failure.message.as_str()),
                ("Declined", message)
            );
            assert!(failure.is(ErrorCode::StepFailed), "{failure:?}");
        });
    }
}

// B32
#[test]
fn a_delay_function_sees_attempt_and_error_and_decides_how_long_to_wait() {
    for_each_store(async |store| {
        let seen = Seen::new();
        let inside = seen.clone();
        let code = move |ctx: Ctx, _: ()| {
            let seen = inside.clone();
            async move {
                ctx.step("a", || fail("no luck"))
                    .delay(move |attempt, error| {
                        seen.add((attempt, error.message.clone()));
                        minutes(u64::from(attempt))
                    })
                    .retry(Retry::constant(2, secs(1)))
                    .await
            }
        };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let begun = test.now();
        failure(&start(&test).await).await;
        assert_eq!(begun.until(test.now()).as_secs(), 60 + 120);
        let expected = [1, 2, 3].map(|attempt| (attempt, "no luck".to_owned()));
        assert_eq!(seen.take(), expected);
    });
}

// B32
#[test]
fn a_panicking_retry_hook_fails_the_step_without_more_retries() {
    for_each_store(async |store| {
        let (calls, failure) = outcome(store, |ctx, ()| {
            Box::pin(async move {
                ctx.step("a", || fail("no luck"))
                    .delay(|_, _| panic!("bad hook"))
                    .await
            })
        })
        .await;
        assert_eq!(calls, 1);
        assert!(failure.message.contains("bad hook"), "{failure}");
        assert_eq!(failure.cause.unwrap().message, "no luck");
    });
}

#[test]
fn retry_if_decides_which_errors_are_retried() {
    for_each_store(async |store| {
        let (calls, failure) = outcome(store, |ctx, ()| {
            Box::pin(async move {
                let work = |step: everstep::operation::StepContext| {
                    fail(if step.attempt < 3 { "busy" } else { "broken" })
                };
                ctx.step_with("a", work)
                    .retry_if(|error| error.message == "busy")
                    .await
            })
        })
        .await;
        assert_eq!((calls, failure.message.as_str()), (3, "broken"));
    });
}

#[test]
fn an_error_can_set_the_delay_of_its_retry() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(
                Workflows::new().function("w", |ctx: Ctx, _: ()| async move {
                    let busy = |step: everstep::operation::StepContext| async move {
                        if step.attempt == 1 {
                            Err(Error::new("busy").retry_after(secs(90)))
                        } else {
                            Ok(step.attempt)
                        }
                    };
                    ctx.step_with("a", busy).await
                }),
            )
            .start()
            .await;
        let begun = test.now();
        assert_eq!(output::<u32>(&start(&test).await).await, 2);
        assert_eq!(begun.until(test.now()).as_secs(), 90);
    });
}

// B33
#[test]
fn invalid_options_are_fatal_before_anything_runs() {
    for_each_store(async |store| {
        let (calls, failure) = outcome(store, |ctx, ()| {
            Box::pin(async move { ctx.step("a", || ok(1)).timeout(Duration::ZERO).await })
        })
        .await;
        assert_eq!(calls, 0);
        assert!(failure.is(ErrorCode::InvalidOptions), "{failure:?}");
    });
}

// B42
#[test]
fn a_retry_is_due_at_the_same_time_after_a_crash() {
    for_each_store(async |store| {
        let mut test = store
            .engine()
            .workflows(
                Workflows::new().function("w", |ctx: Ctx, _: ()| async move {
                    let work = |step: everstep::operation::StepContext| async move {
                        if step.attempt == 1 {
                            Err(Error::new("no luck"))
                        } else {
                            Ok(step.attempt)
                        }
                    };
                    ctx.step_with("a", work)
                        .retry(Retry::constant(1, hours(1)).max_delay(hours(1)))
                        .await
                }),
            )
            .start()
            .await;
        let begun = test.now();
        start(&test).await;
        test.advance(minutes(40)).await;
        let run = restart(&mut test).await;
        assert_eq!(run.status().await.unwrap(), RunStatus::Retrying);
        assert_eq!(output::<u32>(&run).await, 2);
        let late = (begun.after(hours(1))).until(test.now());
        assert!(late < millis(50), "{late:?}");
        assert!(begun.until(test.now()) >= hours(1), "never early");
    });
}

#[test]
fn a_panic_in_a_step_is_a_failure_of_that_attempt() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(
                Workflows::new().function("w", |ctx: Ctx, _: ()| async move {
                    let work = |step: everstep::operation::StepContext| async move {
                        assert!(step.attempt > 1, "out of cheese");
                        ok(step.attempt).await
                    };
                    ctx.step_with("a", work).await
                }),
            )
            .start()
            .await;
        let run = start(&test).await;
        assert_eq!(output::<u32>(&run).await, 2);
        test.journal(&run)
            .await
            .assert_steps(&[("a:0", StepStatus::Completed, 2)]);
    });
}
