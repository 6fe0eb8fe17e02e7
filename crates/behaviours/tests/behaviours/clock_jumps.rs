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

#[test]
fn a_node_whose_clock_is_corrected_fires_due_timers_without_delay() {
    virtual_time(async {
        let store = MemoryStore::new(Arc::new(VirtualRuntime::new(0)));
        let behind = Arc::new(VirtualRuntime::new(1));
        let engine = node(&store, &behind).await;
        let run = engine
            .start_by_name("nap", json(&()))
            .id("r")
            .await
            .unwrap();
        tokio::time::sleep(secs(1)).await;
        behind.set_clock_error(-HOUR_MILLIS);
        tokio::time::sleep(secs(300)).await;
        assert_eq!(run.status().await.unwrap(), RunStatus::Sleeping);
        behind.set_clock_error(0);
        run.wait_json_within(secs(70)).await.unwrap();
    });
}
