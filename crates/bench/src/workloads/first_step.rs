//! `start`: the time from starting a run until its first step begins. The creation of the run
//! becomes durable in between, so one sync is the lower bound.

use std::time::Instant;

use anyhow::Context;
use everstep::{Ctx, Engine, Error, Workflow, Workflows};
use tokio::sync::mpsc;

use super::repeated::LatencyBudget;
use crate::case::Case;
use crate::setup::Setup;

const BUDGET: LatencyBudget = LatencyBudget {
    syncs: 1.0,
    extra_ms: 1.0,
    name: "ratio to 1 fdatasync + 1 ms",
};

struct OneStep {
    /// Receives the time at which the step begins.
    begins: mpsc::UnboundedSender<Instant>,
}

impl Workflow for OneStep {
    const NAME: &'static str = "one-step";
    type Input = ();
    type Output = ();
    type Interface = ();

    async fn run(&self, ctx: Ctx<Self>, (): ()) -> everstep::Result<()> {
        ctx.step("first", || async {
            // The receiver is dropped only at the end of the benchmark.
            let _ = self.begins.send(Instant::now());
            Ok::<_, Error>(())
        })
        .await
    }
}

pub(crate) fn measure(setup: &Setup<'_>) -> anyhow::Result<Vec<Case>> {
    let runtime = setup.runtime()?;
    let (begins, mut begun) = mpsc::unbounded_channel();
    let engine = Engine::open(setup.scratch.fresh("engine")?)
        .workflows(Workflows::new().workflow(OneStep { begins }));
    let engine = runtime.block_on(engine.start())?;
    let cases = BUDGET.measure(setup, &runtime, "first step", async || {
        let called = Instant::now();
        let run = engine.start::<OneStep>(&()).await?;
        let at = begun.recv().await.context("the workflow was dropped")?;
        run.wait().await?;
        Ok(at.duration_since(called))
    })?;
    runtime.block_on(engine.shutdown());
    Ok(cases)
}
