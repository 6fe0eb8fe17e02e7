//! Failures as data, best-effort steps, and steps whose start is durable first.

use std::sync::{Arc, OnceLock};

use everstep::inspect::StepStatus;
use everstep::journal::record::FailureOutcome;
use everstep::{Ctx, Error, ErrorCode, Retry, RunStatus, Workflows, hours, minutes, secs};

use crate::support::{fail, failure, for_each_store, ok, output, start};

// B50
#[test]
fn a_fatal_failure_can_be_taken_as_data() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(
                Workflows::new().function("w", |ctx: Ctx, _: ()| async move {
                    let caught = ctx
                        .try_step("a", || async { Err::<u32, _>(Error::fatal("stop")) })
                        .await?;
                    let failure = caught.unwrap_err();
                    Ok((
                        failure.error.message,
                        failure.outcome,
                        failure.location.to_string(),
                    ))
                }),
            )
            .start()
            .await;
        let run = start(&test).await;
        let expected = ("stop".to_owned(), FailureOutcome::Fatal, "a:0".to_owned());
        assert_eq!(
            output::<(String, FailureOutcome, String)>(&run).await,
            expected
        );
        assert_eq!(run.status().await.unwrap(), RunStatus::Completed);
    });
}

// B51
#[test]
fn a_step_taken_as_data_is_retried_first() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(
                Workflows::new().function("w", |ctx: Ctx, _: ()| async move {
                    let step = ctx
                        .try_step("a", || fail("no luck"))
                        .with(|step| step.retry(Retry::constant(2, secs(1))));
                    let failure = step.await?.unwrap_err();
                    Ok((failure.outcome, failure.error.attempt))
                }),
            )
            .start()
            .await;
        let run = start(&test).await;
        assert_eq!(
            output::<(FailureOutcome, u32)>(&run).await,
            (FailureOutcome::Exhausted, 3)
        );
        assert_eq!(test.calls("a"), 3);
    });
}

// B52
#[test]
fn an_error_that_asks_to_roll_back_is_not_taken_as_data() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(
                Workflows::new().function("w", |ctx: Ctx, _: ()| async move {
                    let caught = ctx
                        .try_step("a", || async {
                            Err::<u32, _>(Error::new("undo it").rollback())
                        })
                        .await?;
                    Ok(caught.is_err())
                }),
            )
            .start()
            .await;
        assert_eq!(failure(&start(&test).await).await.message, "undo it");
        assert_eq!(test.calls("a"), 1);
    });
}

// B54, B177
#[test]
fn a_divergence_cannot_be_swallowed() {
    for_each_store(async |store| {
        let code = |name: &'static str| {
            move |ctx: Ctx, _: ()| async move {
                let _ = ctx.try_step(name, || ok(1)).await;
                let _ = ctx.sleep("nap", hours(1)).await;
                Ok(())
            }
        };
        let mut test = store
            .engine()
            .workflows(Workflows::new().function("w", code("a")))
            .start()
            .await;
        start(&test).await;
        test.advance(minutes(1)).await;
        test.redeploy(|deploy| deploy.workflows(Workflows::new().function("w", code("b"))))
            .await;
        test.advance(hours(2)).await;
        let run = test.run("r").await.unwrap();
        assert_eq!(run.status().await.unwrap(), RunStatus::Diverged);
        assert_eq!(test.calls("b"), 0);
    });
}

#[test]
fn a_best_effort_step_never_fails_the_run() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(
                Workflows::new().function("w", |ctx: Ctx, _: ()| async move {
                    let lost = ctx
                        .step("lost", || fail("no luck"))
                        .retry(Retry::none())
                        .best_effort()
                        .await?;
                    let kept = ctx.step("kept", || ok(1)).best_effort().await?;
                    Ok((lost, kept))
                }),
            )
            .start()
            .await;
        let run = start(&test).await;
        assert_eq!(
            output::<(Option<u32>, Option<u32>)>(&run).await,
            (None, Some(1))
        );
        let steps = [
            ("lost:0", StepStatus::Exhausted, 1),
            ("kept:0", StepStatus::Completed, 1),
        ];
        test.journal(&run).await.assert_steps(&steps);
    });
}

#[test]
fn a_fenced_step_runs_only_once_its_start_is_durable() {
    for (fenced, expected) in [
        (true, vec!["created", "step_started"]),
        (false, vec!["created"]),
    ] {
        for_each_store(async |store| {
            let handle: Arc<OnceLock<everstep::RunHandle>> = Arc::default();
            let inside = handle.clone();
            let code = move |ctx: Ctx, _: ()| {
                let handle = inside.clone();
                async move {
                    let work = || async {
                        let journal = handle.get().unwrap().journal().await?;
                        let kinds: Vec<_> = journal
                            .iter()
                            .map(|entry| entry.record.body.type_name().to_owned())
                            .collect();
                        Ok::<_, Error>(kinds)
                    };
                    let step = ctx.step("a", work);
                    if fenced {
                        step.fenced().await
                    } else {
                        step.await
                    }
                }
            };
            let test = store
                .engine()
                .workflows(Workflows::new().function("w", code))
                .start()
                .await;
            let run = start(&test).await;
            handle.set(run.clone()).unwrap();
            assert_eq!(output::<Vec<String>>(&run).await, expected);
        });
    }
}

#[test]
fn a_fenced_step_is_retried_with_each_start_durable() {
    for_each_store(async |store| {
        let mut test = store
            .engine()
            .workflows(
                Workflows::new().function("w", |ctx: Ctx, _: ()| async move {
                    let work = |step: everstep::operation::StepContext| async move {
                        tokio::time::sleep(minutes(10)).await;
                        if step.attempt < 3 {
                            Err(Error::new("again"))
                        } else {
                            Ok(step.attempt)
                        }
                    };
                    ctx.step_with("a", work).fenced().await
                }),
            )
            .start()
            .await;
        start(&test).await;
        test.advance(minutes(5)).await;
        test.restart().await;
        let run = test.run("r").await.unwrap();
        assert_eq!(output::<u32>(&run).await, 3);
        let journal = test.journal(&run).await;
        assert_eq!(
            (journal.count("step_started"), journal.count("step_failed")),
            (3, 1)
        );
    });
}

#[test]
fn a_caught_error_of_a_step_may_be_returned_as_it_is() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(
                Workflows::new().function("w", |ctx: Ctx, _: ()| async move {
                    let result = ctx.step("a", || fail("no luck")).retry(Retry::none()).await;
                    assert!(
                        result
                            .as_ref()
                            .is_err_and(|error| error.is(ErrorCode::StepExhausted))
                    );
                    result
                }),
            )
            .start()
            .await;
        assert_eq!(failure(&start(&test).await).await.message, "no luck");
    });
}
