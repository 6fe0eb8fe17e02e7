//! `replay`: a run with a long journal is not in memory and receives an event. Measures the time
//! from sending the event until the code after it runs. The engine replays all previous steps in
//! between, so the time per step should not depend on their number.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context;
use everstep::{Accepts, Ctx, Engine, Error, Event, RunStatus, Workflow, Workflows};
use serde::{Deserialize, Serialize};
use tokio::runtime::Runtime;
use tokio::sync::mpsc;

use crate::case::{Case, Rounds};
use crate::figure::{Bound, Unit};
use crate::memory;
use crate::payload::RandomTexts;
use crate::setup::Setup;
use crate::statistics::ratio;

/// The maximum number of steps of all runs of a case together.
const STEPS_TOGETHER: u64 = 100_000;
/// The maximum number of runs resumed per round.
const RUNS_PER_ROUND: u64 = 25;
/// How often the status of a run is polled.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

#[derive(Serialize, Deserialize)]
struct Go;

impl Event for Go {
    const NAME: &'static str = "go";
}

struct ManySteps {
    texts: RandomTexts,
    /// Receives the time at which a run continues after its event.
    resumes: mpsc::UnboundedSender<Instant>,
}

impl Accepts<Go> for ManySteps {}

impl Workflow for ManySteps {
    const NAME: &'static str = "many-steps";
    type Input = u64;
    type Output = ();

    async fn run(&self, ctx: Ctx<Self>, steps: u64) -> everstep::Result<()> {
        for _ in 0..steps {
            ctx.step("work", || async { Ok::<_, Error>(self.texts.next()) })
                .await?;
        }
        ctx.event::<Go>().await?;
        // The receiver is gone only at the end of the benchmark.
        let _ = self.resumes.send(Instant::now());
        Ok(())
    }
}

pub(crate) fn measure(setup: &Setup<'_>) -> anyhow::Result<Vec<Case>> {
    let runtime = setup.runtime()?;
    let mut cases = Vec::new();
    for &steps in &setup.arguments.steps {
        let case = measure_one(setup, &runtime, steps)?;
        cases.push(match steps {
            1_000 => case.with_target("resume p50", Bound::AtMost, 5.0, "1,000 steps"),
            _ => case,
        });
    }
    Ok(cases)
}

fn measure_one(setup: &Setup<'_>, runtime: &Runtime, steps: u64) -> anyhow::Result<Case> {
    let rounds = setup.rounds();
    let together = (STEPS_TOGETHER / steps).clamp(1, RUNS_PER_ROUND * u64::from(rounds));
    let runs = together.max(u64::from(rounds));
    let directory = setup.scratch.fresh("engine")?;
    let (resumes, mut resumed) = mpsc::unbounded_channel();
    let open = || {
        let workflow = ManySteps {
            texts: RandomTexts::of_json_bytes(setup.payload_bytes()),
            resumes: resumes.clone(),
        };
        let engine = Engine::open(AsRef::<Path>::as_ref(&directory))
            .workflows(Workflows::new().workflow(workflow));
        runtime.block_on(engine.start())
    };
    setup
        .progress
        .stage(&format!("{runs} runs of {steps} steps"));
    let engine = open()?;
    runtime.block_on(prepare(&engine, runs, steps))?;
    runtime.block_on(engine.shutdown());
    drop(engine);

    let mut figures = Rounds::default();
    let mut left = 0..runs;
    for _ in 0..rounds {
        let disk = setup.measure_sync()?;
        setup
            .progress
            .stage(&format!("resuming runs of {steps} steps"));
        let engine = open()?;
        let mut took = Vec::new();
        for run in left.by_ref().take((runs / u64::from(rounds)) as usize) {
            let resume = resume(&engine, run, &mut resumed);
            took.push(runtime.block_on(resume)?.as_secs_f64() * 1e3);
        }
        runtime.block_on(engine.shutdown());
        figures.add_latencies("resume", &mut took);
        let mean = ratio(took.iter().sum(), took.len() as f64);
        let each = ratio(mean * 1e3, steps as f64);
        figures.add("resume per step", Unit::Microseconds, each);
        figures.add("samples", Unit::Count, took.len() as f64);
        figures.add("memory", Unit::Bytes, memory::resident());
        figures.add_sync(&disk);
    }
    Ok(figures.into_case(format!("{steps} steps")))
}

fn id_of(run: u64) -> String {
    format!("run-{run}")
}

/// Starts the runs and waits until they have completed their steps.
async fn prepare(engine: &Engine, runs: u64, steps: u64) -> anyhow::Result<()> {
    let inputs = (0..runs).map(|run| (id_of(run), steps));
    for run in engine.start_batch::<ManySteps>(inputs).await {
        let run = run?;
        while run.status().await? != RunStatus::Waiting {
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }
    Ok(())
}

async fn resume(
    engine: &Engine,
    run: u64,
    resumed: &mut mpsc::UnboundedReceiver<Instant>,
) -> anyhow::Result<Duration> {
    let run = engine.run_of::<ManySteps>(id_of(run)).await?;
    let sent = Instant::now();
    run.send(&Go).await?;
    let at = resumed.recv().await.context("the workflow was dropped")?;
    run.wait().await?;
    Ok(at.duration_since(sent))
}
