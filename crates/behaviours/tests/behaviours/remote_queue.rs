//! More runs than workers have slots for: some wait at the server, the others stay in the store,
//! where every node can take them.

use std::sync::Arc;

use everstep::testing::{VirtualRuntime, virtual_time};
use everstep::{Engine, RunHandle, secs};
use everstep_store::{LocalBus, MemoryStore};
use futures_util::future::join_all;

use crate::remote_workers::{Process, serve, start};

const QUEUE_MAX: usize = 2;

/// Engines on one store that execute nothing themselves.
struct Cluster {
    store: MemoryStore,
    bus: LocalBus,
}

impl Cluster {
    fn new() -> Self {
        Self {
            store: MemoryStore::new(Arc::new(VirtualRuntime::new(0))),
            bus: LocalBus::new(),
        }
    }

    async fn node(&self, seed: u64) -> Engine {
        let engine = Engine::on_store(Arc::new(self.store.clone()))
            .bus(Arc::new(self.bus.clone()))
            .runtime(Arc::new(VirtualRuntime::new(seed)));
        engine.start().await.unwrap()
    }
}

/// A worker of a node whose queue holds at most two runs.
async fn worker(engine: &Engine, seed: u64, slots: u32) -> Process {
    let transport = serve(engine, |options| options.worker_queue_max = QUEUE_MAX);
    Process::start(&transport, seed, slots).await
}

async fn start_all(engine: &Engine, ids: &[&str]) -> Vec<RunHandle> {
    join_all(ids.iter().map(|id| start(engine, id))).await
}

async fn all_end(runs: &[RunHandle]) {
    for run in runs {
        run.wait_json().await.unwrap();
    }
}

#[test]
fn runs_that_do_not_fit_into_the_queue_are_executed_by_another_node() {
    virtual_time(async {
        let cluster = Cluster::new();
        let (one, two) = (cluster.node(1).await, cluster.node(2).await);
        let small = worker(&one, 11, 1).await;
        let runs = start_all(&one, &["a", "b", "c", "d", "e", "f", "g", "h"]).await;
        tokio::time::sleep(secs(1)).await;
        assert_eq!(small.begun(), 1);
        let large = worker(&two, 12, 100).await;
        tokio::time::sleep(secs(1)).await;
        assert_eq!(
            large.begun(),
            5,
            "one executes, two wait, the others are free"
        );
        all_end(&runs).await;
        assert_eq!((small.begun(), large.begun()), (3, 5));
    });
}

#[test]
fn a_full_queue_is_filled_again_as_it_empties() {
    virtual_time(async {
        let cluster = Cluster::new();
        let one = cluster.node(1).await;
        let small = worker(&one, 11, 1).await;
        let begun = tokio::time::Instant::now();
        let runs = start_all(&one, &["a", "b", "c", "d", "e", "f", "g", "h"]).await;
        all_end(&runs).await;
        assert_eq!(small.begun(), 8);
        // Ten minutes each, without waiting for a sweep in between.
        assert!(
            begun.elapsed() < secs(8 * 600 + 30),
            "{:?}",
            begun.elapsed()
        );
    });
}

#[test]
fn a_queued_run_is_assigned_with_its_current_journal() {
    virtual_time(async {
        let cluster = Cluster::new();
        let one = cluster.node(1).await;
        let small = worker(&one, 11, 1).await;
        let runs = start_all(&one, &["a", "b"]).await;
        tokio::time::sleep(secs(1)).await;
        runs[1].cancel().keep().await.unwrap();
        let ended = runs[1].wait_json().await.unwrap_err();
        assert_eq!(ended.code(), everstep::ErrorCode::RunCancelled);
        assert_eq!(
            small.begun(),
            1,
            "what was cancelled while it waited does not begin"
        );
    });
}
