//! `loop`: one run with a long loop and one strict step per iteration.
//!
//! After 10 %, 50 % and 100 % of its iterations the run waits for an event. The workload then
//! measures the size of the journal, reopens the engine, and measures the time from the event until
//! the workflow code continues. None of these may grow with the number of iterations.

use std::ops::ControlFlow;
use std::time::Instant;

use everstep::{Ctx, Engine, Error, RunHandle, Workflow, Workflows, interface};
use everstep_model::{Frame, FrameHeader, Record};
use tokio::sync::mpsc;

use super::resuming::{Go, Resumes, pause, resume, wait_until_paused};
use crate::case::{Case, Rounds};
use crate::figure::Unit;
use crate::process::resident_bytes;
use crate::setup::Setup;
use crate::statistics::ratio;

/// Where the loop stops, in percent of its iterations.
const STOPS: [u64; 3] = [10, 50, 100];
const RECORDS: &str = "journal records";

struct LongLoop {
    /// Receives the time at which the run continues after a stop.
    resumes: Resumes,
}

interface!(LongLoopInterface { events: Go; });

impl Workflow for LongLoop {
    const NAME: &'static str = "long-loop";
    type Input = u64;
    type Output = u64;
    type Interface = LongLoopInterface;

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
                pause(&ctx, &self.resumes).await?;
            }
            Ok(ControlFlow::Continue(n))
        };
        let counted = ctx.repeat("count", 0, body).await?;
        pause(&ctx, &self.resumes).await?;
        Ok(counted)
    }
}

pub(crate) fn measure(setup: &Setup<'_>) -> anyhow::Result<Vec<Case>> {
    let (runtime, iterations) = (setup.runtime()?, setup.arguments.iterations);
    let directory = setup.scratch.fresh("engine")?;
    let (resumes, mut resumed) = mpsc::unbounded_channel();
    let open = || {
        let resumes = resumes.clone();
        let workflows = Workflows::new().workflow(LongLoop { resumes });
        runtime.block_on(Engine::open(&directory).workflows(workflows).start())
    };
    let mut engine = open()?;
    runtime.block_on(async { engine.start::<LongLoop>(&iterations).id("loop").await })?;
    let (mut cases, mut before) = (Vec::<Case>::new(), 0);
    let mut begun = Instant::now();
    for stop in STOPS {
        let iteration = iterations * stop / 100;
        setup.stage(format!("to iteration {iteration} of {iterations}"));
        let (records, bytes) = runtime.block_on(async {
            let run = engine.run("loop").await?;
            wait_until_paused(&run).await?;
            journal_size(&run).await
        })?;
        let elapsed = begun.elapsed().as_secs_f64();
        let memory = resident_bytes();
        runtime.block_on(engine.shutdown());
        drop(engine);
        engine = open()?;
        begun = Instant::now();
        let run = runtime.block_on(engine.run("loop"))?;
        let resume = runtime.block_on(resume(&run, &mut resumed))?;
        let mut figures = Rounds::default();
        let rate = ratio((iteration - before) as f64, elapsed);
        figures.add("iterations", Unit::PerSecond, rate);
        figures.add(RECORDS, Unit::Count, records as f64);
        figures.add("journal", Unit::Bytes, bytes as f64);
        // From sending the event to a newly opened engine until the code after it runs.
        figures.add("resume", Unit::Milliseconds, resume.as_secs_f64() * 1e3);
        figures.add("memory", Unit::Bytes, memory);
        cases.push(figures.into_case(format!("after {iteration} iterations")));
        before = iteration;
    }
    runtime.block_on(engine.shutdown());
    // The journal must not grow between the first and the last stop.
    let first = cases.first().map_or(0.0, |case| case.value(RECORDS));
    let last = cases
        .pop()
        .map(|last| last.at_most(RECORDS, 2.0 * first, "twice the first stop"));
    cases.extend(last);
    Ok(cases)
}

/// Returns the number of records in the journal and their size in bytes as a frame.
async fn journal_size(run: &RunHandle) -> anyhow::Result<(usize, usize)> {
    let journal = run.journal().await?;
    let records: Vec<Record> = journal.into_iter().map(|entry| entry.record).collect();
    let bytes = Frame::encode(&FrameHeader::default(), &records).len();
    Ok((records.len(), bytes))
}
