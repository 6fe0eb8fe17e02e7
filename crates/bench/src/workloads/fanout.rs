//! `fanout`: the duration of one run with many parallel steps (joined futures, branches) or
//! children.

use std::time::Instant;

use everstep::{Ctx, Engine, Error, Payload, Result, Workflow, Workflows};
use futures_util::future::try_join_all;

use super::repeated::measure_repeatedly;
use crate::case::Case;
use crate::setup::Setup;

/// Steps as joined futures.
async fn joined(ctx: Ctx, width: u32) -> Result<u32> {
    let steps = (0..width).map(|n| ctx.step("work", move || async move { Ok::<_, Error>(n) }));
    let results = try_join_all(steps).await?;
    Ok(results.into_iter().sum())
}

/// Steps in branches, each in its own scope.
async fn branches(ctx: Ctx, width: u32) -> Result<u32> {
    let work = |ctx: Ctx, n: u32| async move {
        let step = ctx.step("work", move || async move { Ok::<_, Error>(n) });
        step.await
    };
    let results = ctx.for_each("all", 0..width, work).await?;
    Ok(results.into_iter().sum())
}

/// Children as joined futures.
async fn children(ctx: Ctx, width: u32) -> Result<u32> {
    let children = (0..width).map(|n| ctx.child::<Child>(&n));
    let results = try_join_all(children).await?;
    Ok(results.into_iter().sum())
}

struct Child;

impl Workflow for Child {
    const NAME: &'static str = "child";
    type Input = u32;
    type Output = u32;
    type Interface = ();

    async fn run(&self, ctx: Ctx<Self>, n: u32) -> Result<u32> {
        ctx.step("work", move || async move { Ok::<_, Error>(n) })
            .await
    }
}

pub(crate) fn measure(setup: &Setup<'_>) -> anyhow::Result<Vec<Case>> {
    let (runtime, width) = (setup.runtime()?, setup.arguments.width);
    let engine = Engine::open(setup.scratch.fresh("engine")?).workflows(
        Workflows::new()
            .workflow(Child)
            .function("joined", joined)
            .function("branches", branches)
            .function("children", children),
    );
    let engine = runtime.block_on(engine.start())?;
    let input = Payload::from_value(&width)?;
    let mut cases = Vec::new();
    for (workflow, what) in [
        ("joined", "steps joined"),
        ("branches", "steps in branches"),
        ("children", "children"),
    ] {
        let rounds = measure_repeatedly(setup, &runtime, "run", None, async || {
            let begun = Instant::now();
            let run = engine.start_by_name(workflow, input.clone()).await?;
            run.wait_json().await?;
            Ok(begun.elapsed())
        })?;
        let case = rounds.into_case(format!("{width} {what}"));
        cases.push(match (workflow, width) {
            ("joined" | "branches", 1_000) => case.at_most("run p50", 30.0, "1,000 parallel steps"),
            _ => case,
        });
    }
    runtime.block_on(engine.shutdown());
    Ok(cases)
}
