//! Reviving runs: restarting, restarting from an operation and recovering make a new generation;
//! the old journal stays.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use everstep::control::{Because, Effect};
use everstep::journal::{Body, Generation, record};
use everstep::schemars::{self, JsonSchema};
use everstep::testing::TestEngine;
use everstep::{
    AnyEvent, Ctx, Error, ErrorCode, Result, Retry, Rpc, RunHandle, RunStatus, WaitError,
    Workflows, hours, millis, minutes, secs,
};
use futures_util::future::BoxFuture;
use serde::Serialize;

use crate::control_support::{fails_in_b, resting, slow, status_everywhere, two_steps};
use crate::support::{
    Ping, Seen, fail, failure, for_each_store, json, ok, output, ping, restart, start,
};

fn forked_from(entries: &[everstep::journal::Entry]) -> record::ForkedFrom {
    match &entries[0].record.body {
        Body::Created(created) => created.forked_from.clone().unwrap(),
        other => panic!("{other:?}"),
    }
}

/// Has a step whose undo takes an hour, or fails.
async fn undone(ctx: Ctx<AnyEvent>, undo_fails: bool) -> Result<()> {
    let undo = move |()| async move {
        match undo_fails {
            true => Err(Error::fatal("no refund")),
            false => slow(3_600_000, ()).await,
        }
    };
    ctx.step("a", || ok(())).undo(undo).await?;
    Err(Error::fatal("no luck"))
}

/// Calls another step in each execution, which development mode notices.
fn unsteady() -> impl Fn(Ctx<AnyEvent>, ()) -> BoxFuture<'static, Result<()>> + Clone + Send + Sync
{
    let executions = Arc::new(AtomicU32::new(0));
    move |ctx, ()| {
        let name = format!("step-{}", executions.fetch_add(1, Ordering::Relaxed));
        Box::pin(async move {
            ctx.step(&name, || ok(())).await?;
            ctx.sleep("nap", minutes(1)).await
        })
    }
}

async fn retries(ctx: Ctx<AnyEvent>, (): ()) -> Result<u32> {
    let retry = Retry::constant(9, hours(1));
    ctx.step("a", || fail("no luck")).retry(retry).await
}

/// Brings a new run to a status. Returns it with its status after a restart.
async fn run_in(test: &TestEngine, status: RunStatus) -> (RunHandle, RunStatus) {
    let (workflow, input, restarted) = match status {
        RunStatus::Running | RunStatus::Pausing | RunStatus::Cancelling => {
            ("steps", json(&()), RunStatus::Running)
        }
        RunStatus::Queued
        | RunStatus::Sleeping
        | RunStatus::Waiting
        | RunStatus::Paused
        | RunStatus::Cancelled
        | RunStatus::Terminated => ("rest", json(&()), RunStatus::Sleeping),
        RunStatus::Retrying => ("retry", json(&()), RunStatus::Retrying),
        RunStatus::RollingBack => ("undo", json(&false), RunStatus::RollingBack),
        RunStatus::RollbackFailed => ("undo", json(&true), RunStatus::RollbackFailed),
        RunStatus::Diverged => ("unsteady", json(&()), RunStatus::Diverged),
        RunStatus::Completed => ("steps", json(&()), RunStatus::Completed),
        RunStatus::Failed => ("fail", json(&()), RunStatus::Failed),
    };
    let start = test.start_by_name(workflow, input).id(status.as_str());
    let run = start.await.unwrap();
    test.advance(millis(20)).await;
    match status {
        RunStatus::Waiting => test.advance(minutes(61)).await,
        RunStatus::Pausing | RunStatus::Paused => drop(run.pause().await.unwrap()),
        RunStatus::Cancelling | RunStatus::Cancelled => drop(run.cancel().keep().await.unwrap()),
        RunStatus::Terminated => drop(run.terminate().await.unwrap()),
        _ => {}
    }
    test.reach(&run, status).await;
    (run, restarted)
}

// B150
#[test]
fn a_run_is_restarted_from_every_status() {
    for_each_store(async |store| {
        let workflows = Workflows::new()
            .function("steps", two_steps)
            .function("rest", resting)
            .function("fail", fails_in_b)
            .function("undo", undone)
            .function("unsteady", unsteady())
            .function("retry", retries);
        let setup = store.engine().workflows(workflows).development();
        let mut test = setup.start().await;
        for &status in RunStatus::ALL {
            if status == RunStatus::Queued {
                continue;
            }
            let (run, restarted) = run_in(&test, status).await;
            let done = run.restart().by("alice").await.unwrap();
            assert_eq!(
                (done.effect, done.generation),
                (Effect::Done, Generation(2)),
                "{status}"
            );
            assert_eq!(run.generation().await.unwrap(), Generation(2));
            let from = forked_from(&run.journal().await.unwrap());
            assert_eq!(from.generation, Generation(1), "{status}");
            test.reach(&run, restarted).await;
            test.advance(millis(10)).await;
            assert_eq!(status_everywhere(&test, &run).await, restarted, "{status}");
            let journal = test.journal(&run).await;
            assert!(journal.count("event") + journal.count("pause_requested") == 0);
            run.delete().await.unwrap();
        }
        // Without a worker that offers the workflow, a run stays queued.
        drop(run_in(&test, RunStatus::Sleeping).await);
        test.redeploy(|setup| setup).await;
        let run = test.run("sleeping").await.unwrap();
        for generation in [2, 3] {
            let done = run.restart().await.unwrap();
            assert_eq!(done.generation, Generation(generation));
            test.advance(minutes(1)).await;
            assert_eq!(status_everywhere(&test, &run).await, RunStatus::Queued);
        }
    });
}

// B150
#[test]
fn a_restart_wipes_steps_timers_and_events() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", resting))
            .start()
            .await;
        let run = start(&test).await;
        ping(&run, 1).await;
        test.reach(&run, RunStatus::Sleeping).await;
        test.advance(minutes(30)).await;
        run.restart().await.unwrap();
        test.advance(minutes(45)).await;
        // The sleep began again, and the event of the first generation is not kept.
        assert_eq!(run.status().await.unwrap(), RunStatus::Sleeping);
        test.advance(minutes(30)).await;
        assert_eq!(run.status().await.unwrap(), RunStatus::Waiting);
        ping(&run, 2).await;
        assert_eq!(output::<u32>(&run).await, 2);
    });
}

async fn three_steps(ctx: Ctx<AnyEvent>, (): ()) -> Result<u32> {
    let a: u32 = ctx.step("a", || slow(1, 1)).await?;
    let b: u32 = ctx.step("b", || slow(1, 10)).await?;
    let c: u32 = ctx.step("c", || slow(1, b * 10)).await?;
    Ok(a + b + c)
}

// B151
#[test]
fn a_restart_from_a_step_keeps_earlier_results() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", three_steps))
            .start()
            .await;
        let run = start(&test).await;
        assert_eq!(output::<u32>(&run).await, 111);
        let unknown = run.restart_from("d").await.unwrap_err();
        assert_eq!(unknown.code(), ErrorCode::UnknownOperation);
        let done = run.restart_from("b").await.unwrap();
        assert_eq!(done.generation, Generation(2));
        assert_eq!(output::<u32>(&run).await, 111);
        assert_eq!(
            (test.calls("a"), test.calls("b"), test.calls("c")),
            (1, 2, 2)
        );
        let done = run
            .restart_from("b")
            .with_result(&20)
            .by("alice")
            .await
            .unwrap();
        assert_eq!(done.generation, Generation(3));
        assert_eq!(output::<u32>(&run).await, 221);
        assert_eq!(
            (test.calls("a"), test.calls("b"), test.calls("c")),
            (1, 2, 3)
        );
        let from = forked_from(&run.journal().await.unwrap());
        assert_eq!((from.generation, from.keys_of), (Generation(2), None));
    });
}

// B151, B152
#[test]
fn a_live_run_restarts_from_a_step_unless_another_is_running_outside_the_cut() {
    for_each_store(async |store| {
        let code = |ctx: Ctx<AnyEvent>, (): ()| async move {
            let a: u32 = ctx.step("a", || slow(1, 1)).await?;
            let long = ctx.step("long", || slow(1_000, 5u32)).into_future();
            let short = async {
                let b: u32 = ctx.step("b", || slow(1, 2)).await?;
                ctx.sleep("nap", minutes(10)).await?;
                Ok::<_, Error>(b)
            };
            let (long, short) = futures_util::future::join(long, short).await;
            Ok::<u32, Error>(a + long? + short?)
        };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let run = start(&test).await;
        test.advance(millis(100)).await;
        let refused = run.restart_from("b").await.unwrap_err();
        assert_eq!(refused.code(), ErrorCode::WrongState);
        assert!(refused.to_string().contains("`long:0`"), "{refused}");
        assert_eq!(
            run.generation().await.unwrap(),
            Generation(1),
            "it continues"
        );
        test.advance(secs(10)).await;
        run.restart_from("b").await.unwrap();
        assert_eq!(output::<u32>(&run).await, 8);
        // An operation that began before the cut and ended after it is kept.
        assert_eq!(
            (test.calls("a"), test.calls("long"), test.calls("b")),
            (1, 1, 2)
        );
    });
}

// B47
#[test]
fn a_failed_run_is_recovered_where_it_failed_with_its_attempts_counted_anew() {
    for_each_store(async |store| {
        let works = Arc::new(AtomicBool::new(false));
        let keys: Seen<(u32, String)> = Seen::new();
        let (bank, saw) = (works.clone(), keys.clone());
        let code = move |ctx: Ctx<AnyEvent>, (): ()| {
            let (bank, saw) = (bank.clone(), saw.clone());
            async move {
                let a: u32 = ctx.step("a", || slow(1, 1)).await?;
                let b: u32 = ctx
                    .step_with("b", |step| {
                        saw.add((step.attempt, step.idempotency_key()));
                        let works = bank.load(Ordering::Relaxed);
                        async move {
                            if works {
                                Ok(2)
                            } else {
                                Err(Error::new("no bank"))
                            }
                        }
                    })
                    .retry(Retry::constant(1, millis(10)))
                    .await?;
                Ok::<_, Error>(a + b)
            }
        };
        let mut test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let run = start(&test).await;
        failure(&run).await;
        let first = keys.take();
        let attempts = |seen: &[(u32, String)]| seen.iter().map(|(n, _)| *n).collect::<Vec<_>>();
        assert_eq!(attempts(&first), [1, 2]);
        // It fails again, after as many attempts as before.
        let done = run.recover().by("alice").await.unwrap();
        assert_eq!(
            (done.generation, done.effect),
            (Generation(2), Effect::Done)
        );
        failure(&run).await;
        assert_eq!(attempts(&keys.take()), [1, 2]);
        works.store(true, Ordering::Relaxed);
        run.recover().await.unwrap();
        let run = restart(&mut test).await;
        assert_eq!(output::<u32>(&run).await, 3);
        assert_eq!(run.generation().await.unwrap(), Generation(3));
        let last = keys.take();
        assert_eq!(last[0], first[0], "attempt 1, under the same key");
        assert_eq!(test.calls("a"), 1);
        let nothing = run.recover().await.unwrap();
        assert_eq!(nothing.effect, Effect::Nothing(Because::NotFailed));
        let nothing = run.retry_rollback().await.unwrap();
        assert_eq!(nothing.effect, Effect::Nothing(Because::RollbackDidNotFail));
    });
}

// B47
#[test]
fn cancelled_terminated_and_force_failed_runs_continue_where_they_were() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", resting))
            .start()
            .await;
        for verb in ["cancel", "terminate", "fail", "deadline"] {
            let run = test
                .start_by_name("w", json(&()))
                .id(verb)
                .deadline(minutes(90))
                .await
                .unwrap();
            test.advance(minutes(30)).await;
            match verb {
                "cancel" => drop(run.cancel().keep().await.unwrap()),
                "terminate" => drop(run.terminate().await.unwrap()),
                "fail" => drop(run.force_fail("x").await.unwrap()),
                _ => test.advance(minutes(61)).await,
            }
            assert!(run.wait_json().await.is_err());
            assert!(run.recover().await.unwrap().changed());
            test.advance(minutes(31)).await;
            assert_eq!(
                status_everywhere(&test, &run).await,
                RunStatus::Waiting,
                "{verb}"
            );
            ping(&run, 6).await;
            assert_eq!(output::<u32>(&run).await, 6);
        }
    });
}

// B150
#[test]
fn lists_handles_and_waits_follow_the_latest_generation() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", resting))
            .start()
            .await;
        let run = test
            .start_by_name("w", json(&()))
            .id("r")
            .tag("red")
            .idempotency_key("key")
            .await
            .unwrap();
        test.reach(&run, RunStatus::Sleeping).await;
        let waiting = tokio::spawn({
            let run = run.clone();
            async move { run.wait_json().await }
        });
        test.advance(secs(1)).await;
        run.restart().reason("again").await.unwrap();
        // A wait returns the end of the generation that it began with.
        let ended = waiting.await.unwrap();
        assert!(matches!(ended, Err(WaitError::Terminated(Some(reason))) if reason == "again"));
        test.advance(minutes(61)).await;
        assert_eq!(status_everywhere(&test, &run).await, RunStatus::Waiting);
        let tagged = test.list().tag("red").await.unwrap().runs;
        assert_eq!(tagged.len(), 1);
        assert_eq!(tagged[0].generation, Generation(2));
        let same = test.start_by_name("w", json(&())).id("r").await.unwrap();
        assert!(!same.created());
        let keyed = test
            .start_by_name("w", json(&()))
            .idempotency_key("key")
            .await
            .unwrap();
        assert_eq!(keyed.id(), run.id());
        ping(&keyed, 9).await;
        assert_eq!(output::<u32>(&run).await, 9);
        assert_eq!(output::<u32>(&same).await, 9);
        drop((run, same, keyed));
        assert!(store.timers_left(test).await.is_empty());
    });
}

#[derive(Serialize, JsonSchema)]
struct Approve;
impl Rpc for Approve {
    const METHOD: &'static str = "approve";
    type Answer = bool;
}

// B151
#[test]
fn open_rpcs_get_new_ids_and_timers_keep_their_time() {
    for_each_store(async |store| {
        let code = |ctx: Ctx<AnyEvent>, (): ()| async move {
            let (answer, event) = futures_util::future::join(
                ctx.rpc(Approve).into_future(),
                ctx.event::<Ping>().timeout(minutes(60)).into_future(),
            )
            .await;
            Ok::<_, Error>((answer?, event?.is_some()))
        };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let run = start(&test).await;
        test.reach(&run, RunStatus::Waiting).await;
        let old = run.inspect().await.unwrap().overview.rpcs[0].rpc_id.clone();
        run.terminate().await.unwrap();
        test.advance(minutes(30)).await;
        run.recover().await.unwrap();
        test.reach(&run, RunStatus::Waiting).await;
        let refused = run.answer::<Approve>(&old, &true).await.unwrap_err();
        assert_eq!(refused.code(), ErrorCode::RpcNotOpen);
        test.answer_next::<Approve>(&run, &true).await;
        let before = test.now();
        assert_eq!(output::<(bool, bool)>(&run).await, (true, false));
        assert!(
            test.now() <= before.after(minutes(31)),
            "the deadline stays"
        );
    });
}

// B150
#[test]
fn a_restart_takes_effect_once_at_any_crash_point() {
    for_each_store(async |store| {
        let mut test = store
            .engine()
            .workflows(Workflows::new().function("w", two_steps))
            .start()
            .await;
        let run = start(&test).await;
        test.advance(millis(50)).await;
        run.restart().await.unwrap();
        let run = restart(&mut test).await;
        assert_eq!(output::<u32>(&run).await, 3);
        assert_eq!(run.generation().await.unwrap(), Generation(2));
        assert_eq!(test.list().await.unwrap().runs.len(), 1);
    });
}

// B47, B151
#[test]
fn reviving_from_two_sides_at_once_makes_one_generation() {
    for_each_store(async |store| {
        let failures = Arc::new(AtomicU32::new(0));
        let count = failures.clone();
        let code = move |ctx: Ctx<AnyEvent>, (): ()| {
            let count = count.clone();
            async move {
                ctx.step("s", || async {
                    match count.fetch_add(1, Ordering::Relaxed) {
                        0 => Err(Error::new("first")),
                        n => slow(1_000, n).await,
                    }
                })
                .retry(Retry::none())
                .await
            }
        };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let run = start(&test).await;
        failure(&run).await;
        let (a, b) =
            futures_util::future::join(run.recover().into_future(), run.recover().into_future())
                .await;
        for done in [a.unwrap(), b.unwrap()] {
            assert_eq!(done.generation, Generation(2));
        }
        assert_eq!(output::<u32>(&run).await, 1);
    });
}

// B151
#[test]
fn a_restart_does_not_treat_undone_steps_as_done() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(
                Workflows::new().function("w", |ctx: Ctx<AnyEvent>, (): ()| async move {
                    let charge = ctx
                        .step("charge", || ok(1_u32))
                        .undo(|_| async { Ok::<_, Error>(()) });
                    let charge = charge.await?;
                    let first_life = ctx.metadata().generation.0 == 1;
                    let ship = ctx.step("ship", || async move {
                        if first_life {
                            return Err(Error::fatal("no stock"));
                        }
                        ok(charge + 1).await
                    });
                    ship.await
                }),
            )
            .start()
            .await;
        let run = start(&test).await;
        failure(&run).await;
        run.restart_from("ship").await.unwrap();
        assert_eq!(output::<u32>(&run).await, 2);
        assert_eq!(
            test.calls("charge"),
            2,
            "the charge was given back, so it is made again"
        );
        let refused = run.restart_from("ship").with_result(&7).await;
        assert!(
            refused.is_ok(),
            "nothing was undone in this life: {refused:?}"
        );
    });
}
