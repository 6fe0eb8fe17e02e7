//! Steps that take too long, and processes that die in the middle of one.

use std::sync::Arc;

use everstep::inspect::{Reason, StepStatus};
use everstep::journal::record::FailureOutcome;
use everstep::testing::{VirtualRuntime, virtual_time};
use everstep::{
    Ctx, Engine, Error, ErrorCode, Options, Payload, Result, Retry, RunStatus, Workflows, hours,
    millis, minutes, secs,
};

use crate::log::Log;
use crate::retries::outcome;
use crate::support::{fail, for_each_store, ok, output, start};

async fn slow() -> Result<u32> {
    tokio::time::sleep(hours(1)).await;
    Ok(1)
}

// B34, B35
#[test]
fn a_timeout_is_final_unless_timeouts_are_retried() {
    for (retried, expected_calls) in [(false, 1), (true, 3)] {
        for_each_store(async |store| {
            let (calls, failure) = outcome(store, move |ctx, ()| {
                Box::pin(async move {
                    let step = ctx
                        .step("a", slow)
                        .timeout(secs(5))
                        .retry(Retry::constant(2, secs(1)));
                    if retried {
                        step.retry_timeouts().await
                    } else {
                        step.await
                    }
                })
            })
            .await;
            assert_eq!(calls, expected_calls);
            assert!(failure.is(ErrorCode::StepTimedOut), "{failure:?}");
            assert_eq!(failure.name, "timeout");
        });
    }
}

// B35
#[test]
fn exhaustion_through_timeouts_is_reported_as_a_timeout() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(
                Workflows::new().function("w", |ctx: Ctx, _: ()| async move {
                    let step = ctx.try_step("a", slow).with(|step| {
                        step.timeout(secs(5))
                            .retry_timeouts()
                            .retry(Retry::constant(1, secs(1)))
                    });
                    Ok(step.await?.unwrap_err().outcome)
                }),
            )
            .start()
            .await;
        let run = start(&test).await;
        assert_eq!(
            output::<FailureOutcome>(&run).await,
            FailureOutcome::TimedOut
        );
        test.journal(&run)
            .await
            .assert_steps(&[("a:0", StepStatus::TimedOut, 2)]);
    });
}

// B39
#[test]
fn an_error_that_only_reads_like_a_timeout_is_retried_like_any_other() {
    for_each_store(async |store| {
        let (calls, failure) = outcome(store, |ctx, ()| {
            Box::pin(async move {
                ctx.step("a", || async {
                    Err(Error::new("step `a` took longer than its timeout").named("timeout"))
                })
                .await
            })
        })
        .await;
        assert_eq!(calls, 4);
        assert!(failure.is(ErrorCode::StepExhausted), "{failure:?}");
    });
}

// B37
#[test]
fn the_timer_of_a_timeout_is_removed_when_the_step_settles() {
    virtual_time(async {
        let timeout = secs(1_234);
        let runtime = Arc::new(VirtualRuntime::new(1));
        let code = move |ctx: Ctx, _: ()| async move {
            let work = || async {
                tokio::time::sleep(secs(1)).await;
                ok(()).await
            };
            ctx.step("a", work).timeout(timeout).await?;
            ctx.step("b", || fail("no luck"))
                .timeout(timeout)
                .retry(Retry::none())
                .best_effort()
                .await?;
            ctx.sleep("nap", secs(5)).await
        };
        let engine = Engine::in_memory()
            .runtime(runtime.clone())
            .workflows(Workflows::new().function("w", code))
            .start()
            .await
            .unwrap();
        let run = engine.start_by_name("w", Payload::null()).await.unwrap();
        tokio::time::sleep(millis(500)).await;
        assert_eq!(
            runtime.pending_sleeps(timeout),
            1,
            "one timer while the step runs"
        );
        tokio::time::sleep(secs(2)).await;
        assert_eq!(run.status().await.unwrap(), RunStatus::Sleeping);
        assert_eq!(runtime.pending_sleeps(timeout), 0, "and none afterwards");
    });
}

#[test]
fn a_crash_in_the_middle_of_a_step_uses_up_no_retry() {
    for_each_store(async |store| {
        // Three attempts are lost in crashes, the fourth fails, and the one retry is still
        // available.
        let code = |ctx: Ctx, _: ()| async move {
            let work = |step: everstep::operation::StepContext| async move {
                slow().await?;
                if step.attempt < 5 {
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
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        start(&test).await;
        for _ in 0..3 {
            test.advance(minutes(30)).await;
            test.restart().await;
        }
        let run = test.run("r").await.unwrap();
        assert_eq!(output::<u32>(&run).await, 5);
        test.journal(&run)
            .await
            .assert_steps(&[("a:0", StepStatus::Completed, 5)]);
        assert_eq!(test.journal(&run).await.count("step_failed"), 1);
    });
}

// B742
#[test]
fn an_attempt_that_runs_for_a_minute_without_a_timeout_is_reported() {
    for_each_store(async |store| {
        for (defaults, is_reported) in [
            (Options::new(), true),
            (Options::new().timeout(hours(5)), false),
        ] {
            let log = Log::default();
            let _recording = log.record();
            let code = |ctx: Ctx, _: ()| async move { ctx.step("a", slow).await };
            let setup = store.engine().defaults(defaults);
            let workflows = Workflows::new().function("w", code);
            let test = setup.workflows(workflows).start().await;
            let id = format!("r-{is_reported}");
            let run = test
                .start_by_name("w", Payload::null())
                .id(&id)
                .await
                .unwrap();
            test.advance(secs(30)).await;
            let early = run.why().await.unwrap();
            assert!(
                matches!(
                    early.reasons[..],
                    [Reason::StepRunning {
                        lacks_timeout: false,
                        ..
                    }]
                ),
                "{early}"
            );
            test.advance(minutes(30)).await;
            let late = run.why().await.unwrap();
            let expected = "and without a timeout";
            assert_eq!(late.to_string().contains(expected), is_reported, "{late}");
            let logged = log.lines_with(&format!("run={id} work=\"step\" location=a:0 attempt=1"));
            assert_eq!(logged, usize::from(is_reported));
            assert_eq!(output::<u32>(&run).await, 1);
            test.shutdown().await;
        }
    });
}
