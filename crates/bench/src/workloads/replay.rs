//! `replay`: a run with a long journal is not in memory and receives an event. Measures the time
//! from sending the event until the code after it runs. The engine replays all previous steps in
//! between, so the time per step should not depend on their number.

use everstep::{Ctx, Engine, Error, Workflow, Workflows, interface};
use tokio::runtime::Runtime;
use tokio::sync::mpsc;

use super::resuming::{Go, Resumes, pause, resume, wait_until_paused};
use crate::case::{Case, Rounds};
use crate::figure::Unit;
use crate::payload::RandomTexts;
use crate::setup::Setup;
use crate::statistics::ratio;

/// The maximum number of steps of all runs of a case together.
const STEPS_TOGETHER: u64 = 100_000;
/// The maximum number of runs resumed per round.
const RUNS_PER_ROUND: u64 = 25;

struct ManySteps {
    texts: RandomTexts,
    /// Receives the time at which a run continues after its event.
    resumes: Resumes,
}

interface!(ManyStepsInterface { events: Go; });

impl Workflow for ManySteps {
    const NAME: &'static str = "many-steps";
    type Input = u64;
    type Output = ();
    type Interface = ManyStepsInterface;

    async fn run(&self, ctx: Ctx<Self>, steps: u64) -> everstep::Result<()> {
        for _ in 0..steps {
            ctx.step("work", || async { Ok::<_, Error>(self.texts.next()) })
                .await?;
        }
        pause(&ctx, &self.resumes).await
    }
}

pub(crate) fn measure(setup: &Setup<'_>) -> anyhow::Result<Vec<Case>> {
    let runtime = setup.runtime()?;
    let mut cases = Vec::new();
    for &steps in &setup.arguments.steps {
        let case = measure_one(setup, &runtime, steps)?;
        cases.push(match steps {
            1_000 => case.at_most("resume p50", 5.0, "1,000 steps"),
            _ => case,
        });
    }
    Ok(cases)
}

fn measure_one(setup: &Setup<'_>, runtime: &Runtime, steps: u64) -> anyhow::Result<Case> {
    let rounds = setup.repetitions();
    let together = (STEPS_TOGETHER / steps).clamp(1, RUNS_PER_ROUND * u64::from(rounds));
    let runs = together.max(u64::from(rounds));
    let directory = setup.scratch.fresh("engine")?;
    let (resumes, mut resumed) = mpsc::unbounded_channel();
    let open = || {
        let workflow = ManySteps {
            texts: RandomTexts::of_json_bytes(setup.payload_bytes()),
            resumes: resumes.clone(),
        };
        let workflows = Workflows::new().workflow(workflow);
        runtime.block_on(Engine::open(&directory).workflows(workflows).start())
    };
    setup.stage(format!("{runs} runs of {steps} steps"));
    let engine = open()?;
    runtime.block_on(prepare(&engine, runs, steps))?;
    runtime.block_on(engine.shutdown());
    drop(engine);

    let mut figures = Rounds::default();
    let mut left = 0..runs;
    for _ in 0..rounds {
        let disk = setup.measure_sync()?;
        setup.stage(format!("resuming runs of {steps} steps"));
        let engine = open()?;
        let mut took = Vec::new();
        for run in left.by_ref().take((runs / u64::from(rounds)) as usize) {
            let resumed = runtime.block_on(async {
                let run = engine.run(format!("run-{run}")).await?;
                let took = resume(&run, &mut resumed).await?;
                run.wait_json().await?;
                anyhow::Ok(took)
            });
            took.push(resumed?.as_secs_f64() * 1e3);
        }
        runtime.block_on(engine.shutdown());
        figures.add_latencies("resume", &mut took);
        let mean = ratio(took.iter().sum(), took.len() as f64);
        let each = ratio(mean * 1e3, steps as f64);
        figures.add("resume per step", Unit::Microseconds, each);
        figures.add("samples", Unit::Count, took.len() as f64);
        figures.add_memory();
        figures.add_sync(&disk);
    }
    Ok(figures.into_case(format!("{steps} steps")))
}

/// Starts the runs and waits until they have completed their steps.
async fn prepare(engine: &Engine, runs: u64, steps: u64) -> anyhow::Result<()> {
    let inputs = (0..runs).map(|run| (format!("run-{run}"), steps));
    for run in engine.start_batch::<ManySteps>(inputs).await {
        wait_until_paused(&*run?).await?;
    }
    Ok(())
}
