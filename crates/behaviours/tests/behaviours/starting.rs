//! Starting runs: identity, idempotency, unknown workflows and versions.

use std::ops::RangeInclusive;
use std::sync::Arc;

use everstep::journal::Body;
use everstep::testing::VirtualRuntime;
use everstep::{
    AnyEvent, Ctx, ErrorCode, Result, RunStatus, Workflow, Workflows, hours, minutes, secs,
};
use everstep_store::MemoryStore;
use futures_util::future::join_all;

use crate::support::{Ping, for_each_store, json, ok, output, ping, restart, start, start_with};

async fn once(ctx: Ctx<AnyEvent>, n: u32) -> Result<u32> {
    ctx.step("work", || ok(n)).await?;
    ctx.sleep("nap", hours(1)).await?;
    Ok(n)
}

// B201, B207, B162
#[test]
fn one_id_is_one_run_however_often_it_is_started() {
    for_each_store(async |store| {
        let mut test = store
            .engine()
            .workflows(Workflows::new().function("w", once))
            .start()
            .await;
        let starts =
            (0..20_u32).map(async |n| test.start_by_name("w", json(&n)).id("r").await.unwrap());
        let runs = join_all(starts).await;
        assert_eq!(runs.iter().filter(|run| run.created()).count(), 1);
        drop(runs);
        test.advance(minutes(1)).await;
        test.restart().await;
        let run = start_with(&test, &99).await;
        assert!(!run.created());
        assert_eq!(output::<u32>(&run).await, 0);
        let run = start_with(&test, &99).await;
        assert!(!run.created(), "not even when it is over");
        assert_eq!(test.calls("work"), 1);
    });
}

#[test]
fn the_last_id_of_a_start_counts() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", once))
            .start()
            .await;
        let start = test.start_by_name("w", json(&7)).idempotency_key("secret");
        let start = start.id("").id("r");
        assert_eq!(format!("{start:?}"), "StartRun(w)");
        assert_eq!(start.await.unwrap().id().as_str(), "r");
        let start = test.start_by_name("w", json(&7)).id("r").id("");
        assert!(start.await.is_err());
    });
}

#[test]
fn a_redeployment_keeps_the_storage() {
    for_each_store(async |store| {
        let workflows = || Workflows::new().function("w", once);
        let mut test = store.engine().workflows(workflows()).start().await;
        drop(start_with(&test, &1).await);
        let other = Arc::new(MemoryStore::new(Arc::new(VirtualRuntime::new(1))));
        test.redeploy(|setup| setup.workflows(workflows()).store(other))
            .await;
        assert!(!start_with(&test, &1).await.created());
    });
}

#[test]
fn a_run_keeps_the_trace_context_of_its_start() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", once))
            .start()
            .await;
        let line = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let start = test.start_by_name("w", json(&1)).id("r");
        let run = start.trace(line.parse().unwrap()).await.unwrap();
        let journal = run.journal().await.unwrap();
        let Body::Created(created) = &journal[0].record.body else {
            panic!("a journal begins otherwise");
        };
        assert_eq!(created.trace.unwrap().to_string(), line);
    });
}

// B162
#[test]
fn a_strict_start_refuses_an_id_that_exists() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", once))
            .start()
            .await;
        let strict = async || test.start_by_name("w", json(&1)).id("r").strict().await;
        assert!(strict().await.unwrap().created());
        let error = strict().await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::RunExists);
        assert!(error.to_string().contains("`r`"), "{error}");
    });
}

#[test]
fn an_id_that_belongs_to_another_workflow_is_refused() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", once).function("other", once))
            .start()
            .await;
        start_with(&test, &1).await;
        let error = test
            .start_by_name("other", json(&1))
            .id("r")
            .await
            .unwrap_err();
        assert_eq!(error.code(), ErrorCode::RunExists);
        assert!(
            error.to_string().contains("`w`") && error.to_string().contains("`other`"),
            "{error}"
        );
    });
}

// B161
#[test]
fn one_idempotency_key_is_one_run_even_if_many_start_at_once() {
    for_each_store(async |store| {
        let mut test = store
            .engine()
            .workflows(Workflows::new().function("w", once).function("other", once))
            .start()
            .await;
        let starts = (0..20_u32).map(async |n| {
            let run = test
                .start_by_name("w", json(&n))
                .idempotency_key("k")
                .await
                .unwrap();
            (run.id().clone(), run.created())
        });
        let runs = join_all(starts).await;
        assert_eq!(runs.iter().filter(|(_, created)| *created).count(), 1);
        assert!(runs.iter().all(|(id, _)| *id == runs[0].0));
        test.advance(minutes(1)).await;
        test.restart().await;
        let again = test
            .start_by_name("w", json(&7))
            .idempotency_key("k")
            .await
            .unwrap();
        let before = again.journal().await.unwrap();
        assert_eq!((again.id(), again.created()), (&runs[0].0, false));
        test.advance(secs(1)).await;
        assert_eq!(
            again.journal().await.unwrap(),
            before,
            "a parked run is not kicked"
        );
        assert_eq!(output::<u32>(&again).await, 0);
        let other = test
            .start_by_name("other", json(&7))
            .idempotency_key("k")
            .await
            .unwrap();
        assert!(other.created(), "keys belong to a workflow");
        assert_eq!(test.calls("work"), 1);
    });
}

// B164
#[test]
fn a_run_of_an_unregistered_workflow_waits_and_why_explains_it() {
    for_each_store(async |store| {
        let mut test = store
            .engine()
            .workflows(Workflows::new().function("w", once))
            .start()
            .await;
        start_with(&test, &5).await;
        test.advance(minutes(1)).await;
        test.redeploy(|deploy| deploy).await;
        test.advance(hours(2)).await;
        let run = test.run("r").await.unwrap();
        assert!(!run.status().await.unwrap().is_terminal());
        let why = run.why().await.unwrap().to_string();
        assert!(
            why.contains("no live worker that offers workflow `w` in version 1"),
            "{why}"
        );
        let started = test.start_by_name("w", json(&1)).await;
        match store.remembers_workflows() {
            true => assert!(started.unwrap().created(), "it is remembered"),
            false => {
                let error = started.unwrap_err();
                assert_eq!(error.code(), ErrorCode::UnknownWorkflow);
            }
        }
        test.redeploy(|deploy| deploy.workflows(Workflows::new().function("w", once)))
            .await;
        assert_eq!(output::<u32>(&test.run("r").await.unwrap()).await, 5);
    });
}

/// A workflow whose code supports a range of versions.
struct Versioned<const FIRST: u32, const LAST: u32>;

impl<const FIRST: u32, const LAST: u32> Workflow for Versioned<FIRST, LAST> {
    const NAME: &'static str = "versioned";
    const VERSIONS: RangeInclusive<u32> = FIRST..=LAST;
    type Input = ();
    type Output = u32;
    type Interface = ();

    async fn run(&self, ctx: Ctx<Self>, _: ()) -> Result<u32> {
        ctx.sleep("nap", hours(1)).await?;
        Ok(ctx.metadata().version)
    }
}

#[test]
fn a_run_keeps_the_version_it_was_created_with() {
    for_each_store(async |store| {
        let mut test = store
            .engine()
            .workflows(Workflows::new().workflow(Versioned::<1, 1>))
            .start()
            .await;
        test.start::<Versioned<1, 1>>(&()).id("old").await.unwrap();
        test.advance(minutes(1)).await;
        test.redeploy(|deploy| deploy.workflows(Workflows::new().workflow(Versioned::<2, 2>)))
            .await;
        test.advance(hours(2)).await;
        let why = test
            .run("old")
            .await
            .unwrap()
            .why()
            .await
            .unwrap()
            .to_string();
        assert!(why.contains("`versioned` in version 1"), "{why}");
        test.redeploy(|deploy| deploy.workflows(Workflows::new().workflow(Versioned::<1, 2>)))
            .await;
        assert_eq!(output::<u32>(&test.run("old").await.unwrap()).await, 1);
        assert_eq!(
            test.start_and_wait::<Versioned<1, 2>>(&()).await.unwrap(),
            2
        );
    });
}

#[test]
fn an_unknown_run_is_not_found() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(
                Workflows::new()
                    .workflow(Versioned::<1, 1>)
                    .function("w", once),
            )
            .start()
            .await;
        let error = test.run("nobody").await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::UnknownRun);
        assert!(error.to_string().contains("`nobody`"), "{error}");
        start_with(&test, &1).await;
        let error = test.run_of::<Versioned<1, 1>>("r").await.unwrap_err();
        assert!(error.to_string().contains("`w`"), "{error}");
    });
}

// B99
#[test]
fn a_run_that_waited_at_shutdown_is_woken_by_an_event_after_a_restart() {
    for_each_store(async |store| {
        let code = |ctx: Ctx<AnyEvent>, _: ()| async move { ctx.event::<Ping>().await };
        let mut test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let run = start(&test).await;
        test.reach(&run, RunStatus::Waiting).await;
        let run = restart(&mut test).await;
        assert_eq!(test.hot_runs(), 0, "nothing is done for a run that waits");
        ping(&run, 8).await;
        assert_eq!(output::<Ping>(&run).await, Ping(8));
    });
}

// B159
#[test]
fn shutting_down_refuses_new_work_and_the_next_engine_continues() {
    for_each_store(async |store| {
        let code = |ctx: Ctx<AnyEvent>, _: ()| async move {
            let short = || async {
                tokio::time::sleep(secs(5)).await;
                ok(1).await
            };
            let long = || async {
                tokio::time::sleep(minutes(5)).await;
                ok(2).await
            };
            let a = ctx.step("short", short).await?;
            let b = ctx.step("long", long).await?;
            Ok::<u32, everstep::Error>(a + b)
        };
        let mut test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let run = start(&test).await;
        test.advance(secs(1)).await;
        let begun = test.now();
        tokio::join!(test.shutdown(), async {
            test.advance(secs(1)).await;
            let error = test.start_by_name("w", json(&())).await.unwrap_err();
            assert_eq!(error.code(), ErrorCode::ShuttingDown);
            let error = run
                .send_by_name("ping", json(&Ping(1)), None)
                .await
                .unwrap_err();
            assert_eq!(error.code(), ErrorCode::ShuttingDown);
        });
        assert_eq!(
            begun.until(test.now()).as_secs(),
            4,
            "it waits for the step in flight, and begins no other"
        );
        assert_eq!(run.status().await.unwrap(), RunStatus::Queued);
        let run = restart(&mut test).await;
        assert_eq!(output::<u32>(&run).await, 3);
        assert_eq!((test.calls("short"), test.calls("long")), (1, 1));
    });
}

// B159
#[test]
fn a_step_that_outlasts_the_grace_period_is_interrupted_and_runs_again() {
    for_each_store(async |store| {
        let code = |ctx: Ctx<AnyEvent>, _: ()| async move {
            let long = || async {
                tokio::time::sleep(minutes(5)).await;
                ok(2).await
            };
            ctx.step("long", long).await
        };
        let mut test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        start(&test).await;
        test.advance(secs(1)).await;
        let begun = test.now();
        test.shutdown().await;
        assert_eq!(begun.until(test.now()).as_secs(), 10);
        let run = restart(&mut test).await;
        assert_eq!(output::<u32>(&run).await, 2);
        assert_eq!(test.calls("long"), 2);
    });
}
