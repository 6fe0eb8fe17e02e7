//! What the simulated cluster is busy with: random programs, the run that collects events, and the clients.

mod clients;
mod env;
mod interpreter;
mod ledger;
mod program;
mod requests;

use everstep::{
    AnyEvent, Ctx, EngineBuilder, Error, Event, Options, Result, Rpc, WorkerBuilder, Workflows,
    millis, secs,
};
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;

pub(crate) use clients::unfinished;
pub use clients::{COLLECTOR, finish, live, prepare};
pub use env::Env;
pub use interpreter::run_program;
pub(crate) use interpreter::value_of;
#[cfg(test)]
pub(crate) use ledger::{Attempt, SendTry};
pub use ledger::{Deletion, Fate, Ledger};
#[cfg(test)]
pub(crate) use program::How;
pub use program::{Op, PRIMITIVES, Seen, has};
pub use requests::REQUESTS;

/// The workflow that runs programs.
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

/// Something to collect; none means that it is enough.
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

/// Registers the workflows of a simulation with whoever executes them.
macro_rules! register {
    ($builder:expr, $env:expr) => {{
        let env = $env;
        $builder.workflows(
            Workflows::new()
                .function("leaf", leaf)
                .function("collector", collect)
                .function_with(
                    RANDOM,
                    Options::new().execution_retries(1),
                    move |ctx, program: Vec<Op>| run_program(ctx, program, env.clone()),
                ),
        )
    }};
}

/// Registers the workflows of a simulation with an engine.
pub fn register(builder: EngineBuilder, env: Env) -> EngineBuilder {
    register!(builder, env)
}

/// Registers the workflows of a simulation with a worker.
pub fn register_with_worker(builder: WorkerBuilder, env: Env) -> WorkerBuilder {
    register!(builder, env)
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

/// The workflow that collects items in a loop until it is told that it is enough, and returns them all.
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
