//! `event`: a run waits for an event and then completes. Measures the time from sending the event
//! until the caller has the run's result. The event and the end of the run become durable in
//! between.

use std::time::Instant;

use anyhow::{Context, bail};
use everstep::journal::Body;
use everstep::{Ctx, Engine, Handle, Workflow, Workflows, interface};

use super::repeated::LatencyBudget;
use super::resuming::Go;
use crate::case::Case;
use crate::setup::Setup;

const BUDGET: LatencyBudget = LatencyBudget {
    syncs: 3.0,
    extra_ms: 0.3,
    name: "ratio to 3 fdatasyncs + 0.3 ms",
};

struct WaitsForOne;

interface!(WaitsForOneInterface { events: Go; });

impl Workflow for WaitsForOne {
    const NAME: &'static str = "waits-for-one";
    type Input = ();
    type Output = ();
    type Interface = WaitsForOneInterface;

    async fn run(&self, ctx: Ctx<Self>, (): ()) -> everstep::Result<()> {
        ctx.event::<Go>().await?;
        Ok(())
    }
}

pub(crate) fn measure(setup: &Setup<'_>) -> anyhow::Result<Vec<Case>> {
    let runtime = setup.runtime()?;
    let engine = Engine::open(setup.scratch.fresh("engine")?)
        .workflows(Workflows::new().workflow(WaitsForOne));
    let engine = runtime.block_on(engine.start())?;
    let cases = BUDGET.measure(setup, &runtime, "sent to completed", async || {
        let run = engine.start::<WaitsForOne>(&()).await?;
        until_waiting(&run).await?;
        let sent = Instant::now();
        run.send(&Go).await?;
        run.wait().await?;
        Ok(sent.elapsed())
    })?;
    runtime.block_on(engine.shutdown());
    Ok(cases)
}

/// Returns when the record that the run waits for its event is durable.
async fn until_waiting(run: &Handle<WaitsForOne>) -> anyhow::Result<()> {
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
