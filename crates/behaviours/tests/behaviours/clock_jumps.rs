//! Clocks that jump back and forward: timers never fire early, and never hours late.

use std::sync::Arc;

use everstep::testing::{VirtualRuntime, virtual_time};
use everstep::{Ctx, Engine, RunStatus, Workflows, secs};
use everstep_store::MemoryStore;

use crate::support::json;

const HOUR_MILLIS: i64 = 3_600_000;

async fn node(store: &MemoryStore, process: &Arc<VirtualRuntime>) -> Engine {
    let nap = |ctx: Ctx, _: ()| async move { ctx.sleep("nap", secs(100)).await };
    Engine::on_store(Arc::new(store.clone()))
        .runtime(process.clone())
        .workflows(Workflows::new().function("nap", nap))
        .start()
        .await
        .unwrap()
}

#[test]
fn a_node_whose_clock_was_set_back_still_finds_the_timers_of_a_dead_node() {
    virtual_time(async {
        let store = MemoryStore::new(Arc::new(VirtualRuntime::new(0)));
        let (ahead, right) = (
            Arc::new(VirtualRuntime::new(1)),
            Arc::new(VirtualRuntime::new(2)),
        );
        ahead.set_clock_error(HOUR_MILLIS);
        let survivor = node(&store, &ahead).await;
        tokio::time::sleep(secs(1)).await;
        ahead.set_clock_error(0);
        // Each node has its own bus, so that no hint passes between them.
        let other = node(&store, &right).await;
        let run = other.start_by_name("nap", json(&())).id("r").await.unwrap();
        tokio::time::sleep(secs(1)).await;
        assert_eq!(run.status().await.unwrap(), RunStatus::Sleeping);
        right.crash().await;
        let run = survivor.run("r").await.unwrap();
        run.wait_json_within(secs(200)).await.unwrap();
    });
}

/// Sleeps for a number of seconds.
async fn sleeper(store: &MemoryStore, process: &Arc<VirtualRuntime>) -> Engine {
    let nap = |ctx: Ctx, n: u64| async move { ctx.sleep("nap", secs(n)).await };
    Engine::on_store(Arc::new(store.clone()))
        .runtime(process.clone())
        .workflows(Workflows::new().function("nap", nap))
        .start()
        .await
        .unwrap()
}

// B705
#[test]
fn timers_fire_when_their_time_has_passed_although_the_clock_was_set_back() {
    for jump in [-HOUR_MILLIS, -24 * HOUR_MILLIS] {
        virtual_time(async move {
            let process = Arc::new(VirtualRuntime::new(1));
            let store = MemoryStore::new(process.clone());
            let engine = sleeper(&store, &process).await;
            let began = tokio::time::Instant::now();
            let start = async |id: &str, seconds: u64| {
                let run = engine.start_by_name("nap", json(&seconds)).id(id);
                (run.await.unwrap(), began.elapsed() + secs(seconds))
            };
            let mut naps = Vec::new();
            for (id, seconds) in [("a", 2), ("b", 100), ("c", 1_800), ("d", 8_000)] {
                naps.push(start(id, seconds).await);
            }
            tokio::time::sleep(secs(1)).await;
            process.set_clock_error(jump);
            for (id, seconds) in [("e", 3), ("f", 90), ("g", 1_700), ("h", 8_500)] {
                naps.push(start(id, seconds).await);
            }
            naps.sort_by_key(|(_, due)| *due);
            for (run, due) in naps {
                run.wait_json_within(secs(100_000)).await.unwrap();
                let late = began.elapsed().checked_sub(due).expect("it is not early");
                assert!(late < secs(15), "`{}` was late by {late:?}", run.id());
            }
            engine.shutdown().await;
        });
    }
}

// B705
#[test]
fn timers_fire_when_their_time_has_passed_although_the_clock_was_set_back_twice() {
    virtual_time(async {
        let process = Arc::new(VirtualRuntime::new(1));
        let store = MemoryStore::new(process.clone());
        let engine = sleeper(&store, &process).await;
        let began = tokio::time::Instant::now();
        let mut naps = Vec::new();
        for (jump, id) in [(1, "a"), (2, "b"), (3, "c")] {
            let run = engine.start_by_name("nap", json(&1_000)).id(id);
            naps.push((run.await.unwrap(), began.elapsed() + secs(1_000)));
            tokio::time::sleep(secs(200)).await;
            process.set_clock_error(-HOUR_MILLIS * jump);
        }
        for (run, due) in naps {
            run.wait_json_within(secs(100_000)).await.unwrap();
            let late = began.elapsed().checked_sub(due).expect("it is not early");
            assert!(late < secs(15), "`{}` was late by {late:?}", run.id());
        }
        engine.shutdown().await;
    });
}
