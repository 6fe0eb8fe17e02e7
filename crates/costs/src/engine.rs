//! The whole engine on the embedded store, in virtual time.

use std::sync::Arc;

use everstep::schemars::{self, JsonSchema};
use everstep::testing::VirtualRuntime;
use everstep::{AnyEvent, Ctx, Engine, Error, Event, Payload, Result, Workflows};
use everstep_store::LocalBus;
use everstep_store_embedded::EmbeddedStore;
use futures_util::future::join_all;
use serde::{Deserialize, Serialize};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::{Operation, RESULT};

/// Steps per run.
const STEPS: u32 = 10;
/// Concurrent runs.
const RUNS: usize = 64;

pub(crate) fn one_run() -> Operation {
    let world = World::new();
    Box::new(move || world.block_on(run_steps))
}

pub(crate) fn many_runs() -> Operation {
    let world = World::new();
    Box::new(move || {
        world.block_on(async |engine| {
            join_all((0..RUNS).map(|_| run_steps(engine))).await;
        });
    })
}

pub(crate) fn one_event() -> Operation {
    let world = World::new();
    Box::new(move || {
        world.block_on(async |engine| {
            let run = engine.start_by_name("event", Payload::null()).await;
            let run = run.unwrap();
            let payload = Payload::from_value(RESULT).unwrap();
            run.send_by_name(Go::NAME, payload, None).await.unwrap();
            run.wait_json().await.unwrap();
        });
    })
}

async fn run_steps(engine: &Engine) {
    let run = engine.start_by_name("steps", World::input(STEPS)).await;
    run.unwrap().wait_json().await.unwrap();
}

/// Executes consecutive steps.
pub(crate) async fn steps(ctx: Ctx<AnyEvent>, count: u32) -> Result<()> {
    for _ in 0..count {
        ctx.step("step", || async { Ok::<_, Error>(RESULT.to_owned()) })
            .await?;
    }
    Ok(())
}

/// The event that the other workflow waits for.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Go(String);

impl Event for Go {
    const NAME: &'static str = "go";
}

async fn event(ctx: Ctx<AnyEvent>, (): ()) -> Result<()> {
    ctx.event::<Go>().await?;
    Ok(())
}

/// An engine with the workflows above, and the runtime that executes it.
pub(crate) struct World {
    thread: Runtime,
    engine: Engine,
    _folder: TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        let thread = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        let folder = tempfile::tempdir().unwrap();
        let engine = thread.block_on(async {
            let runtime = Arc::new(VirtualRuntime::new(7));
            let store = EmbeddedStore::open(folder.path(), runtime.clone()).unwrap();
            Engine::on_store(Arc::new(store))
                .bus(Arc::new(LocalBus::new()))
                .runtime(runtime)
                .workflows(
                    Workflows::new()
                        .function("steps", steps)
                        .function("event", event),
                )
                .start()
                .await
                .unwrap()
        });
        Self {
            thread,
            engine,
            _folder: folder,
        }
    }

    pub(crate) fn block_on<T>(&self, work: impl AsyncFnOnce(&Engine) -> T) -> T {
        self.thread.block_on(work(&self.engine))
    }

    pub(crate) fn input(count: u32) -> Payload {
        Payload::from_value(&count).unwrap()
    }
}
