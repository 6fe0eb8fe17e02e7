//! `start`: from the call that starts a run until the function of its first step begins. In between the run is created
//! durably, so one sync is the least.

use std::time::Instant;

use anyhow::Context;
use everstep::{Ctx, Engine, Error, Workflow};
use tokio::sync::mpsc;

use super::again::again_and_again;
use crate::bench::case::Case;
use crate::bench::figure::Bound;
use crate::bench::setup::Setup;

const NAME: &str = "first step";

struct OneStep {
    /// When its step begins.
    begins: mpsc::UnboundedSender<Instant>,
}

impl Workflow for OneStep {
    const NAME: &'static str = "one-step";
    type Input = ();
    type Output = ();

    async fn run(&self, ctx: Ctx<Self>, (): ()) -> everstep::Result<()> {
        ctx.step("first", || async {
            // Nobody listens only once the benchmark has ended.
            let _ = self.begins.send(Instant::now());
            Ok::<_, Error>(())
        })
        .await
    }
}

pub(super) fn measure(setup: &Setup<'_>) -> anyhow::Result<Vec<Case>> {
    let runtime = setup.runtime()?;
    let (begins, mut begun) = mpsc::unbounded_channel();
    let engine = Engine::open(setup.place.fresh("engine")?).workflow(OneStep { begins });
    let engine = runtime.block_on(engine.start())?;
    let rounds = again_and_again(setup, &runtime, NAME, async || {
        let called = Instant::now();
        let run = engine.start::<OneStep>(&()).await?;
        let at = begun.recv().await.context("no step begins any more")?;
        run.wait().await?;
        Ok(at.duration_since(called))
    })?;
    runtime.block_on(engine.shutdown());
    let case = rounds.into_case("one run at a time");
    let limit = case.sync_ms() + 1.0;
    let name = format!("{NAME} p50");
    Ok(vec![case.aim(
        &name,
        Bound::AtMost,
        limit,
        "1 fdatasync + 1 ms",
    )])
}
