//! Terminating: takes effect immediately in every state, and leaves no pending timers, rpcs or late
//! records.

use std::sync::Arc;

use everstep::control::{Because, Effect};
use everstep::journal::{Body, Generation, Location};
use everstep::schemars::{self, JsonSchema};
use everstep::{
    AnyEvent, Ctx, ErrorCode, Result, Rpc, RunHandle, RunId, RunStatus, WaitError, Workflows,
    millis, minutes, secs,
};
use everstep_model::StreamName;
use everstep_store::{DeliverCommit, InboxLease, Store, StreamRef};
use serde::Serialize;

use crate::control_support::{PING, resting, slow, status_everywhere, two_steps};
use crate::support::{TestStore, for_each_store, json, ok, output, start};

async fn terminated_because(run: &RunHandle) -> Option<String> {
    match run.wait_json().await {
        Err(WaitError::Terminated(reason)) => reason,
        other => panic!("the run was not terminated: {other:?}"),
    }
}

// B149
#[test]
fn a_step_in_flight_is_abandoned_and_writes_nothing_after_the_end() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", two_steps))
            .start()
            .await;
        let run = start(&test).await;
        test.advance(millis(50)).await;
        let done = run.terminate().reason("stuck").by("alice").await.unwrap();
        assert_eq!(
            (done.status, done.effect),
            (RunStatus::Terminated, Effect::Done)
        );
        assert_eq!(status_everywhere(&test, &run).await, RunStatus::Terminated);
        assert_eq!(terminated_because(&run).await.as_deref(), Some("stuck"));
        test.advance(minutes(5)).await;
        let journal = test.journal(&run).await;
        let last = &journal.entries().last().unwrap().record.body;
        let abandoned: Vec<Location> = vec!["a:0".parse().unwrap()];
        assert!(
            matches!(last, Body::Terminated(end) if end.abandoned == abandoned
            && end.by.as_deref() == Some("alice"))
        );
        assert_eq!(journal.count("step_completed"), 0);
        assert_eq!(
            (test.calls("a"), test.calls("b"), test.hot_runs()),
            (1, 0, 0)
        );
        let again = run.terminate().reason("again").await.unwrap();
        assert_eq!(again.effect, Effect::Nothing(Because::Finished));
        assert_eq!(terminated_because(&run).await.as_deref(), Some("stuck"));
    });
}

#[derive(Serialize, JsonSchema)]
struct Approve;
impl Rpc for Approve {
    const METHOD: &'static str = "approve";
    type Answer = bool;
}

// B149, B154
#[test]
fn timers_and_rpcs_of_a_terminated_run_are_removed() {
    for_each_store(async |store| {
        let code = |ctx: Ctx<AnyEvent>, (): ()| async move {
            ctx.sleep("first", millis(10)).await?;
            let (answer, slept) = futures_util::future::join(
                ctx.rpc(Approve).timeout(minutes(10)).into_future(),
                ctx.sleep("nap", minutes(20)).into_future(),
            )
            .await;
            slept?;
            answer
        };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let run = test
            .start_by_name("w", json(&()))
            .id("r")
            .deadline(minutes(60))
            .await
            .unwrap();
        test.reach(&run, RunStatus::Waiting).await;
        let rpc = run.inspect().await.unwrap().overview.rpcs[0].rpc_id.clone();
        run.terminate().await.unwrap();
        let refused = run.answer_json(&rpc, json(&true)).await.unwrap_err();
        assert_eq!(refused.code(), ErrorCode::RpcNotOpen);
        let refused = run.send_by_name(PING, json(&1), None).await.unwrap_err();
        assert_eq!(refused.code(), ErrorCode::RunFinished);
        drop(run);
        assert!(store.timers_left(test).await.is_empty());
    });
}

// B149
#[test]
fn a_run_without_a_worker_is_terminated_at_once() {
    for_each_store(async |store| {
        let mut test = store
            .engine()
            .workflows(Workflows::new().function("w", resting))
            .start()
            .await;
        start(&test).await;
        test.redeploy(|setup| {
            setup.workflows(Workflows::new().function("other", |_: Ctx<AnyEvent>, (): ()| ok(())))
        })
        .await;
        let run = test.run("r").await.unwrap();
        let done = run.terminate().await.unwrap();
        assert_eq!(
            (done.status, done.effect),
            (RunStatus::Terminated, Effect::Done)
        );
        assert_eq!(status_everywhere(&test, &run).await, RunStatus::Terminated);
        drop(run);
        assert!(store.timers_left(test).await.is_empty());
    });
}

// B149
#[test]
fn a_paused_a_cancelling_and_an_evicted_run_are_terminated_too() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .evict_all()
            .workflows(Workflows::new().function("w", resting))
            .start()
            .await;
        for (id, pause) in [("paused", true), ("evicted", false)] {
            let run = test.start_by_name("w", json(&())).id(id).await.unwrap();
            test.reach(&run, RunStatus::Sleeping).await;
            if pause {
                run.pause().await.unwrap();
                test.reach(&run, RunStatus::Paused).await;
            }
            run.terminate().await.unwrap();
            assert_eq!(status_everywhere(&test, &run).await, RunStatus::Terminated);
        }
        let stubborn = |ctx: Ctx<AnyEvent>, (): ()| async move {
            ctx.step("s", || slow(3_600_000, 1u32)).await
        };
        test.shutdown().await;
        drop(test);
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", stubborn))
            .start()
            .await;
        let run = test.start_by_name("w", json(&())).id("c").await.unwrap();
        test.advance(millis(10)).await;
        run.cancel().keep().await.unwrap();
        test.advance(secs(10)).await;
        assert_eq!(status_everywhere(&test, &run).await, RunStatus::Cancelling);
        run.terminate().reason("enough").await.unwrap();
        assert_eq!(terminated_because(&run).await.as_deref(), Some("enough"));
    });
}

async fn ten_steps(ctx: Ctx<AnyEvent>, (): ()) -> Result<u32> {
    let mut sum = 0;
    for n in 0..10u32 {
        sum += ctx.step("s", || slow(u64::from(n % 2), n)).await?;
    }
    Ok(sum)
}

// B149
#[test]
fn terminating_at_any_point_ends_the_journal_there() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", ten_steps))
            .start()
            .await;
        let mut terminated = 0;
        for moment in 0..60u32 {
            let id = format!("r{moment}");
            let run = test.start_by_name("w", json(&())).id(id).await.unwrap();
            for _ in 0..moment {
                tokio::task::yield_now().await;
            }
            let done = run.terminate().await.unwrap();
            test.advance(secs(1)).await;
            let journal = test.journal(&run).await;
            let last = &journal.entries().last().unwrap().record.body;
            assert_eq!(last.terminal(), Some(done.status), "{:?}", journal.lines());
            let ends = journal.entries().iter();
            let ends = ends.filter(|entry| entry.record.body.terminal().is_some());
            assert_eq!(ends.count(), 1);
            terminated += usize::from(done.changed());
            if !done.changed() {
                assert_eq!(output::<u32>(&run).await, 45);
            }
        }
        assert!(terminated > 10, "{terminated}");
    });
}

/// Performs only the first commit of a termination.
async fn withdraw(store: &dyn Store) {
    let name = StreamName::of_run(&RunId::new("r").unwrap(), Generation::FIRST);
    let head = store.head(StreamRef::Name(name)).await.unwrap().unwrap();
    let mut commit = DeliverCommit::new(head.number, head.run.unwrap().updated_at);
    commit.lease = InboxLease::Revoke;
    commit.ready = Some(true);
    store.commit(&[commit.into()]).await.unwrap();
}

// B149, B158
#[test]
fn an_interrupted_termination_leaves_a_run_that_continues_and_can_be_terminated() {
    for_each_store(async |store| {
        let TestStore::Memory(memory) = store else {
            return;
        };
        for terminate_again in [false, true] {
            let test = store
                .engine()
                .workflows(Workflows::new().function("w", two_steps))
                .start()
                .await;
            let run = start(&test).await;
            test.advance(millis(50)).await;
            let shared: Arc<dyn Store> = Arc::new(memory.clone());
            withdraw(&*shared).await;
            if terminate_again {
                assert!(run.terminate().await.unwrap().changed());
                terminated_because(&run).await;
            } else {
                assert_eq!(output::<u32>(&run).await, 3);
            }
            run.delete().await.unwrap();
            test.shutdown().await;
        }
    });
}
