//! The fixed workflows of a simulation, with the events and rpcs that all workflows use.

use std::ops::ControlFlow;

use everstep::schemars::{self, JsonSchema};
use everstep::{AnyEvent, Ctx, Error, Event, Result, Rpc, millis, secs};
use serde::{Deserialize, Serialize};

/// The workflow that executes programs.
pub const RANDOM: &str = "random";

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct Ping(pub(crate) u64);
impl Event for Ping {
    const NAME: &'static str = "ping";
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct Pong(pub(crate) u64);
impl Event for Pong {
    const NAME: &'static str = "pong";
}

/// An item for the collector. None ends it.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct Item(pub(crate) Option<u64>);
impl Event for Item {
    const NAME: &'static str = "item";
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Ask;
impl Rpc for Ask {
    const METHOD: &'static str = "ask";
    type Answer = u64;
}

/// Sleeps and returns its input; the workflow of all children.
pub(super) async fn leaf(ctx: Ctx<AnyEvent>, (takes_ms, fails): (u64, bool)) -> Result<u64> {
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
