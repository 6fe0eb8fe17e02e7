//! Several engines on one store: one node executes a run at a time, another takes over, and nothing
//! happens twice.

use std::collections::HashSet;
use std::sync::Arc;

use everstep::inspect::StepStatus;
use everstep::testing::{JournalView, VirtualRuntime, virtual_time};
use everstep::{
    AnyEvent, Ctx, Engine, ErrorCode, Result, RunHandle, RunStatus, Settings, Workflows, millis,
    minutes, secs,
};
use everstep_store::{Clock, LocalBus, MemoryStore};
use futures_util::future::join_all;

use crate::support::{Ping, Seen, json, ok, output, ping};

struct Cluster {
    /// The clock of the store, which decides whether a lease has expired.
    clock: Arc<VirtualRuntime>,
    store: MemoryStore,
    bus: LocalBus,
    /// Which node began which step.
    seen: Seen<(u64, &'static str)>,
}

struct Node {
    engine: Engine,
    runtime: Arc<VirtualRuntime>,
}

impl Cluster {
    fn new() -> Self {
        let clock = Arc::new(VirtualRuntime::new(0));
        Self {
            store: MemoryStore::new(clock.clone()),
            clock,
            bus: LocalBus::new(),
            seen: Seen::new(),
        }
    }

    /// Starts a node with the workflows `w` (a long step, then a short one), `nap` and `wait`.
    async fn node(&self, n: u64) -> Node {
        self.node_with(n, |_| {}).await
    }

    async fn node_with(&self, n: u64, change: impl FnOnce(&mut Settings)) -> Node {
        let mut settings = Settings::default();
        change(&mut settings);
        let runtime = Arc::new(VirtualRuntime::new(n * 1_000));
        let seen = self.seen.clone();
        let work = move |ctx: Ctx<AnyEvent>, _: ()| {
            let seen = seen.clone();
            async move {
                let long = || async {
                    seen.add((n, "long"));
                    tokio::time::sleep(minutes(5)).await;
                    ok(n).await
                };
                let by = ctx.step("long", long).await?;
                let short = || {
                    seen.add((n, "short"));
                    ok(n)
                };
                Ok::<_, everstep::Error>((by, ctx.step("short", short).await?))
            }
        };
        let engine = Engine::on_store(Arc::new(self.store.clone()))
            .bus(Arc::new(self.bus.clone()))
            .runtime(runtime.clone())
            .settings(settings)
            .workflows(
                Workflows::new()
                    .function("w", work)
                    .function("nap", nap)
                    .function("wait", |ctx: Ctx<AnyEvent>, _: ()| async move {
                        ctx.event::<Ping>().await
                    }),
            )
            .start()
            .await
            .unwrap();
        Node { engine, runtime }
    }
}

async fn nap(ctx: Ctx<AnyEvent>, minutes_long: u64) -> Result<u64> {
    ctx.sleep("nap", minutes(minutes_long)).await?;
    ctx.step("after", || ok(minutes_long)).await
}

async fn pass(duration: std::time::Duration) {
    tokio::time::sleep(duration).await;
}

async fn journal(run: &RunHandle) -> JournalView {
    JournalView::new(run.journal().await.unwrap())
}

// B172
#[test]
fn the_runs_of_a_crashed_node_continue_on_another_when_its_lease_expires() {
    virtual_time(async {
        let cluster = Cluster::new();
        let (a, b) = (cluster.node(1).await, cluster.node(2).await);
        a.engine
            .start_by_name("w", json(&()))
            .id("r")
            .await
            .unwrap();
        pass(secs(60)).await;
        a.runtime.crash().await;
        let crashed_at = b.runtime.now();
        let run = b.engine.run("r").await.unwrap();
        pass(secs(5)).await;
        assert_eq!(
            cluster.seen.take(),
            [(1, "long")],
            "its lease is still valid"
        );
        assert_eq!(output::<(u64, u64)>(&run).await, (2, 2));
        assert_eq!(cluster.seen.take(), [(2, "long"), (2, "short")]);
        let waited = crashed_at.until(b.runtime.now()) - minutes(5);
        assert!(waited < secs(41), "a lease and a sweep at most: {waited:?}");
        let steps = [
            ("long:0", StepStatus::Completed, 2),
            ("short:0", StepStatus::Completed, 1),
        ];
        journal(&run).await.assert_steps(&steps);
    });
}

// B172
#[test]
fn a_node_that_lost_its_run_writes_nothing_more() {
    virtual_time(async {
        let cluster = Cluster::new();
        let a = cluster.node(1).await;
        let b = cluster
            .node_with(2, |settings| settings.sweep_interval = millis(100))
            .await;
        let run = a
            .engine
            .start_by_name("w", json(&()))
            .id("r")
            .await
            .unwrap();
        pass(minutes(3)).await;
        // The first node still works, but its lease expires.
        cluster.clock.set_clock_error(60_000);
        pass(minutes(1)).await;
        assert_eq!(cluster.seen.take(), [(1, "long"), (2, "long")]);
        pass(minutes(2)).await;
        assert_eq!(
            journal(&run).await.count("step_completed"),
            0,
            "the result of the first node came too late"
        );
        assert_eq!(output::<(u64, u64)>(&run).await, (2, 2));
        assert_eq!(cluster.seen.take(), [(2, "short")]);
        assert_eq!(a.engine.hot_runs(), 0);
        b.engine.shutdown().await;
    });
}

// B175
#[test]
fn a_timer_fires_once_on_any_node() {
    virtual_time(async {
        let cluster = Cluster::new();
        let nodes = [
            cluster.node(1).await,
            cluster.node(2).await,
            cluster.node(3).await,
        ];
        let starts = (0..60_u64).map(|n| {
            let node = &nodes[n as usize % nodes.len()];
            node.engine
                .start_by_name("nap", json(&(n % 5 + 1)))
                .into_future()
        });
        let runs = join_all(starts).await;
        nodes[2].runtime.crash().await;
        for run in runs
            .into_iter()
            .enumerate()
            .map(|(n, run)| (n, run.unwrap()))
        {
            let (n, run) = run;
            let run = if n % 3 == 2 {
                nodes[0].engine.run(run.id().as_str()).await.unwrap()
            } else {
                run
            };
            output::<u64>(&run).await;
            let journal = journal(&run).await;
            assert_eq!(
                (
                    journal.count("timer_fired"),
                    journal.count("step_completed")
                ),
                (1, 1)
            );
            journal.assert_steps(&[("after:0", StepStatus::Completed, 1)]);
        }
    });
}

#[test]
fn an_event_reaches_a_run_through_any_node() {
    virtual_time(async {
        let cluster = Cluster::new();
        let (a, b) = (cluster.node(1).await, cluster.node(2).await);
        for n in 0..4 {
            let run = a.engine.start_by_name("wait", json(&())).await.unwrap();
            pass(secs(n)).await;
            let sent = a.runtime.now();
            let (waited, ()) = tokio::join!(output::<Ping>(&run), async {
                ping(&b.engine.run(run.id().as_str()).await.unwrap(), 3).await;
            });
            assert_eq!(waited, Ping(3));
            assert_eq!(sent.until(a.runtime.now()), millis(0));
            assert_eq!(journal(&run).await.count("wait_completed"), 1);
        }
    });
}

// B159
#[test]
fn a_node_that_shuts_down_hands_its_runs_over_at_once() {
    virtual_time(async {
        let cluster = Cluster::new();
        let (a, b) = (
            cluster
                .node_with(1, |settings| settings.shutdown_grace = minutes(10))
                .await,
            cluster.node(2).await,
        );
        a.engine
            .start_by_name("w", json(&()))
            .id("r")
            .await
            .unwrap();
        a.engine
            .start_by_name("nap", json(&60))
            .id("asleep")
            .await
            .unwrap();
        pass(secs(1)).await;
        a.engine.shutdown().await;
        let gone = b.runtime.now();
        let run = b.engine.run("r").await.unwrap();
        assert_eq!(output::<(u64, u64)>(&run).await, (1, 2));
        assert!(
            gone.until(b.runtime.now()) < secs(1),
            "{:?}",
            gone.until(b.runtime.now())
        );
        assert_eq!(cluster.seen.take(), [(1, "long"), (2, "short")]);
        assert_eq!(
            output::<u64>(&b.engine.run("asleep").await.unwrap()).await,
            60
        );
    });
}

// B161
#[test]
fn an_idempotency_key_identifies_one_run_across_nodes() {
    virtual_time(async {
        let cluster = Cluster::new();
        let nodes = [cluster.node(1).await, cluster.node(2).await];
        let starts = (0..20).map(|n| {
            let start = nodes[n % 2].engine.start_by_name("wait", json(&()));
            start.idempotency_key("k").into_future()
        });
        let runs: Vec<_> = join_all(starts)
            .await
            .into_iter()
            .map(|run| run.unwrap())
            .collect();
        assert_eq!(runs.iter().filter(|run| run.created()).count(), 1);
        assert_eq!(
            runs.iter()
                .map(|run| run.id().clone())
                .collect::<HashSet<_>>()
                .len(),
            1
        );
        assert_eq!(nodes[0].engine.list().await.unwrap().runs.len(), 1);
    });
}

#[test]
fn a_wait_for_a_run_ends_when_the_engine_does() {
    virtual_time(async {
        let cluster = Cluster::new();
        let a = cluster.node(1).await;
        let run = a.engine.start_by_name("wait", json(&())).await.unwrap();
        let finished = a.engine.start_by_name("nap", json(&0)).await.unwrap();
        let (waited, ended, ()) = tokio::join!(run.wait_json(), finished.wait_json(), async {
            pass(secs(1)).await;
            a.engine.shutdown().await;
        });
        assert_eq!(waited.unwrap_err().code(), ErrorCode::ShuttingDown);
        assert_eq!(ended.unwrap(), json(&0));
        assert_eq!(run.status().await.unwrap(), RunStatus::Waiting);
    });
}
