//! Pausing and resuming. A pause takes effect immediately, or after the steps in flight.

use everstep::control::{Because, Effect};
use everstep::journal::Body;
use everstep::operation::RpcId;
use everstep::{
    AnyEvent, Ctx, Error, ErrorCode, Result, Retry, RunStatus, Workflows, millis, minutes, secs,
};

use crate::control_support::{PING, resting, slow, status_everywhere, two_steps};
use crate::support::{for_each_store, json, ok, output, ping, restart, start};

// B144
#[test]
fn a_pause_lets_steps_in_flight_finish_and_begins_nothing_new() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", two_steps))
            .start()
            .await;
        let run = start(&test).await;
        test.advance(millis(50)).await;
        let done = run.pause().reason("audit").by("alice").await.unwrap();
        assert_eq!(
            (done.status, done.effect),
            (RunStatus::Pausing, Effect::Done)
        );
        assert_eq!(status_everywhere(&test, &run).await, RunStatus::Pausing);
        let why = run.why().await.unwrap().to_string();
        assert!(why.contains("executes step `a:0`"), "{why}");
        test.advance(secs(10)).await;
        assert_eq!(status_everywhere(&test, &run).await, RunStatus::Paused);
        let why = run.why().await.unwrap().to_string();
        assert!(why.contains("is paused by alice: audit"), "{why}");
        assert_eq!((test.calls("a"), test.calls("b")), (1, 0));
        let done = run.resume().by("bob").await.unwrap();
        assert!(done.changed());
        assert_eq!(output::<u32>(&run).await, 3);
        let journal = test.journal(&run).await;
        assert!(journal.entries().iter().any(|entry| {
            matches!(&entry.record.body, Body::ResumeRequested(r) if r.by.as_deref() == Some("bob"))
        }));
    });
}

async fn retrying(ctx: Ctx<AnyEvent>, (): ()) -> Result<u32> {
    ctx.step("s", || async { Err::<u32, _>(Error::new("busy")) })
        .retry(Retry::constant(5, minutes(10)))
        .await
}

// B145
#[test]
fn a_pause_takes_effect_at_once_in_a_sleep_a_wait_and_a_retry_delay() {
    for_each_store(async |store| {
        for evicted in [false, true] {
            let mut engine = store.engine().workflows(
                Workflows::new()
                    .function("nap", resting)
                    .function("retry", retrying),
            );
            if evicted {
                engine = engine.evict_all();
            }
            let test = engine.start().await;
            for (workflow, status) in [("nap", RunStatus::Sleeping), ("retry", RunStatus::Retrying)]
            {
                let id = format!("{workflow}-{evicted}");
                let input = crate::support::json(&());
                let run = test.start_by_name(workflow, input).id(id).await.unwrap();
                test.reach(&run, status).await;
                run.pause().await.unwrap();
                test.advance(millis(5)).await;
                assert_eq!(status_everywhere(&test, &run).await, RunStatus::Paused);
                assert!(run.resume().await.unwrap().changed());
                test.advance(millis(5)).await;
                assert_eq!(status_everywhere(&test, &run).await, status);
            }
            test.shutdown().await;
        }
    });
}

// B148
#[test]
fn a_second_pause_and_a_pause_after_the_end_do_nothing() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", resting))
            .start()
            .await;
        let run = start(&test).await;
        assert_eq!(
            run.resume().await.unwrap().effect,
            Effect::Nothing(Because::NotPaused)
        );
        test.reach(&run, RunStatus::Sleeping).await;
        assert!(run.pause().await.unwrap().changed());
        for _ in 0..2 {
            let again = run.pause().await.unwrap();
            assert_eq!(again.effect, Effect::Nothing(Because::Paused));
            test.advance(millis(5)).await;
        }
        assert_eq!(test.journal(&run).await.count("pause_requested"), 1);
        run.terminate().await.unwrap();
        for done in [run.pause().await.unwrap(), run.resume().await.unwrap()] {
            assert_eq!(done.effect, Effect::Nothing(Because::Finished));
            assert_eq!(done.status, RunStatus::Terminated);
            assert!(done.to_string().contains("it is over"), "{done}");
        }
    });
}

// B160
#[test]
fn an_unknown_run_is_not_found() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", resting))
            .start()
            .await;
        let run = start(&test).await;
        run.delete().await.unwrap();
        for result in [
            run.pause().await,
            run.resume().await,
            run.cancel().keep().await,
            run.terminate().await,
            run.force_fail("x").await,
            run.restart().await,
            run.recover().await,
            run.retry_rollback().await,
            run.delete().await,
            run.skip_step("s").await,
            run.edit_step("s", &1).await,
            run.fail_operation("s", "x").await,
            run.restart_from("s").await,
        ] {
            assert_eq!(result.unwrap_err().code(), ErrorCode::UnknownRun);
        }
        let rpc = RpcId("rpc_1".into());
        let answers = [
            run.fork().await.unwrap_err().code(),
            run.send_by_name(PING, json(&1), None)
                .await
                .unwrap_err()
                .code(),
            run.answer_json(&rpc, json(&1)).await.unwrap_err().code(),
            run.wait_json().await.unwrap_err().code(),
            run.status().await.unwrap_err().code(),
            run.inspect().await.unwrap_err().code(),
            run.why().await.unwrap_err().code(),
            run.journal().await.unwrap_err().code(),
            run.timeline().await.unwrap_err().code(),
            run.shape().await.unwrap_err().code(),
            test.run("r").await.unwrap_err().code(),
        ];
        assert_eq!(answers, [ErrorCode::UnknownRun; 11]);
    });
}

// B145, B148
#[test]
fn events_during_a_pause_are_seen_in_order_after_resuming() {
    for_each_store(async |store| {
        let mut test = store
            .engine()
            .workflows(Workflows::new().function("w", resting))
            .start()
            .await;
        let run = start(&test).await;
        test.reach(&run, RunStatus::Sleeping).await;
        run.pause().await.unwrap();
        test.advance(minutes(90)).await;
        ping(&run, 7).await;
        assert_eq!(test.journal(&run).await.count("timer_fired"), 1);
        assert_eq!(status_everywhere(&test, &run).await, RunStatus::Paused);
        let run = restart(&mut test).await;
        test.advance(minutes(1)).await;
        assert_eq!(status_everywhere(&test, &run).await, RunStatus::Paused);
        run.resume().await.unwrap();
        assert_eq!(output::<u32>(&run).await, 7);
    });
}

// B144
#[test]
fn a_run_resumed_before_it_was_paused_continues() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", two_steps))
            .start()
            .await;
        let run = start(&test).await;
        test.advance(millis(50)).await;
        run.pause().await.unwrap();
        let done = run.resume().await.unwrap();
        assert_eq!(done.status, RunStatus::Running);
        assert_eq!(status_everywhere(&test, &run).await, RunStatus::Running);
        assert_eq!(output::<u32>(&run).await, 3);
        assert_eq!(test.journal(&run).await.count("paused"), 0);
    });
}

// B144
#[test]
fn pausing_and_completing_at_the_same_time_leaves_one_or_the_other() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", two_steps))
            .start()
            .await;
        for at in 195..206 {
            let input = crate::support::json(&());
            let run = test
                .start_by_name("w", input)
                .id(format!("r{at}"))
                .await
                .unwrap();
            test.advance(millis(at)).await;
            let done = run.pause().await.unwrap();
            test.advance(secs(1)).await;
            let status = status_everywhere(&test, &run).await;
            if done.changed() {
                // Paused while the last step was in flight: its end is recorded after the pause.
                assert_eq!(status, RunStatus::Paused);
                run.resume().await.unwrap();
            } else {
                assert_eq!(status, RunStatus::Completed);
            }
            assert_eq!(output::<u32>(&run).await, 3);
        }
    });
}

// B144
#[test]
fn without_a_worker_a_pause_is_recorded_and_waits_for_one() {
    for_each_store(async |store| {
        let mut test = store
            .engine()
            .workflows(Workflows::new().function("w", resting))
            .start()
            .await;
        let run = start(&test).await;
        test.reach(&run, RunStatus::Sleeping).await;
        test.redeploy(|setup| {
            setup.workflows(Workflows::new().function("other", |_: Ctx<AnyEvent>, (): ()| ok(())))
        })
        .await;
        let run = test.run("r").await.unwrap();
        let done = run.pause().await.unwrap();
        assert_eq!(
            (done.status, done.effect),
            (RunStatus::Pausing, Effect::NeedsWorker)
        );
        assert!(done.to_string().contains("when a worker offers"), "{done}");
        assert_eq!(status_everywhere(&test, &run).await, RunStatus::Pausing);
        test.redeploy(|setup| setup.workflows(Workflows::new().function("w", resting)))
            .await;
        let run = test.run("r").await.unwrap();
        test.reach(&run, RunStatus::Paused).await;
        run.resume().await.unwrap();
        ping(&run, 4).await;
        assert_eq!(output::<u32>(&run).await, 4);
    });
}

// B144
#[test]
fn a_step_that_began_before_the_pause_is_not_done_twice() {
    for_each_store(async |store| {
        let long = |ctx: Ctx<AnyEvent>, (): ()| async move {
            let a: u32 = ctx.step("a", || slow(60_000, 1)).await?;
            Ok::<_, Error>(a)
        };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", long))
            .start()
            .await;
        let run = start(&test).await;
        test.advance(secs(1)).await;
        run.pause().await.unwrap();
        test.advance(secs(120)).await;
        assert_eq!(status_everywhere(&test, &run).await, RunStatus::Paused);
        run.resume().await.unwrap();
        assert_eq!(output::<u32>(&run).await, 1);
        assert_eq!(test.calls("a"), 1);
    });
}
