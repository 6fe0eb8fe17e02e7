//! Clocks that are set back and forward: timers fire late at most, and never by hours.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use everstep::journal::Timestamp;
use everstep::testing::{VirtualRuntime, virtual_time};
use everstep::{Ctx, Engine, RunStatus, Workflows, secs};
use everstep_engine::Runtime;
use everstep_store::{BoxFuture, Clock, MemoryStore};

use crate::support::json;

/// A process whose clock can be wrong.
struct Wrong {
    right: VirtualRuntime,
    offset_millis: AtomicI64,
}

impl Wrong {
    fn new(seed: u64, offset_millis: i64) -> Arc<Self> {
        Arc::new(Self {
            right: VirtualRuntime::new(seed),
            offset_millis: AtomicI64::new(offset_millis),
        })
    }

    fn set(&self, offset_millis: i64) {
        self.offset_millis.store(offset_millis, Ordering::Relaxed);
    }
}

impl Clock for Wrong {
    fn now(&self) -> Timestamp {
        let offset = self.offset_millis.load(Ordering::Relaxed);
        let right = self.right.now().as_millis();
        Timestamp::from_millis(right.saturating_add_signed(offset))
    }
}

impl Runtime for Wrong {
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        self.right.sleep(duration)
    }

    fn random(&self) -> u64 {
        self.right.random()
    }

    fn elapsed(&self) -> Duration {
        self.right.elapsed()
    }

    fn spawn(&self, task: BoxFuture<'static, ()>) {
        self.right.spawn(task);
    }

    fn spawn_committer(&self, task: BoxFuture<'static, ()>) {
        self.right.spawn_committer(task);
    }
}

const HOUR_MILLIS: i64 = 3_600_000;

async fn node(store: &MemoryStore, process: &Arc<Wrong>) -> Engine {
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
        let (ahead, right) = (Wrong::new(1, HOUR_MILLIS), Wrong::new(2, 0));
        let survivor = node(&store, &ahead).await;
        tokio::time::sleep(secs(1)).await;
        ahead.set(0);
        // No hint passes between the two: each has a bus of its own.
        let other = node(&store, &right).await;
        let run = other.start_by_name("nap", json(&())).id("r").await.unwrap();
        tokio::time::sleep(secs(1)).await;
        assert_eq!(run.status().await.unwrap(), RunStatus::Sleeping);
        right.right.crash().await;
        let run = survivor.run("r").await.unwrap();
        run.wait_json_within(secs(200)).await.unwrap();
    });
}

#[test]
fn a_node_whose_clock_is_put_right_fires_what_is_due_without_delay() {
    virtual_time(async {
        let store = MemoryStore::new(Arc::new(VirtualRuntime::new(0)));
        let behind = Wrong::new(1, 0);
        let engine = node(&store, &behind).await;
        let run = engine
            .start_by_name("nap", json(&()))
            .id("r")
            .await
            .unwrap();
        tokio::time::sleep(secs(1)).await;
        behind.set(-HOUR_MILLIS);
        tokio::time::sleep(secs(300)).await;
        assert_eq!(run.status().await.unwrap(), RunStatus::Sleeping);
        behind.set(0);
        run.wait_json_within(secs(70)).await.unwrap();
    });
}
