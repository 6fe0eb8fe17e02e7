//! `event`: a run waits for an event and ends with it; from the call that sends the event until whoever waits for the run has
//! its result. The event, the end and what follows from them are made durable on the way.

use std::time::Instant;

use anyhow::{Context, bail};
use everstep::{Accepts, Body, Ctx, Engine, Event, Handle, Workflow};
use serde::{Deserialize, Serialize};

use super::again::{Allowed, again_and_again};
use crate::bench::case::Case;
use crate::bench::setup::Setup;

const NAME: &str = "sent to completed";
const ALLOWED: Allowed = Allowed {
    syncs: 3.0,
    more_ms: 0.3,
    name: "of 3 fdatasyncs + 0.3 ms",
};

#[derive(Serialize, Deserialize)]
struct Go;

impl Event for Go {
    const NAME: &'static str = "go";
}

struct WaitsForOne;

impl Accepts<Go> for WaitsForOne {}

impl Workflow for WaitsForOne {
    const NAME: &'static str = "waits-for-one";
    type Input = ();
    type Output = ();

    async fn run(&self, ctx: Ctx<Self>, (): ()) -> everstep::Result<()> {
        ctx.event::<Go>().await?;
        Ok(())
    }
}

pub(super) fn measure(setup: &Setup<'_>) -> anyhow::Result<Vec<Case>> {
    let runtime = setup.runtime()?;
    let engine = Engine::open(setup.place.fresh("engine")?).workflow(WaitsForOne);
    let engine = runtime.block_on(engine.start())?;
    let rounds = again_and_again(setup, &runtime, NAME, Some(ALLOWED), async || {
        let run = engine.start::<WaitsForOne>(&()).await?;
        comes_to_wait(&run).await?;
        let sent = Instant::now();
        run.send(&Go).await?;
        run.wait().await?;
        Ok(sent.elapsed())
    })?;
    runtime.block_on(engine.shutdown());
    Ok(vec![ALLOWED.aim(rounds.into_case("one run at a time"))])
}

/// Returns once it is durable that the run waits.
async fn comes_to_wait(run: &Handle<WaitsForOne>) -> anyhow::Result<()> {
    let mut records = run.records().await?;
    loop {
        let entry = records.next().await?.context("the run ended")?;
        match entry.record.body {
            Body::Waiting(_) => return Ok(()),
            Body::Failed(_) => bail!("the run failed"),
            _ => {}
        }
    }
}
