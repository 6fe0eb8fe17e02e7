//! Settling operations without a result: skipping and editing steps, making operations and runs
//! fail. The first record in the journal wins.

use everstep::control::{Because, Effect};
use everstep::journal::Body;
use everstep::{
    AnyEvent, Ctx, Error, ErrorCode, Failure, Retry, RunStatus, WaitError, Workflows, millis,
    minutes, secs,
};

use crate::control_support::{resting, slow, status_everywhere, two_steps};
use crate::support::{Ping, Seen, failure, for_each_store, json, ok, output, ping, start};

// B183
#[test]
fn a_step_in_flight_is_skipped_and_its_work_is_stopped() {
    for_each_store(async |store| {
        let seen: Seen<&str> = Seen::new();
        let saw = seen.clone();
        let code = move |ctx: Ctx<AnyEvent>, (): ()| {
            let saw = saw.clone();
            async move {
                let a: String = ctx
                    .step("a", || async {
                        tokio::time::sleep(minutes(10)).await;
                        saw.add("done");
                        Ok::<_, Error>("worked".to_owned())
                    })
                    .await?;
                Ok::<_, Error>(a)
            }
        };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let run = start(&test).await;
        test.advance(secs(1)).await;
        let done = run
            .skip_step("a")
            .result("skipped")
            .by("alice")
            .await
            .unwrap();
        assert!(done.changed());
        assert_eq!(output::<String>(&run).await, "skipped");
        test.advance(minutes(20)).await;
        assert!(seen.take().is_empty(), "the work went on");
        let info = run.inspect().await.unwrap();
        assert_eq!(info.overview.steps[0].status.as_str(), "skipped");
        let journal = test.journal(&run).await;
        assert!(journal.entries().iter().any(|entry| matches!(
            &entry.record.body, Body::StepSkipped(skipped) if skipped.by.as_deref() == Some("alice")
        )));
        let late = run.skip_step("a").await.unwrap();
        assert_eq!(late.effect, Effect::Nothing(Because::Finished));
    });
}

// B183
#[test]
fn a_step_between_two_attempts_gets_an_edited_result() {
    for_each_store(async |store| {
        for evicted in [false, true] {
            let code = |ctx: Ctx<AnyEvent>, (): ()| async move {
                ctx.step("s", || async { Err::<u32, _>(Error::new("busy")) })
                    .retry(Retry::constant(5, minutes(10)))
                    .await
            };
            let mut engine = store
                .engine()
                .workflows(Workflows::new().function("w", code));
            if evicted {
                engine = engine.evict_all();
            }
            let test = engine.start().await;
            let id = format!("r{evicted}");
            let run = test.start_by_name("w", json(&())).id(id).await.unwrap();
            test.reach(&run, RunStatus::Retrying).await;
            run.edit_step("s:0", &42).await.unwrap();
            assert_eq!(output::<u32>(&run).await, 42);
            drop(run);
            assert!(store.timers_left(test).await.is_empty());
        }
    });
}

// B183
#[test]
fn operations_with_a_result_cannot_be_settled() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", two_steps))
            .start()
            .await;
        let run = start(&test).await;
        test.advance(millis(150)).await;
        for refused in [
            run.skip_step("a").await,
            run.edit_step("a", &5).await,
            run.fail_operation("a", "no").await,
        ] {
            let refused = refused.unwrap_err();
            assert_eq!(refused.code(), ErrorCode::WrongState);
            assert!(
                refused.to_string().contains("step `a:0` is completed"),
                "{refused}"
            );
        }
        for refused in [run.skip_step("c").await, run.skip_step("a:1").await] {
            assert_eq!(refused.unwrap_err().code(), ErrorCode::UnknownOperation);
        }
        let nonsense = run.skip_step("a/").await.unwrap_err();
        assert_eq!(nonsense.code(), ErrorCode::InvalidOptions);
        assert_eq!(output::<u32>(&run).await, 3);
    });
}

// B183
#[test]
fn of_a_concurrent_skip_and_completion_the_first_in_the_journal_wins() {
    for_each_store(async |store| {
        let code = |ctx: Ctx<AnyEvent>, (): ()| async move {
            let a: u32 = ctx.step("a", || slow(10, 1)).await?;
            ctx.step("b", || slow(5, a)).await
        };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let mut skipped = 0;
        for moment in 0..40u64 {
            let id = format!("r{moment}");
            let run = test.start_by_name("w", json(&())).id(id).await.unwrap();
            test.advance(millis(8 + moment % 4)).await;
            for _ in 0..moment / 4 {
                tokio::task::yield_now().await;
            }
            let done = run.skip_step("a").result(&100).await;
            let result = output::<u32>(&run).await;
            let journal = test.journal(&run).await;
            match done {
                Ok(done) => {
                    assert!(done.changed());
                    assert_eq!((result, journal.count("step_skipped")), (100, 1));
                    skipped += 1;
                }
                Err(error) => {
                    assert_eq!(error.code(), ErrorCode::WrongState, "{error}");
                    assert_eq!((result, journal.count("step_skipped")), (1, 0));
                }
            }
        }
        assert!((1..40).contains(&skipped), "{skipped}");
    });
}

// B183
#[test]
fn an_operation_failed_by_an_operator_has_the_operators_message() {
    for_each_store(async |store| {
        let code = |ctx: Ctx<AnyEvent>, (): ()| async move {
            let step = ctx.try_step("s", || slow(600_000, 1u32)).await?;
            let event = ctx.event::<Ping>().await;
            let slept = ctx.sleep("nap", minutes(10)).await;
            let code_of = |failure: &Failure| format!("{}: {}", failure.code, failure.message);
            Ok::<_, Error>(vec![
                step.map_or_else(|failure| code_of(&failure.error), |n| n.to_string()),
                event.map_or_else(|error| code_of(error.failure()), |ping| ping.0.to_string()),
                slept.map_or_else(|error| code_of(error.failure()), |()| "slept".to_owned()),
            ])
        };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let run = start(&test).await;
        test.advance(secs(1)).await;
        run.fail_operation("s", "enough").by("alice").await.unwrap();
        test.reach(&run, RunStatus::Waiting).await;
        let wait = run.inspect().await.unwrap().overview.waits[0]
            .location
            .to_string();
        let no_step = run.skip_step(&wait).await.unwrap_err();
        assert_eq!(no_step.code(), ErrorCode::WrongState);
        run.fail_operation(&wait, "nobody comes").await.unwrap();
        test.reach(&run, RunStatus::Sleeping).await;
        run.fail_operation("nap", "wake up").await.unwrap();
        assert_eq!(
            output::<Vec<String>>(&run).await,
            [
                "forced_failure: enough",
                "forced_failure: nobody comes",
                "forced_failure: wake up"
            ]
        );
        drop(run);
        assert!(store.timers_left(test).await.is_empty());
    });
}

// B183
#[test]
fn a_whole_run_can_be_failed() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(
                Workflows::new()
                    .function("w", resting)
                    .function("steps", two_steps),
            )
            .start()
            .await;
        for workflow in ["w", "steps"] {
            let run = test
                .start_by_name(workflow, json(&()))
                .id(workflow)
                .await
                .unwrap();
            test.advance(millis(20)).await;
            run.force_fail("hopeless").by("alice").await.unwrap();
            let failure = failure(&run).await;
            assert_eq!(
                (failure.code.as_str(), failure.message.as_str()),
                ("forced_failure", "hopeless")
            );
            assert_eq!(status_everywhere(&test, &run).await, RunStatus::Failed);
            let again = run.force_fail("again").await.unwrap();
            assert_eq!(again.effect, Effect::Nothing(Because::Finished));
        }
    });
}

// B183
#[test]
fn other_steps_in_flight_run_again_and_finished_ones_do_not() {
    for_each_store(async |store| {
        let code = |ctx: Ctx<AnyEvent>, (): ()| async move {
            let first: u32 = ctx.step("first", || slow(1, 1)).await?;
            let (a, b) = futures_util::future::join(
                ctx.step("a", || slow(1_000, 1)).into_future(),
                ctx.step("b", || slow(3_600_000, 2)).into_future(),
            )
            .await;
            Ok::<u32, Error>(first + a? + b?)
        };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let run = start(&test).await;
        test.advance(millis(500)).await;
        run.skip_step("b").result(&20).await.unwrap();
        assert_eq!(output::<u32>(&run).await, 22);
        assert_eq!((test.calls("first"), test.calls("a")), (1, 2));
    });
}

// B183
#[test]
fn a_settled_step_needs_no_worker_to_be_recorded() {
    for_each_store(async |store| {
        let code = |ctx: Ctx<AnyEvent>, (): ()| async move {
            ctx.step("s", || async { Err::<u32, _>(Error::new("busy")) })
                .retry(Retry::constant(5, minutes(10)))
                .await
        };
        let mut test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let run = start(&test).await;
        test.reach(&run, RunStatus::Retrying).await;
        test.redeploy(|setup| {
            setup.workflows(Workflows::new().function("other", |_: Ctx<AnyEvent>, (): ()| ok(())))
        })
        .await;
        let run = test.run("r").await.unwrap();
        let done = run.edit_step("s", &9).await.unwrap();
        assert_eq!(done.effect, Effect::NeedsWorker);
        test.redeploy(|setup| setup.workflows(Workflows::new().function("w", code)))
            .await;
        assert_eq!(output::<u32>(&test.run("r").await.unwrap()).await, 9);
    });
}

// B183
#[test]
fn a_wait_whose_event_has_arrived_cannot_be_failed() {
    for_each_store(async |store| {
        let code = |ctx: Ctx<AnyEvent>, (): ()| async move {
            Ok::<_, Error>(ctx.event::<Ping>().await?.0)
        };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let run = start(&test).await;
        test.reach(&run, RunStatus::Waiting).await;
        let wait = run.inspect().await.unwrap().overview.waits[0]
            .location
            .to_string();
        run.pause().await.unwrap();
        test.reach(&run, RunStatus::Paused).await;
        ping(&run, 3).await;
        let refused = run.fail_operation(&wait, "too late").await.unwrap_err();
        assert_eq!(refused.code(), ErrorCode::WrongState);
        run.resume().await.unwrap();
        assert_eq!(output::<u32>(&run).await, 3);
        assert!(!matches!(run.wait_json().await, Err(WaitError::Failed(_))));
    });
}

// B183
#[test]
fn a_run_settled_amid_other_requests_is_executed_again_at_once() {
    for_each_store(async |store| {
        let code = |ctx: Ctx<AnyEvent>, (): ()| async move {
            let a: u32 = ctx.step("a", || slow(600_000, 1)).await?;
            let b: u32 = ctx.step("b", || slow(2, 1)).await?;
            Ok::<_, Error>(a + b)
        };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        for moment in 0..40u32 {
            let id = format!("r{moment}");
            let run = test.start_by_name("w", json(&())).id(id).await.unwrap();
            test.advance(millis(20)).await;
            let late = async {
                for _ in 0..moment % 10 {
                    tokio::task::yield_now().await;
                }
                ping(&run, 1).await;
                run.pause().await.unwrap();
                ping(&run, 2).await;
            };
            let (skipped, ()) = tokio::join!(run.skip_step("a").result(&5).into_future(), late);
            assert!(skipped.unwrap().changed());
            run.resume().await.unwrap();
            // Not by the sweep, which runs every half minute.
            let ended = tokio::time::timeout(secs(5), run.wait_json()).await;
            assert!(ended.is_ok(), "{}", run.why().await.unwrap());
            assert_eq!(output::<u32>(&run).await, 6);
        }
    });
}

// B183
#[test]
fn between_two_executions_no_operation_can_be_made_to_fail_but_the_run_can() {
    for_each_store(async |store| {
        let code = |ctx: Ctx<AnyEvent>, (): ()| async move {
            let waits = ctx.event::<Ping>();
            let fails = ctx.step("s", || async { Err::<u32, _>(Error::new("no")) });
            let fails = fails.retry(Retry::none());
            let (ping, n) = futures_util::future::try_join(waits, fails).await?;
            Ok::<_, Error>(ping.0 + n)
        };
        let options = everstep::Options::new().execution_retries(1_000);
        let test = store
            .engine()
            .workflows(Workflows::new().function_with("w", options, code))
            .start()
            .await;
        let run = start(&test).await;
        test.reach(&run, RunStatus::Retrying).await;
        let before = run.journal().await.unwrap();
        for location in ["ping:0", "s"] {
            let refused = run.fail_operation(location, "no").await.unwrap_err();
            assert_eq!(refused.code(), ErrorCode::WrongState);
            let message = refused.to_string();
            assert!(
                message.contains("its function failed and is retried at "),
                "{message}"
            );
            assert!(
                message.ends_with(
                    "so no operation is in progress; make the whole run fail, or try again then"
                ),
                "{message}"
            );
        }
        assert_eq!(run.journal().await.unwrap(), before);
        run.force_fail("enough").await.unwrap();
        let why = failure(&run).await;
        assert_eq!(why.code, ErrorCode::ForcedFailure.as_str());
        assert_eq!(test.calls("s"), 1);
        drop(run);
        assert_eq!(store.timers_left(test).await, []);
    });
}
