//! Runs that cannot be read: each is parked, requests return the reason, and other runs are not
//! affected.

use std::sync::Arc;

use everstep::errors::{ClientError, CodedError};
use everstep::testing::{VirtualRuntime, virtual_time};
use everstep::{
    AnyEvent, Ctx, Engine, ErrorCode, RunHandle, RunStatus, Workflows, hours, minutes, secs,
};
use futures_util::future::join;
use tokio::time::Instant;

use super::failing::{Damage, Failing};
use super::{memory, steps};
use crate::support::{Ping, json, ok, output};

const EVERY: [Damage; 3] = [Damage::Head, Damage::Journal, Damage::Row];

async fn nap(ctx: Ctx<AnyEvent>, _: ()) -> everstep::Result<()> {
    ctx.sleep("nap", minutes(5)).await
}

async fn wait(ctx: Ctx<AnyEvent>, _: ()) -> everstep::Result<Ping> {
    ctx.event::<Ping>().await
}

struct Pair {
    store: Arc<Failing>,
    engine: Engine,
    damaged: RunHandle,
    sound: RunHandle,
}

/// Two runs of a workflow, the first of which gets damaged after a moment.
async fn pair(workflow: &str, damage: Damage) -> Pair {
    let (store, runtime) = memory();
    let engine = open(&store, runtime).await;
    let start = |id| engine.start_by_name(workflow, json(&())).id(id);
    let damaged = start("damaged").await.unwrap();
    let sound = start("sound").await.unwrap();
    tokio::time::sleep(secs(90)).await;
    store.damage(damaged.id(), damage).await;
    Pair {
        store,
        engine,
        damaged,
        sound,
    }
}

async fn open(store: &Arc<Failing>, runtime: Arc<VirtualRuntime>) -> Engine {
    let builder = Engine::on_store(store.clone()).runtime(runtime);
    let builder = builder.workflows(Workflows::new().function("steps", steps));
    let builder = builder.workflows(Workflows::new().function("nap", nap).function("wait", wait));
    builder.start().await.unwrap()
}

fn says_why(error: &ClientError<impl CodedError + 'static>) {
    assert_eq!(error.code(), ErrorCode::StoreCorrupt);
    assert!(error.to_string().contains("the test says so"), "{error}");
}

#[test]
fn a_damaged_run_loses_its_executor_and_the_others_continue() {
    for damage in [Damage::Head, Damage::Row] {
        virtual_time(async {
            let pair = pair("steps", damage).await;
            let begun = Instant::now();
            assert_eq!(output::<u32>(&pair.sound).await, 5);
            assert!(begun.elapsed() < minutes(4), "{:?}", begun.elapsed());
            assert_eq!(pair.engine.hot_runs(), 0);
        });
    }
}

#[test]
fn a_damaged_run_is_not_retried_continuously() {
    for (workflow, damage) in ["steps", "nap"]
        .into_iter()
        .flat_map(|w| EVERY.map(|d| (w, d)))
    {
        virtual_time(async {
            let pair = pair(workflow, damage).await;
            tokio::time::sleep(hours(1)).await;
            let tried = pair.store.refused();
            assert!(
                tried <= 250,
                "{workflow} {damage:?}: {tried} times in an hour"
            );
            pair.store.mend();
            let waited = pair.damaged.wait_json_within(minutes(7)).await;
            assert!(
                waited.is_ok(),
                "{workflow} {damage:?}: it continues once it can be read"
            );
        });
    }
}

#[test]
fn the_timer_of_a_damaged_run_blocks_no_other() {
    for damage in EVERY {
        virtual_time(async {
            let pair = pair("nap", damage).await;
            let begun = Instant::now();
            pair.sound.wait_json().await.unwrap();
            let took = begun.elapsed();
            assert_eq!(took.as_secs(), 210, "{damage:?}: at its time");
        });
    }
}

// B62
#[test]
fn requests_to_a_damaged_run_return_the_reason() {
    for damage in [Damage::Head, Damage::Row] {
        virtual_time(async {
            let Pair {
                engine, damaged, ..
            } = pair("wait", damage).await;
            let sent = damaged.send_by_name("ping", json(&Ping(1)), None).await;
            says_why(&sent.unwrap_err());
            if damage == Damage::Head {
                let again = engine.start_by_name("wait", json(&())).id("damaged").await;
                says_why(&again.unwrap_err());
            }
        });
    }
}

// B62
#[test]
fn waiting_for_a_damaged_run_returns_the_reason() {
    virtual_time(async {
        let (store, runtime) = memory();
        let engine = open(&store, runtime).await;
        let run = engine.start_by_name("steps", json(&())).await.unwrap();
        let damage = async {
            tokio::time::sleep(secs(90)).await;
            store.damage(run.id(), Damage::Head).await;
        };
        let (waited, ()) = join(run.wait_json_within(minutes(5)), damage).await;
        assert_eq!(waited.unwrap_err().code(), ErrorCode::StoreCorrupt);
    });
}

// B174
#[test]
fn an_engine_opens_in_spite_of_a_damaged_run() {
    for damage in EVERY {
        virtual_time(async {
            let (store, runtime) = memory();
            let engine = open(&store, runtime.clone()).await;
            for id in ["damaged", "sound"] {
                let start = engine.start_by_name("steps", json(&())).id(id);
                start.await.unwrap();
            }
            tokio::time::sleep(secs(90)).await;
            runtime.crash().await;
            let damaged = engine.run("damaged").await.unwrap();
            store.damage(damaged.id(), damage).await;
            // Until the lease of the previous engine has expired.
            tokio::time::sleep(minutes(1)).await;
            let engine = open(&store, Arc::new(runtime.successor())).await;
            let sound = engine.run("sound").await.unwrap();
            assert_eq!(output::<u32>(&sound).await, 5, "{damage:?}");
        });
    }
}

#[test]
fn an_engine_opens_in_spite_of_a_damaged_run_that_is_parked() {
    virtual_time(async {
        let (store, runtime) = memory();
        let engine = open(&store, runtime.clone()).await;
        let run = engine.start_by_name("steps", json(&())).await.unwrap();
        tokio::time::sleep(secs(90)).await;
        engine.shutdown().await;
        let other_code = |_: Ctx<AnyEvent>, (): ()| ok(());
        let engine = Engine::on_store(store.clone()).runtime(runtime.clone());
        let engine = engine
            .workflows(Workflows::new().function("steps", other_code))
            .start()
            .await
            .unwrap();
        tokio::time::sleep(secs(1)).await;
        assert_eq!(run.status().await.unwrap(), RunStatus::Diverged);
        engine.shutdown().await;
        store.damage(run.id(), Damage::Head).await;
        open(&store, runtime).await;
        assert!(store.refused() > 0, "it was looked at");
    });
}
