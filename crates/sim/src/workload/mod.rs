//! The work of the simulated cluster: random programs, the run that collects events, and the
//! clients.

mod clients;
mod env;
mod interpreter;
mod requests;

use everstep::{
    AnyEvent, Ctx, EngineBuilder, Error, Event, Options, Result, Rpc, WorkerBuilder, millis, secs,
};
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;
use std::sync::Arc;

use crate::cluster::{Process, Programs, World};
use crate::program::Op;

pub(crate) use clients::unfinished;
pub use clients::{COLLECTOR, finish, live, prepare};
pub use env::Env;
pub use interpreter::run_program;
pub(crate) use interpreter::value_of;
pub use requests::REQUESTS;

/// The workflow that executes programs.
pub const RANDOM: &str = "random";

#[derive(Serialize, Deserialize)]
pub(crate) struct Ping(pub(crate) u64);
impl Event for Ping {
    const NAME: &'static str = "ping";
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Pong(pub(crate) u64);
impl Event for Pong {
    const NAME: &'static str = "pong";
}

/// An item for the collector. None ends it.
#[derive(Serialize, Deserialize)]
pub(crate) struct Item(pub(crate) Option<u64>);
impl Event for Item {
    const NAME: &'static str = "item";
}

#[derive(Serialize)]
pub(crate) struct Ask;
impl Rpc for Ask {
    const METHOD: &'static str = "ask";
    type Answer = u64;
}

/// Registers the workflows of a simulation with an engine or a worker.
macro_rules! register {
    ($builder:expr, $env:expr) => {{
        let env = $env;
        $builder
            .function("leaf", leaf)
            .function("collector", collect)
            .function_with(
                RANDOM,
                Options::new().execution_retries(1),
                move |ctx, program: Vec<Op>| run_program(ctx, program, env.clone()),
            )
    }};
}

/// The random programs, with side effects in the world of the process that executes them.
pub(crate) struct RandomPrograms;

impl Programs for RandomPrograms {
    fn on_node(
        &self,
        world: &Arc<World>,
        process: &Arc<Process>,
        engine: EngineBuilder,
    ) -> EngineBuilder {
        register!(engine, Env::live(world, process))
    }

    fn on_worker(
        &self,
        world: &Arc<World>,
        process: &Arc<Process>,
        worker: WorkerBuilder,
    ) -> WorkerBuilder {
        register!(worker, Env::live(world, process))
    }
}

/// The workflow of all children.
async fn leaf(ctx: Ctx, (takes_ms, fails): (u64, bool)) -> Result<u64> {
    if takes_ms > 0 {
        ctx.sleep("grow", millis(takes_ms)).await?;
    }
    let grown = ctx
        .step("leaf", || async { Ok::<_, Error>(takes_ms) })
        .await?;
    match fails {
        true => Err(Error::fatal("withered")),
        false => Ok(grown),
    }
}

/// Collects items in a loop until it is ended, and returns them all.
pub(crate) async fn collect(ctx: Ctx<AnyEvent>, _: ()) -> Result<Vec<u64>> {
    let looped = ctx.repeat(
        "collect",
        Vec::new(),
        |ctx: Ctx<AnyEvent>, mut seen: Vec<u64>| async move {
            let items = ctx.events::<Item>(4).timeout(secs(25)).await?;
            for item in items {
                match item.0 {
                    Some(token) => seen.push(token),
                    None => return Ok(ControlFlow::Break(seen)),
                }
            }
            Ok(ControlFlow::Continue(seen))
        },
    );
    looped.keep(1).await
}
