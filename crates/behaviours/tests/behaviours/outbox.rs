//! The outbox: a crash after any commit between cause and effect neither loses nor repeats an
//! effect.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use everstep::journal::record::ParentClose;
use everstep::journal::{Body, Entry};
use everstep::testing::{VirtualRuntime, virtual_time};
use everstep::{
    AnyEvent, Ctx, Engine, EngineBuilder, Error, Payload, Result, Role, RunStatus, Settings,
    Workflows, millis, minutes, secs,
};
use everstep_store::{LocalBus, MemoryStore, Store};

use futures_util::future::{Either, select};

use crate::crash_after_commit::{Scenario, crash_after_every_commit};
use crate::planned_crash::{CrashPlan, PlannedCrash};
use crate::support::{Ping, json, ok};

/// The runs whose code has started, in any process.
#[derive(Clone, Default)]
struct StartedRuns(Arc<Mutex<HashSet<String>>>);

impl StartedRuns {
    fn note(&self, ctx: &Ctx<AnyEvent>) {
        let id = ctx.metadata().id.to_string();
        self.0.lock().unwrap().insert(id);
    }

    fn take(&self) -> HashSet<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

async fn result(engine: &Engine, workflow: &str, id: &str, input: Payload) -> Payload {
    let run = engine.start_by_name(workflow, input).id(id).await.unwrap();
    run.wait_json().await.unwrap()
}

async fn journal(engine: &Engine, run: &str) -> Vec<Entry> {
    engine.run(run).await.unwrap().journal().await.unwrap()
}

fn count(journal: &[Entry], kind: &str) -> usize {
    let is_it = |entry: &&Entry| entry.record.body.type_name() == kind;
    journal.iter().filter(is_it).count()
}

async fn runs(engine: &Engine, workflow: &str) -> usize {
    engine.list().workflow(workflow).await.unwrap().runs.len()
}

async fn status(engine: &Engine, run: &str) -> RunStatus {
    engine.run(run).await.unwrap().status().await.unwrap()
}

async fn settle(engine: &Engine, run: &str, expected: RunStatus) {
    for _ in 0..1_000 {
        if matches!(engine.run(run).await, Ok(run) if run.status().await.unwrap() == expected) {
            return;
        }
        tokio::time::sleep(millis(10)).await;
    }
    panic!("`{run}` is {}", status(engine, run).await);
}

// B166, B167
#[test]
fn a_parent_and_its_children_survive_a_crash_after_every_commit() {
    let started = StartedRuns::default();
    let witness = started.clone();
    let define = move |builder: EngineBuilder| {
        let witness = witness.clone();
        builder.workflows(
            Workflows::new()
                .function("double", move |ctx: Ctx<AnyEvent>, n: u32| {
                    witness.note(&ctx);
                    async move { ctx.step("double", || ok(n * 2)).await }
                })
                .function("fails", |_: Ctx<AnyEvent>, _: ()| async {
                    Err::<(), _>(Error::fatal("no luck"))
                })
                .function("w", |ctx: Ctx<AnyEvent>, _: ()| async move {
                    let (two, four) = futures_util::future::try_join(
                        ctx.child_by_name("double", json(&1)),
                        ctx.child_by_name("double", json(&2)).timeout(minutes(1)),
                    )
                    .await?;
                    let failed = ctx
                        .child_by_name("fails", Payload::null())
                        .await
                        .unwrap_err();
                    let why = failed.child_failure().unwrap().error.message.clone();
                    Ok((two, four, why))
                }),
        )
    };
    let drive = async |engine: Engine| {
        let result = result(&engine, "w", "r", Payload::null()).await;
        assert_eq!(result.as_str(), r#"[2,4,"no luck"]"#);
        assert_eq!(started.take().len(), 2, "each child was started once");
        assert_eq!(runs(&engine, "double").await, 2);
        let journal = journal(&engine, "r").await;
        assert_eq!(count(&journal, "child_started"), 3);
        assert_eq!(count(&journal, "child_finished"), 3);
    };
    crash_after_every_commit(&Scenario {
        define,
        drive,
        downtime: millis(0),
    });
}

// B167
#[test]
fn a_child_that_has_ended_beats_a_timeout_that_is_late() {
    let define = |builder: EngineBuilder| {
        builder.workflows(
            Workflows::new()
                .function("nap", |ctx: Ctx<AnyEvent>, _: ()| async move {
                    ctx.sleep("nap", secs(1)).await?;
                    Ok("rested")
                })
                .function("w", |ctx: Ctx<AnyEvent>, _: ()| async move {
                    let child = ctx.child_by_name("nap", Payload::null()).id("nap");
                    let rested = child.timeout(minutes(1)).await?;
                    Ok(rested.is_some())
                }),
        )
    };
    let drive = async |engine: Engine| {
        let result = result(&engine, "w", "r", Payload::null()).await;
        // The downtime does not matter: the child ended before the timeout.
        let nap = journal(&engine, "nap").await;
        let last = &nap.last().unwrap().record;
        let run = journal(&engine, "r").await;
        let deadline = run.iter().find_map(|entry| match &entry.record.body {
            Body::ChildStarted(started) => started.deadline,
            _ => None,
        });
        let in_time = matches!(last.body, Body::Completed(_)) && last.time < deadline.unwrap();
        assert_eq!(result.as_str(), in_time.to_string());
    };
    crash_after_every_commit(&Scenario {
        define,
        drive,
        downtime: minutes(5),
    });
}

#[test]
fn the_close_policy_of_children_survives_a_crash_after_every_commit() {
    let policies = [
        ParentClose::Cancel,
        ParentClose::Terminate,
        ParentClose::Abandon,
    ];
    let define = move |builder: EngineBuilder| {
        builder.workflows(
            Workflows::new()
                .function("naps", |ctx: Ctx<AnyEvent>, deep: bool| async move {
                    if deep {
                        let child = ctx.child_by_name("naps", json(&false));
                        child.id(format!("{}-below", ctx.metadata().id)).await?;
                    }
                    ctx.sleep("nap", minutes(10)).await
                })
                .function("w", move |ctx: Ctx<AnyEvent>, _: ()| async move {
                    let left = policies.iter().enumerate().map(|(n, policy)| {
                        let child = ctx.child_by_name("naps", json(&true));
                        let child = child.id(format!("c{n}")).on_parent_close(*policy);
                        child.timeout(secs(1))
                    });
                    let left = futures_util::future::try_join_all(left).await?;
                    assert!(left.iter().all(Option::is_none));
                    let open = ctx.child_by_name("naps", json(&false)).id("last");
                    let ended = ctx.sleep("then", secs(1));
                    drop(futures_util::future::select(ended, open).await);
                    Ok(())
                }),
        )
    };
    let drive = async |engine: Engine| {
        result(&engine, "w", "r", Payload::null()).await;
        settle(&engine, "c0", RunStatus::Cancelled).await;
        settle(&engine, "c0-below", RunStatus::Cancelled).await;
        settle(&engine, "c1", RunStatus::Terminated).await;
        settle(&engine, "c1-below", RunStatus::Cancelled).await;
        settle(&engine, "last", RunStatus::Cancelled).await;
        assert_eq!(status(&engine, "c2").await, RunStatus::Waiting);
        assert_eq!(status(&engine, "c2-below").await, RunStatus::Sleeping);
        for run in ["c0", "c0-below", "c1-below", "last"] {
            let journal = journal(&engine, run).await;
            assert_eq!(count(&journal, "cancel_requested"), 1, "{run}");
        }
    };
    crash_after_every_commit(&Scenario {
        define,
        drive,
        downtime: millis(0),
    });
}

#[test]
fn messages_between_runs_survive_a_crash_after_every_commit() {
    let define = |builder: EngineBuilder| {
        builder.workflows(
            Workflows::new()
                .function("sink", |ctx: Ctx<AnyEvent>, n: u32| async move {
                    let mut got = Vec::new();
                    for _ in 0..n {
                        got.push(ctx.event::<Ping>().await?.0);
                    }
                    let more = ctx.event::<Ping>().timeout(secs(30)).await?;
                    Ok((got, more.map(|ping| ping.0)))
                })
                .function("w", |ctx: Ctx<AnyEvent>, _: ()| async move {
                    let child = ctx
                        .child_by_name("sink", json(&3))
                        .id("child")
                        .detach()
                        .await?;
                    for n in 1..=3 {
                        ctx.send_by_name("sink", "ping", json(&n))?;
                        ctx.send_by_name(&child, "ping", json(&(10 * n)))?;
                        ctx.step("between", || ok(n)).await?;
                    }
                    ctx.send_by_name("nobody", "ping", json(&1))?;
                    ctx.send_by_name("r", "ping", json(&4))?;
                    Ok(ctx.event::<Ping>().await?.0)
                }),
        )
    };
    let drive = async |engine: Engine| {
        let start = engine.start_by_name("sink", json(&3)).id("sink");
        start.await.unwrap();
        let own = result(&engine, "w", "r", Payload::null()).await;
        assert_eq!(own.as_str(), "4", "a run may send to itself");
        let got = result(&engine, "sink", "sink", json(&3)).await;
        assert_eq!(got.as_str(), "[[1,2,3],null]", "each once, in order");
        let got = result(&engine, "sink", "child", json(&3)).await;
        assert_eq!(got.as_str(), "[[10,20,30],null]", "not before its birth");
    };
    crash_after_every_commit(&Scenario {
        define,
        drive,
        downtime: millis(0),
    });
}

/// Takes a number of events.
async fn sink(ctx: Ctx<AnyEvent>, n: u32) -> Result<Vec<u32>> {
    let mut got = Vec::new();
    for _ in 0..n {
        got.push(ctx.event::<Ping>().await?.0);
    }
    Ok(got)
}

/// A node of a cluster over one store.
async fn node(store: &MemoryStore, bus: &LocalBus, n: u64, knows_child: bool) -> Engine {
    let settings = Settings {
        sweep_interval: minutes(10),
        ..Settings::default()
    };
    let builder = Engine::on_store(Arc::new(store.clone()))
        .bus(Arc::new(bus.clone()))
        .runtime(Arc::new(VirtualRuntime::new(n)))
        .settings(settings);
    let child = |ctx: Ctx<AnyEvent>, n: u32| async move { ctx.step("double", || ok(n * 2)).await };
    let parent = |ctx: Ctx<AnyEvent>, _: ()| async move {
        let child = ctx.child_by_name("double", json(&21)).await?;
        Ok(child.decode::<u32>()?)
    };
    let builder = if knows_child {
        builder.workflows(Workflows::new().function("double", child))
    } else {
        builder.workflows(Workflows::new().function("w", parent))
    };
    builder.start().await.unwrap()
}

#[test]
fn a_child_is_started_by_a_node_that_offers_its_workflow() {
    virtual_time(async {
        let store = MemoryStore::new(Arc::new(VirtualRuntime::new(0)));
        let bus = LocalBus::new();
        let parents = node(&store, &bus, 1, false).await;
        let children = node(&store, &bus, 2, true).await;
        let started = tokio::time::Instant::now();
        let result = result(&parents, "w", "r", Payload::null()).await;
        assert_eq!(result.as_str(), "42");
        assert!(started.elapsed() < minutes(1), "it waited for a sweep");
        let left = store.outbox(None, 10).await.unwrap();
        assert!(left.is_empty(), "{left:?}");
        parents.shutdown().await;
        children.shutdown().await;
    });
}

// B703
#[test]
fn a_child_is_started_within_a_sweep_if_roles_are_divided_and_hints_are_lost() {
    virtual_time(async {
        let store = MemoryStore::new(Arc::new(VirtualRuntime::new(0)));
        // Each node has its own bus, so that no hint passes between them.
        let open = |n: u64, role, workflows| {
            let settings = Settings {
                sweep_interval: secs(30),
                ..Settings::default()
            };
            let builder = Engine::on_store(Arc::new(store.clone())).settings(settings);
            let runtime = Arc::new(VirtualRuntime::new(n));
            let builder = builder.runtime(runtime).roles([role]);
            builder.workflows(workflows).start()
        };
        let child =
            |ctx: Ctx<AnyEvent>, n: u32| async move { ctx.step("double", || ok(n * 2)).await };
        let parent = |ctx: Ctx<AnyEvent>, _: ()| async move {
            let child = ctx.child_by_name("double", json(&21)).await?;
            Ok(child.decode::<u32>()?)
        };
        let timers = open(1, Role::Timers, Workflows::new()).await.unwrap();
        let parents = Workflows::new().function("w", parent);
        let parents = open(2, Role::Worker, parents).await.unwrap();
        let children = Workflows::new().function("double", child);
        let children = open(3, Role::Worker, children).await.unwrap();
        let run = parents.start_by_name("w", json(&())).id("r").await.unwrap();
        let result = run.wait_json_within(minutes(3)).await.unwrap();
        assert_eq!(result.as_str(), "42");
        for engine in [timers, parents, children] {
            engine.shutdown().await;
        }
    });
}

#[test]
fn an_event_does_not_overtake_the_creation_of_its_run_on_another_node() {
    virtual_time(async {
        let store = MemoryStore::new(Arc::new(VirtualRuntime::new(0)));
        let bus = LocalBus::new();
        let open = |n: u64| {
            let runtime = Arc::new(VirtualRuntime::new(n));
            let builder = Engine::on_store(Arc::new(store.clone())).runtime(runtime);
            builder.bus(Arc::new(bus.clone()))
        };
        let parents = open(1)
            .workflows(
                Workflows::new().function("w", |ctx: Ctx<AnyEvent>, _: ()| async move {
                    let child = ctx.child_by_name("sink", json(&3)).detach().await?;
                    for n in 1..=3 {
                        ctx.send_by_name(&child, "ping", json(&n))?;
                        ctx.sleep("a while", minutes(1)).await?;
                    }
                    Ok(child.to_string())
                }),
            )
            .start()
            .await
            .unwrap();
        let child = result(&parents, "w", "r", Payload::null()).await;
        let child: String = child.decode().unwrap();
        assert!(
            parents.run(&child).await.is_err(),
            "its workflow is not registered yet"
        );
        let children = open(2)
            .workflows(Workflows::new().function("sink", sink))
            .start()
            .await
            .unwrap();
        tokio::time::sleep(minutes(2)).await;
        let got = result(&children, "sink", &child, json(&3)).await;
        assert_eq!(got.as_str(), "[1,2,3]");
        let left = store.outbox(None, 10).await.unwrap();
        assert!(left.is_empty(), "{left:?}");
        parents.shutdown().await;
        children.shutdown().await;
    });
}

#[test]
fn effects_of_a_crashed_node_are_not_overtaken_by_the_node_that_takes_over() {
    let dies_after = |commits: u64| {
        virtual_time(async move {
            let store = MemoryStore::new(Arc::new(VirtualRuntime::new(0)));
            let planned_crash = PlannedCrash::new(CrashPlan::After(commits));
            let mortal = planned_crash.over(Arc::new(store.clone()));
            let process = Arc::new(VirtualRuntime::new(1));
            let first = sender(mortal, process.clone()).await;
            let second = sender(Arc::new(store), Arc::new(VirtualRuntime::new(2))).await;
            let sink = second.start_by_name("sink", json(&9)).id("sink");
            let sink = sink.await.unwrap();
            let start = first.start_by_name("w", Payload::null()).id("r");
            let run = async {
                start.await.unwrap().wait_json().await.unwrap();
                sink.wait_json().await.unwrap();
            };
            let has_crashed = match select(Box::pin(run), Box::pin(planned_crash.crashed())).await {
                Either::Left(_) => false,
                Either::Right(_) => true,
            };
            process.crash().await;
            // A request takes the run over before a sweep has read the outbox.
            tokio::time::sleep(secs(2)).await;
            if let Ok(run) = second.run("r").await {
                let _ = run.send_by_name("ping", json(&0), None).await;
            }
            result(&second, "w", "r", Payload::null()).await;
            let got: Vec<u32> = sink.wait_json().await.unwrap().decode().unwrap();
            assert_eq!(got, [1, 2, 3, 4, 5, 6, 7, 8, 9], "after commit {commits}");
            second.shutdown().await;
            has_crashed
        })
    };
    let stories = (0..200).take_while(|commits| dies_after(*commits)).count();
    assert!(stories > 5, "it died only {stories} times");
}

/// A node whose workflow `w` sends events, step by step.
async fn sender(store: Arc<dyn Store>, process: Arc<VirtualRuntime>) -> Engine {
    let settings = Settings {
        lease_ttl: secs(1),
        sweep_interval: minutes(60),
        ..Settings::default()
    };
    let sends = |ctx: Ctx<AnyEvent>, _: ()| async move {
        for n in [1, 4, 7] {
            for n in n..n + 3 {
                ctx.send_by_name("sink", "ping", json(&n))?;
            }
            ctx.step("between", || ok(n)).await?;
        }
        Ok(())
    };
    let builder = Engine::on_store(store).runtime(process).settings(settings);
    let builder = builder.workflows(Workflows::new().function("sink", sink).function("w", sends));
    builder.start().await.unwrap()
}

#[test]
fn several_nodes_may_deliver_the_same_effects() {
    virtual_time(async {
        let store = MemoryStore::new(Arc::new(VirtualRuntime::new(0)));
        let bus = LocalBus::new();
        let build = |n: u64| {
            let settings = Settings {
                // Each sweep finds effects that the other node is about to deliver.
                sweep_interval: millis(1),
                ..Settings::default()
            };
            Engine::on_store(Arc::new(store.clone()))
                .bus(Arc::new(bus.clone()))
                .runtime(Arc::new(VirtualRuntime::new(n)))
                .settings(settings)
                .workflows(Workflows::new().function("sink", sink).function(
                    "w",
                    |ctx: Ctx<AnyEvent>, _: ()| async move {
                        let sink = ctx.child_by_name("sink", json(&50)).id("sink");
                        let sends = async {
                            for n in 0..50 {
                                ctx.send_by_name("sink", "ping", json(&n))?;
                                ctx.sleep("pause", millis(1)).await?;
                            }
                            Ok::<_, Error>(())
                        };
                        let (got, ()) = futures_util::future::try_join(sink, sends).await?;
                        Ok(got)
                    },
                ))
                .start()
        };
        let (a, b) = (build(1).await.unwrap(), build(2).await.unwrap());
        let got = result(&a, "w", "r", Payload::null()).await;
        let got: Vec<u32> = got.decode().unwrap();
        assert_eq!(got, (0..50).collect::<Vec<_>>());
        assert_eq!(count(&journal(&b, "r").await, "child_finished"), 1);
        assert_eq!(count(&journal(&b, "sink").await, "event"), 50);
        a.shutdown().await;
        b.shutdown().await;
    });
}
