//! Runs that have something to do while no worker offers their workflow.

use everstep::control::Effect;
use everstep::inspect::Reason;
use everstep::testing::TestEngine;
use everstep::{
    AnyEvent, Ctx, Result, Retry, RunHandle, RunStatus, Workflows, hours, millis, minutes,
};

use crate::control_support::{resting, slow, status_everywhere, two_steps};
use crate::support::{Ping, fail, for_each_store, json, output, ping, start};

async fn timed_out(ctx: Ctx<AnyEvent>, (): ()) -> Result<u32> {
    let event = ctx.event::<Ping>().timeout(hours(1)).await?;
    Ok(event.map_or(1, |ping| ping.0))
}

async fn retried(ctx: Ctx<AnyEvent>, (): ()) -> Result<u32> {
    let step = ctx.try_step("work", || fail("closed"));
    let step = step.with(|step| step.retry(Retry::constant(1, hours(1))));
    Ok(step.await?.unwrap_or(1))
}

async fn asleep(ctx: Ctx<AnyEvent>, (): ()) -> Result<u32> {
    ctx.sleep("nap", hours(1)).await?;
    Ok(1)
}

async fn waiting(ctx: Ctx<AnyEvent>, (): ()) -> Result<u32> {
    Ok(ctx.event::<Ping>().await?.0)
}

fn workflows() -> Workflows {
    Workflows::new()
        .function("asleep", asleep)
        .function("waiting", waiting)
        .function("timed-out", timed_out)
        .function("retried", retried)
}

/// How the runs of these workflows rest.
const RESTING: [(&str, RunStatus); 4] = [
    ("asleep", RunStatus::Sleeping),
    ("waiting", RunStatus::Waiting),
    ("timed-out", RunStatus::Waiting),
    ("retried", RunStatus::Retrying),
];

/// Checks that a run is queued because no worker offers its workflow.
async fn is_queued(test: &TestEngine, run: &RunHandle) {
    assert_eq!(status_everywhere(test, run).await, RunStatus::Queued);
    let why = run.why().await.unwrap();
    let only_worker = matches!(why.reasons[..], [Reason::NoWorker { .. }]);
    assert!(only_worker, "{why}");
}

async fn journal_status(run: &RunHandle) -> RunStatus {
    run.inspect().await.unwrap().overview.status()
}

// B860, B861
#[test]
fn a_run_that_is_woken_without_a_worker_is_queued_until_one_continues_it() {
    for_each_store(async |store| {
        let mut test = store.engine().workflows(workflows()).start().await;
        for (id, status) in RESTING {
            let run = test.start_by_name(id, json(&())).id(id).await.unwrap();
            test.reach(&run, status).await;
        }
        test.redeploy(|setup| setup).await;
        test.advance(minutes(30)).await;
        for (id, status) in RESTING {
            let run = test.run(id).await.unwrap();
            assert_eq!(status_everywhere(&test, &run).await, status, "{id} rests");
        }
        test.advance(minutes(31)).await;
        ping(&test.run("waiting").await.unwrap(), 1).await;
        for (id, _) in RESTING {
            let run = test.run(id).await.unwrap();
            is_queued(&test, &run).await;
            assert_eq!(journal_status(&run).await, RunStatus::Queued, "{id}");
        }
        test.redeploy(|setup| setup.workflows(workflows())).await;
        for (id, _) in RESTING {
            let run = test.run(id).await.unwrap();
            assert_eq!(output::<u32>(&run).await, 1, "{id}");
            assert_eq!(status_everywhere(&test, &run).await, RunStatus::Completed);
        }
    });
}

// B860, B862
#[test]
fn an_event_that_no_wait_takes_queues_a_run_until_a_worker_has_seen_it() {
    for_each_store(async |store| {
        let rest = || Workflows::new().function("w", resting);
        let mut test = store.engine().workflows(rest()).start().await;
        let run = start(&test).await;
        test.reach(&run, RunStatus::Sleeping).await;
        ping(&run, 1).await;
        test.reach(&run, RunStatus::Sleeping).await;
        test.redeploy(|setup| setup).await;
        let run = test.run("r").await.unwrap();
        ping(&run, 2).await;
        is_queued(&test, &run).await;
        test.redeploy(|setup| setup.workflows(rest())).await;
        let run = test.run("r").await.unwrap();
        test.reach(&run, RunStatus::Sleeping).await;
        assert_eq!(status_everywhere(&test, &run).await, RunStatus::Sleeping);
    });
}

// B862
#[test]
fn a_run_that_its_node_released_between_two_steps_is_queued() {
    for_each_store(async |store| {
        let workflows = Workflows::new().function("w", two_steps);
        let test = store.engine().workflows(workflows).start().await;
        let run = start(&test).await;
        test.advance(millis(50)).await;
        assert_eq!(status_everywhere(&test, &run).await, RunStatus::Running);
        test.shutdown().await;
        drop((run, test));
        let test = store.engine().start().await;
        is_queued(&test, &test.run("r").await.unwrap()).await;
    });
}

// B860
#[test]
fn a_run_that_is_resumed_or_settled_without_a_worker_is_queued() {
    for_each_store(async |store| {
        let mut test = store.engine().workflows(workflows()).start().await;
        for (id, status) in RESTING {
            let run = test.start_by_name(id, json(&())).id(id).await.unwrap();
            test.reach(&run, status).await;
            run.pause().await.unwrap();
            test.reach(&run, RunStatus::Paused).await;
        }
        test.redeploy(|setup| setup).await;
        let retried = test.run("retried").await.unwrap();
        retried.skip_step("work").result(&1).await.unwrap();
        assert_eq!(
            status_everywhere(&test, &retried).await,
            RunStatus::Paused,
            "a pause takes precedence"
        );
        test.advance(minutes(61)).await;
        ping(&test.run("waiting").await.unwrap(), 1).await;
        for (id, _) in RESTING {
            let run = test.run(id).await.unwrap();
            let done = run.resume().await.unwrap();
            let expected = (RunStatus::Queued, Effect::NeedsWorker);
            assert_eq!((done.status, done.effect), expected, "{id}");
            is_queued(&test, &run).await;
        }
    });
}

// B860
#[test]
fn a_run_that_is_resumed_with_a_worker_is_not_queued() {
    for_each_store(async |store| {
        let long = |ctx: Ctx<AnyEvent>, (): ()| async move {
            ctx.sleep("nap", hours(1)).await?;
            ctx.step("long", || slow(3_600_000, 1)).await
        };
        let workflows = Workflows::new().function("w", long);
        let test = store.engine().workflows(workflows).start().await;
        let run = start(&test).await;
        test.reach(&run, RunStatus::Sleeping).await;
        run.pause().await.unwrap();
        test.reach(&run, RunStatus::Paused).await;
        test.advance(minutes(61)).await;
        let done = run.resume().await.unwrap();
        let expected = (RunStatus::Running, Effect::Done);
        assert_eq!((done.status, done.effect), expected);
        test.advance(minutes(1)).await;
        assert_eq!(status_everywhere(&test, &run).await, RunStatus::Running);
    });
}
