//! Cancelling: orderly, with the reason of the first request, in every state of the run.

use everstep::control::{Because, Effect};
use everstep::journal::Body;
use everstep::{
    AnyEvent, Ctx, Error, ErrorCode, Result, RunHandle, RunStatus, WaitError, Workflows, hours,
    millis, minutes, secs,
};

use crate::control_support::{PING, resting, slow, status_everywhere, two_steps};
use crate::support::{Seen, for_each_store, json, ok, output, restart, start};

async fn cancelled_because(run: &RunHandle) -> Option<String> {
    match run.wait_json().await {
        Err(WaitError::Cancelled(reason)) => reason,
        other => panic!("the run was not cancelled: {other:?}"),
    }
}

// B154
#[test]
fn a_parked_run_is_cancelled_at_once_and_leaves_no_timer() {
    for_each_store(async |store| {
        for evicted in [false, true] {
            let mut engine = store
                .engine()
                .workflows(Workflows::new().function("w", resting));
            if evicted {
                engine = engine.evict_all();
            }
            let test = engine.start().await;
            let id = format!("r{evicted}");
            let run = test.start_by_name("w", json(&())).id(id).await.unwrap();
            test.reach(&run, RunStatus::Sleeping).await;
            let done = run
                .cancel()
                .keep()
                .reason("no need")
                .by("alice")
                .await
                .unwrap();
            assert_eq!(
                (done.status, done.effect),
                (RunStatus::Cancelling, Effect::Done)
            );
            assert_eq!(cancelled_because(&run).await.as_deref(), Some("no need"));
            assert_eq!(status_everywhere(&test, &run).await, RunStatus::Cancelled);
            let refused = run.send_by_name(PING, json(&1), None).await.unwrap_err();
            assert_eq!(refused.code(), ErrorCode::RunFinished);
            drop(run);
            assert!(store.timers_left(test).await.is_empty());
        }
    });
}

// B140
#[test]
fn cancelling_undoes_completed_steps_unless_they_are_kept() {
    for_each_store(async |store| {
        let undone: Seen<u32> = Seen::new();
        let seen = undone.clone();
        let code = move |ctx: Ctx<AnyEvent>, (): ()| {
            let seen = seen.clone();
            async move {
                let undo = async move |done: u32| {
                    seen.add(done);
                    Ok::<_, Error>(())
                };
                ctx.step("a", || ok(7u32)).undo(undo).await?;
                ctx.sleep("rest", hours(1)).await
            }
        };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        for (id, is_kept) in [("undone", false), ("kept", true)] {
            let run = test.start_by_name("w", json(&())).id(id).await.unwrap();
            test.reach(&run, RunStatus::Sleeping).await;
            let cancel = run.cancel();
            let cancel = if is_kept { cancel.keep() } else { cancel };
            cancel.await.unwrap();
            assert_eq!(cancelled_because(&run).await, None);
            let expected: &[u32] = if is_kept { &[] } else { &[7] };
            assert_eq!(undone.take(), expected);
        }
    });
}

// B155
#[test]
fn a_running_step_ends_first_and_its_result_is_kept_but_not_used() {
    for_each_store(async |store| {
        let seen: Seen<String> = Seen::new();
        let saw = seen.clone();
        let code = move |ctx: Ctx<AnyEvent>, (): ()| {
            let saw = saw.clone();
            async move {
                let step = ctx.step("a", || slow(100, 1u32)).await;
                saw.add(format!(
                    "{:?}",
                    step.as_ref().map_err(|error| &error.failure().code)
                ));
                step?;
                ctx.step("b", || slow(100, 2u32)).await
            }
        };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let run = start(&test).await;
        test.advance(millis(50)).await;
        run.cancel().keep().await.unwrap();
        assert_eq!(status_everywhere(&test, &run).await, RunStatus::Cancelling);
        assert_eq!(cancelled_because(&run).await, None);
        assert_eq!(seen.take(), ["Err(\"cancelled\")"]);
        let journal = test.journal(&run).await;
        assert_eq!(journal.count("step_completed"), 1);
        assert_eq!((test.calls("a"), test.calls("b")), (1, 0));
    });
}

// B156
#[test]
fn the_first_reason_is_kept_and_later_requests_do_nothing() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", two_steps))
            .start()
            .await;
        let run = start(&test).await;
        test.advance(millis(50)).await;
        run.cancel().keep().reason("first").await.unwrap();
        let second = run.cancel().reason("second").await.unwrap();
        assert_eq!(second.effect, Effect::Nothing(Because::Ending));
        assert_eq!(second.status, RunStatus::Cancelling);
        assert_eq!(cancelled_because(&run).await.as_deref(), Some("first"));
        let third = run.cancel().keep().await.unwrap();
        assert_eq!(third.effect, Effect::Nothing(Because::Finished));
        assert_eq!(test.journal(&run).await.count("cancel_requested"), 1);
    });
}

// B156
#[test]
fn a_request_records_its_actor_its_reason_and_whether_to_undo() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", resting))
            .start()
            .await;
        let run = start(&test).await;
        run.cancel().reason("why").by("alice").await.unwrap();
        let journal = test.journal(&run).await;
        let request = journal
            .entries()
            .iter()
            .find_map(|entry| match &entry.record.body {
                Body::CancelRequested(request) => Some(request.clone()),
                _ => None,
            });
        let request = request.unwrap();
        assert_eq!(request.by.as_deref(), Some("alice"));
        assert_eq!(request.reason.as_deref(), Some("why"));
        assert!(request.rollback);
    });
}

// B154, B155
#[test]
fn a_paused_run_can_be_cancelled() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", resting))
            .start()
            .await;
        let run = start(&test).await;
        test.reach(&run, RunStatus::Sleeping).await;
        run.pause().await.unwrap();
        test.reach(&run, RunStatus::Paused).await;
        let done = run.cancel().keep().await.unwrap();
        assert_eq!(done.status, RunStatus::Cancelling);
        cancelled_because(&run).await;
    });
}

// B155, B172, B174
#[test]
fn a_cancellation_survives_a_crash() {
    for_each_store(async |store| {
        let mut test = store
            .engine()
            .workflows(Workflows::new().function("w", two_steps))
            .start()
            .await;
        let run = start(&test).await;
        test.advance(millis(50)).await;
        run.cancel().keep().reason("stop").await.unwrap();
        let run = restart(&mut test).await;
        assert_eq!(cancelled_because(&run).await.as_deref(), Some("stop"));
        assert_eq!(test.calls("b"), 0);
    });
}

// B154
#[test]
fn without_a_worker_a_cancellation_is_recorded_and_waits_for_one() {
    for_each_store(async |store| {
        let mut test = store
            .engine()
            .workflows(Workflows::new().function("w", resting))
            .start()
            .await;
        start(&test).await;
        test.advance(secs(1)).await;
        test.redeploy(|setup| {
            setup.workflows(Workflows::new().function("other", |_: Ctx<AnyEvent>, (): ()| ok(())))
        })
        .await;
        let run = test.run("r").await.unwrap();
        let done = run.cancel().keep().await.unwrap();
        assert_eq!(
            (done.status, done.effect),
            (RunStatus::Cancelling, Effect::NeedsWorker)
        );
        assert_eq!(status_everywhere(&test, &run).await, RunStatus::Cancelling);
        test.redeploy(|setup| setup.workflows(Workflows::new().function("w", resting)))
            .await;
        cancelled_because(&test.run("r").await.unwrap()).await;
    });
}

// B155
#[test]
fn cancelling_and_completing_at_the_same_time_leaves_one_or_the_other() {
    async fn one(ctx: Ctx<AnyEvent>, (): ()) -> Result<u32> {
        ctx.step("a", || slow(10, 1)).await
    }
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", one))
            .start()
            .await;
        for at in 5..15 {
            let run = test
                .start_by_name("w", json(&()))
                .id(format!("r{at}"))
                .await
                .unwrap();
            test.advance(millis(at)).await;
            let done = run.cancel().keep().await.unwrap();
            test.advance(secs(1)).await;
            match status_everywhere(&test, &run).await {
                RunStatus::Completed => {
                    assert!(!done.changed());
                    assert_eq!(output::<u32>(&run).await, 1);
                }
                RunStatus::Cancelled => assert!(done.changed()),
                other => panic!("{other}"),
            }
        }
    });
}

// B154
#[test]
fn code_that_continues_after_its_cancellation_is_ended() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(
                Workflows::new().function("w", |ctx: Ctx<AnyEvent>, _: ()| async move {
                    while ctx.sleep("nap", hours(1)).await.is_err() || ctx.random() > 0 {}
                    Ok(())
                }),
            )
            .start()
            .await;
        let run = start(&test).await;
        test.advance(minutes(1)).await;
        run.cancel().keep().await.unwrap();
        test.reach(&run, RunStatus::Cancelled).await;
    });
}
