//! Control from a node that does not execute the run: with hints between the nodes, and without
//! any.

use std::sync::Arc;

use everstep::control::Effect;
use everstep::journal::Generation;
use everstep::testing::{VirtualRuntime, virtual_time};
use everstep::{
    AnyEvent, Ctx, Engine, Error, Result, Retry, RunStatus, WaitError, Workflows, hours, millis,
    minutes, secs,
};
use everstep_store::{LocalBus, MemoryStore};

use crate::control_support::{resting, slow};
use crate::support::{json, ok, output, ping};

struct Pair {
    /// Executes.
    worker: Engine,
    /// Only sends requests.
    office: Engine,
}

async fn long_then_short(ctx: Ctx<AnyEvent>, (): ()) -> Result<u32> {
    let long: u32 = ctx.step("long", || slow(600_000, 1)).await?;
    let short: u32 = ctx.step("short", || slow(10, 2)).await?;
    Ok(long + short)
}

/// A step that works until it is cancelled.
async fn endless(ctx: Ctx<AnyEvent>, (): ()) -> Result<()> {
    ctx.step_with("work", |step| async move {
        step.cancelled().await;
        ok(()).await
    })
    .await
}

/// Two nodes on one store, with a shared bus, or with one bus each so that no hint arrives.
async fn pair(shared_bus: bool) -> Pair {
    let clock = Arc::new(VirtualRuntime::new(0));
    let store = MemoryStore::new(clock);
    let bus = LocalBus::new();
    let node = |n: u64, bus: LocalBus| {
        Engine::on_store(Arc::new(store.clone()))
            .bus(Arc::new(bus))
            .runtime(Arc::new(VirtualRuntime::new(n)))
    };
    let worker = node(1, bus.clone())
        .workflows(
            Workflows::new()
                .function("long", long_then_short)
                .function("rest", resting)
                .function("endless", endless),
        )
        .start()
        .await
        .unwrap();
    let other = if shared_bus { bus } else { LocalBus::new() };
    let office = node(2, other)
        .workflows(Workflows::new().function("other", |_: Ctx<AnyEvent>, (): ()| ok(())))
        .start()
        .await
        .unwrap();
    Pair { worker, office }
}

async fn pass(duration: std::time::Duration) {
    tokio::time::sleep(duration).await;
}

fn with_and_without_hints(test: impl AsyncFn(&Pair, bool)) {
    for shared_bus in [true, false] {
        println!("hints: {shared_bus}");
        virtual_time(async {
            let pair = pair(shared_bus).await;
            test(&pair, shared_bus).await;
            pair.worker.shutdown().await;
            pair.office.shutdown().await;
        });
    }
}

// B149
#[test]
fn a_run_of_another_node_is_terminated_and_none_of_its_results_land() {
    with_and_without_hints(async |pair, _| {
        let run = pair
            .worker
            .start_by_name("long", json(&()))
            .id("r")
            .await
            .unwrap();
        pass(secs(1)).await;
        let run_here = pair.office.run("r").await.unwrap();
        let done = run_here.terminate().reason("enough").await.unwrap();
        assert_eq!(
            (done.status, done.effect),
            (RunStatus::Terminated, Effect::Done)
        );
        pass(minutes(20)).await;
        let journal = run.journal().await.unwrap();
        assert_eq!(
            journal.last().unwrap().record.body.type_name(),
            "terminated"
        );
        assert!(matches!(
            run.wait_json().await,
            Err(WaitError::Terminated(_))
        ));
        assert_eq!(pair.worker.hot_runs(), 0);
    });
}

// B144, B145
#[test]
fn a_run_of_another_node_is_paused_and_resumed() {
    with_and_without_hints(async |pair, hints| {
        for (workflow, id) in [("long", "l"), ("rest", "r")] {
            pair.worker
                .start_by_name(workflow, json(&()))
                .id(id)
                .await
                .unwrap();
            pass(secs(1)).await;
            let run = pair.office.run(id).await.unwrap();
            let done = run.pause().by("alice").await.unwrap();
            assert_eq!(done.status, RunStatus::Pausing);
            pass(minutes(11)).await;
            assert_eq!(
                run.status().await.unwrap(),
                RunStatus::Paused,
                "{id} {hints}"
            );
            run.resume().await.unwrap();
            pass(minutes(1)).await;
        }
        let long = pair.worker.run("l").await.unwrap();
        assert_eq!(output::<u32>(&long).await, 3);
        let rest = pair.worker.run("r").await.unwrap();
        ping(&rest, 8).await;
        assert_eq!(output::<u32>(&rest).await, 8);
    });
}

// B155
#[test]
fn a_run_of_another_node_is_cancelled() {
    with_and_without_hints(async |pair, _| {
        for (workflow, id) in [("long", "l"), ("rest", "r")] {
            pair.worker
                .start_by_name(workflow, json(&()))
                .id(id)
                .await
                .unwrap();
            pass(secs(1)).await;
            let run = pair.office.run(id).await.unwrap();
            let done = run.cancel().keep().reason("why not").await.unwrap();
            assert_eq!(done.status, RunStatus::Cancelling);
            pass(minutes(11)).await;
            assert_eq!(run.status().await.unwrap(), RunStatus::Cancelled);
        }
    });
}

// B183
#[test]
fn a_step_of_another_node_is_skipped_once_and_for_all() {
    with_and_without_hints(async |pair, _| {
        let run = pair
            .worker
            .start_by_name("long", json(&()))
            .id("r")
            .await
            .unwrap();
        pass(secs(1)).await;
        let run_here = pair.office.run("r").await.unwrap();
        run_here.skip_step("long").result(&100).await.unwrap();
        // Without hints, the sweep finds the run without an executor.
        pass(minutes(2)).await;
        assert_eq!(run.status().await.unwrap(), RunStatus::Completed);
        assert_eq!(output::<u32>(&run).await, 102);
        pass(minutes(20)).await;
        let journal = run.journal().await.unwrap();
        let kinds = journal.iter().map(|entry| entry.record.body.type_name());
        assert_eq!(kinds.filter(|kind| *kind == "step_completed").count(), 1);
    });
}

// B47, B150
#[test]
fn a_run_is_revived_by_a_node_that_cannot_execute_it() {
    with_and_without_hints(async |pair, _| {
        let run = pair
            .worker
            .start_by_name("rest", json(&()))
            .id("r")
            .await
            .unwrap();
        pass(secs(1)).await;
        let run_here = pair.office.run("r").await.unwrap();
        run_here.terminate().await.unwrap();
        let done = run_here.recover().await.unwrap();
        assert_eq!(
            (done.generation, done.effect),
            (Generation(2), Effect::NeedsWorker)
        );
        assert_eq!(done.status, RunStatus::Queued);
        pass(minutes(1)).await;
        assert_eq!(run.status().await.unwrap(), RunStatus::Sleeping);
        ping(&run_here, 4).await;
        assert_eq!(output::<u32>(&run).await, 4);
    });
}

// B149, B183
#[test]
fn operators_and_an_executor_that_race_leave_a_run_that_ends() {
    with_and_without_hints(async |pair, _| {
        for n in 0..20u64 {
            let id = format!("r{n}");
            pair.worker
                .start_by_name("long", json(&()))
                .id(id.clone())
                .await
                .unwrap();
            pass(millis(n)).await;
            let run = pair.office.run(&id).await.unwrap();
            let (skip, pause, ping) = tokio::join!(
                run.skip_step("long").result(&1).into_future(),
                run.pause().into_future(),
                run.send_by_name("ping", json(&1), None),
            );
            assert!(pause.is_ok() && ping.is_ok());
            let skipped: std::result::Result<_, Error> =
                skip.map_err(|error| Error::new(error.to_string()));
            run.resume().await.unwrap();
            if skipped.is_err() {
                run.terminate().await.unwrap();
            }
            let run = pair.worker.run(&id).await.unwrap();
            let ended = tokio::time::timeout(minutes(5), run.wait_json()).await;
            assert!(ended.is_ok(), "{id}: {}", run.why().await.unwrap());
        }
    });
}

// B144
#[test]
fn waiting_on_another_node_returns_the_end_and_every_record() {
    with_and_without_hints(async |pair, hints| {
        let started = pair.worker.start_by_name("rest", json(&())).id("r");
        started.await.unwrap();
        pass(secs(1)).await;
        let run = pair.office.run("r").await.unwrap();
        let mut records = run.records().await.unwrap();
        let tail = async {
            let mut count = 0;
            while records.next().await.unwrap().is_some() {
                count += 1;
            }
            count
        };
        let ping_later = async {
            pass(hours(2)).await;
            ping(&pair.worker.run("r").await.unwrap(), 5).await;
        };
        let all = async { tokio::join!(run.wait_json(), tail, ping_later) };
        let finished = tokio::time::timeout(hours(3), all).await;
        let (end, count, ()) = finished.unwrap_or_else(|_| panic!("hints: {hints}"));
        assert_eq!(end.unwrap().as_str(), "5");
        assert_eq!(count, run.journal().await.unwrap().len());
    });
}

// B155
#[test]
fn a_step_is_notified_of_a_cancellation_without_a_hint() {
    with_and_without_hints(async |pair, hints| {
        let started = pair.worker.start_by_name("endless", json(&())).id("r");
        started.await.unwrap();
        pass(secs(1)).await;
        let run = pair.office.run("r").await.unwrap();
        run.cancel().keep().await.unwrap();
        pass(minutes(2)).await;
        let status = run.status().await.unwrap();
        assert_eq!(status, RunStatus::Cancelled, "hints: {hints}");
    });
}

/// A step in flight, and one that waits an hour for its next attempt.
async fn works_and_retries(ctx: Ctx<AnyEvent>, (): ()) -> Result<u32> {
    let works = ctx.step("works", || slow(5_000, 1));
    let retries = ctx.step("retries", || async { Err::<u32, _>(Error::new("busy")) });
    let retries = retries.retry(Retry::constant(5, hours(1)));
    let (works, retries) = tokio::join!(works.into_future(), retries.into_future());
    Ok(works? + retries?)
}

// B155
#[test]
fn a_run_cancelled_while_its_node_shuts_down_does_not_stay_suspended() {
    virtual_time(async {
        let store = MemoryStore::new(Arc::new(VirtualRuntime::new(0)));
        let bus = LocalBus::new();
        let node = |n: u64| {
            Engine::on_store(Arc::new(store.clone()))
                .bus(Arc::new(bus.clone()))
                .runtime(Arc::new(VirtualRuntime::new(n)))
        };
        let worker = node(1)
            .workflows(Workflows::new().function("w", works_and_retries))
            .start();
        let worker = worker.await.unwrap();
        let office = node(2)
            .workflows(Workflows::new().function("other", |_: Ctx<AnyEvent>, (): ()| ok(())));
        let office = office.start().await.unwrap();
        let started = worker.start_by_name("w", json(&())).id("r");
        started.await.unwrap();
        pass(secs(1)).await;
        let run = office.run("r").await.unwrap();
        let cancelled = async {
            pass(secs(1)).await;
            run.cancel().keep().await.unwrap();
        };
        tokio::join!(worker.shutdown(), cancelled);
        let next = node(3)
            .workflows(Workflows::new().function("w", works_and_retries))
            .start();
        let next = next.await.unwrap();
        pass(secs(10)).await;
        assert_eq!(run.status().await.unwrap(), RunStatus::Cancelled);
        next.shutdown().await;
        office.shutdown().await;
    });
}
