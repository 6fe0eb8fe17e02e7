//! A loop that two nodes execute in turns: records that one node has in memory were dropped from
//! the journal meanwhile.

use std::ops::ControlFlow;
use std::sync::Arc;

use everstep::testing::{VirtualRuntime, virtual_time};
use everstep::{AnyEvent, Ctx, Engine, Result, RunStatus, Settings, Workflows, hours, millis};
use everstep_store::{LocalBus, MemoryStore};

use crate::support::{Ping, Seen, json, ok, output, ping};

/// Adds up thirty pings, one in each iteration.
async fn add_up(ctx: Ctx<AnyEvent>, seen: Seen<u64>, node: u64) -> Result<Vec<u32>> {
    let body = |ctx: Ctx<AnyEvent>, mut got: Vec<u32>| {
        let seen = &seen;
        async move {
            let n = ctx.event::<Ping>().await?.0;
            let took = || {
                seen.add(node);
                ok(n)
            };
            got.push(ctx.step("take", took).await?);
            Ok(if got.len() == 30 {
                ControlFlow::Break(got)
            } else {
                ControlFlow::Continue(got)
            })
        }
    };
    ctx.repeat("add", Vec::new(), body).keep(1).await
}

/// A node with its own bus, which receives no hints from the other node.
async fn node(store: &MemoryStore, seen: &Seen<u64>, n: u64) -> Engine {
    let settings = Settings {
        hot_idle_max: hours(100),
        ..Settings::default()
    };
    let seen = seen.clone();
    Engine::on_store(Arc::new(store.clone()))
        .bus(Arc::new(LocalBus::new()))
        .runtime(Arc::new(VirtualRuntime::new(n * 1_000)))
        .settings(settings)
        .workflows(Workflows::new().function("w", move |ctx, (): ()| add_up(ctx, seen.clone(), n)))
        .start()
        .await
        .unwrap()
}

// B102
#[test]
fn a_node_whose_iteration_was_dropped_starts_from_the_remaining_records() {
    virtual_time(async {
        let store = MemoryStore::new(Arc::new(VirtualRuntime::new(0)));
        let seen = Seen::new();
        let nodes = [node(&store, &seen, 1).await, node(&store, &seen, 2).await];
        let run = nodes[0]
            .start_by_name("w", json(&()))
            .id("r")
            .await
            .unwrap();
        for n in 0..30 {
            let run = nodes[n / 6 % 2].run("r").await.unwrap();
            ping(&run, n as u32).await;
            tokio::time::sleep(millis(20)).await;
            if n < 29 {
                assert_eq!(run.status().await.unwrap(), RunStatus::Waiting, "{n}");
            }
        }
        assert_eq!(output::<Vec<u32>>(&run).await, (0..30).collect::<Vec<_>>());
        let nodes: Vec<u64> = (0..30).map(|n| n / 6 % 2 + 1).collect();
        assert_eq!(seen.take(), nodes);
    });
}
