//! `start`: from the call that starts a run until the function of its first step begins. In between the run is created
//! durably, so one sync is the least.

use std::time::Instant;

use anyhow::Context;
use everstep::{Ctx, Engine, Error, Workflow};
use tokio::sync::mpsc;

use super::again::{Allowed, again_and_again};
use crate::bench::case::Case;
use crate::bench::setup::Setup;

const NAME: &str = "first step";
const ALLOWED: Allowed = Allowed {
    syncs: 1.0,
    more_ms: 1.0,
    name: "of 1 fdatasync + 1 ms",
};

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
    let rounds = again_and_again(setup, &runtime, NAME, Some(ALLOWED), async || {
        let called = Instant::now();
        let run = engine.start::<OneStep>(&()).await?;
        let at = begun.recv().await.context("no step begins any more")?;
        run.wait().await?;
        Ok(at.duration_since(called))
    })?;
    runtime.block_on(engine.shutdown());
    Ok(vec![ALLOWED.aim(rounds.into_case("one run at a time"))])
}
