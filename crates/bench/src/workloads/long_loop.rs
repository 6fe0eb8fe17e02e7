//! `loop`: one run with a long loop and one strict step per iteration.
//!
//! After 10 %, 50 % and 100 % of its iterations the run waits for an event. The workload then
//! measures the size of the journal, reopens the engine, and measures the time from the event until
//! the workflow code continues. None of these may grow with the number of iterations.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use anyhow::Context;
use everstep::{Accepts, Ctx, Engine, Error, Event, RunHandle, RunStatus, Workflow, Workflows};
use everstep_model::{Frame, FrameHeader, Record};
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;

use crate::case::{Case, Rounds};
use crate::figure::{Bound, Unit};
use crate::memory;
use crate::setup::Setup;
use crate::statistics::ratio;

/// Where the loop stops, in percent of its iterations.
const STOPS: [u64; 3] = [10, 50, 100];
/// How often the status of the run is polled.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

type Resumed = mpsc::UnboundedReceiver<Instant>;

#[derive(Serialize, Deserialize)]
struct Go;

impl Event for Go {
    const NAME: &'static str = "go";
}

/// The measured workflow.
struct LongLoop {
    /// Receives the time at which the run continues after a stop.
    resumes: mpsc::UnboundedSender<Instant>,
}

impl Accepts<Go> for LongLoop {}

impl LongLoop {
    async fn stop(&self, ctx: &Ctx<Self>) -> everstep::Result<()> {
        ctx.event::<Go>().await?;
        // The receiver is gone only at the end of the benchmark.
        let _ = self.resumes.send(Instant::now());
        Ok(())
    }
}

impl Workflow for LongLoop {
    const NAME: &'static str = "long-loop";
    type Input = u64;
    type Output = u64;

    async fn run(&self, ctx: Ctx<Self>, iterations: u64) -> everstep::Result<u64> {
        let stops = STOPS.map(|stop| iterations * stop / 100);
        let body = |ctx: Ctx<Self>, n: u64| async move {
            let n = ctx
                .step("count", || async { Ok::<_, Error>(n + 1) })
                .await?;
            if n == iterations {
                return Ok(ControlFlow::Break(n));
            }
            if stops.contains(&n) {
                self.stop(&ctx).await?;
            }
            Ok(ControlFlow::Continue(n))
        };
        let counted = ctx.repeat("count", 0, body).await?;
        self.stop(&ctx).await?;
        Ok(counted)
    }
}

/// Returns one case per stop.
pub(crate) fn measure(setup: &Setup<'_>) -> anyhow::Result<Vec<Case>> {
    let (runtime, iterations) = (setup.runtime()?, setup.arguments.iterations);
    let directory = setup.scratch.fresh("engine")?;
    let (resumes, mut resumed) = mpsc::unbounded_channel();
    let open = || {
        let workflow = LongLoop {
            resumes: resumes.clone(),
        };
        runtime.block_on(
            Engine::open(&directory)
                .workflows(Workflows::new().workflow(workflow))
                .start(),
        )
    };
    let mut engine = open()?;
    runtime.block_on(async { engine.start::<LongLoop>(&iterations).id("loop").await })?;
    let (mut cases, mut before) = (Vec::new(), 0);
    let mut begun = Instant::now();
    for stop in STOPS {
        let iteration = iterations * stop / 100;
        let progress = &setup.progress;
        progress.stage(&format!("to iteration {iteration} of {iterations}"));
        let (records, bytes) = runtime.block_on(async {
            let run = engine.run("loop").await?;
            wait_for_stop(&run, iteration).await?;
            journal_size(&run).await
        })?;
        let elapsed = begun.elapsed().as_secs_f64();
        let memory = memory::resident();
        runtime.block_on(engine.shutdown());
        drop(engine);
        engine = open()?;
        begun = Instant::now();
        let resume = runtime.block_on(resume(&engine, &mut resumed))?;
        let mut figures = Rounds::default();
        let rate = ratio((iteration - before) as f64, elapsed);
        figures.add("iterations", Unit::PerSecond, rate);
        figures.add("journal records", Unit::Count, records as f64);
        figures.add("journal", Unit::Bytes, bytes as f64);
        // From sending the event to a newly opened engine until the code after it runs.
        figures.add("resume", Unit::Milliseconds, resume.as_secs_f64() * 1e3);
        figures.add("memory", Unit::Bytes, memory);
        cases.push(figures.into_case(format!("after {iteration} iterations")));
        before = iteration;
    }
    runtime.block_on(engine.shutdown());
    Ok(with_targets(cases))
}

/// Adds the target that the journal does not grow between the first and the last stop.
fn with_targets(mut cases: Vec<Case>) -> Vec<Case> {
    const RECORDS: &str = "journal records";
    let first = cases.first().map_or(0.0, |case| case.value(RECORDS));
    if let Some(last) = cases.pop() {
        let means = "twice the first stop";
        cases.push(last.with_target(RECORDS, Bound::AtMost, 2.0 * first, means));
    }
    cases
}

async fn wait_for_stop(run: &RunHandle, iteration: u64) -> anyhow::Result<()> {
    loop {
        match run.status().await? {
            RunStatus::Waiting => return Ok(()),
            status if status.is_terminal() => {
                anyhow::bail!("the run was {status} before iteration {iteration}")
            }
            _ => tokio::time::sleep(POLL_INTERVAL).await,
        }
    }
}

/// Returns the number of records in the journal and their size in bytes as a frame.
async fn journal_size(run: &RunHandle) -> anyhow::Result<(usize, usize)> {
    let journal = run.journal().await?;
    let records: Vec<Record> = journal.into_iter().map(|entry| entry.record).collect();
    let bytes = Frame::encode(&FrameHeader::default(), &records).len();
    Ok((records.len(), bytes))
}

/// Sends the event and returns the time until the workflow code continues.
async fn resume(engine: &Engine, resumed: &mut Resumed) -> anyhow::Result<Duration> {
    let run = engine.run("loop").await?;
    let payload = everstep::Payload::from_value(&Go)?;
    let begun = Instant::now();
    run.send_by_name(Go::NAME, payload, None)
        .await
        .context("cannot send the event")?;
    let at = resumed.recv().await.context("the workflow was dropped")?;
    Ok(at.duration_since(begun))
}
