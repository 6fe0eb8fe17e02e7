//! `everstep bench loop`: one run that goes round and round, one strict step in each iteration.
//!
//! It stops at a tenth, at half and at the end of its iterations and waits for an event. There the journal is weighed, the
//! engine is closed and opened again, and the time is taken from the event to the code that follows it. All of this must
//! not grow with the age of the loop.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use anyhow::Context;
use everstep::{Accepts, Ctx, Engine, Error, Event, RunHandle, RunStatus, Workflow};
use everstep_model::{Frame, FrameHeader, Record};
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;

use crate::bench::case::{Case, Rounds};
use crate::bench::figure::{Bound, Unit};
use crate::bench::memory;
use crate::bench::setup::Setup;
use crate::bench::statistics::ratio;

/// Where the loop stops, in hundredths of its iterations.
const STOPS: [u64; 3] = [10, 50, 100];
/// How often it is looked whether the run has come to a stop.
const LOOK_EVERY: Duration = Duration::from_millis(20);

type Resumed = mpsc::UnboundedReceiver<Instant>;

#[derive(Serialize, Deserialize)]
struct Go;

impl Event for Go {
    const NAME: &'static str = "go";
}

/// The workflow that is measured.
struct LongLoop {
    /// When it goes on after a stop.
    resumes: mpsc::UnboundedSender<Instant>,
}

impl Accepts<Go> for LongLoop {}

impl LongLoop {
    async fn stop(&self, ctx: &Ctx<Self>) -> everstep::Result<()> {
        ctx.event::<Go>().await?;
        // Nobody listens only once the benchmark has ended.
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

/// One case for each stop: what the run was like there.
pub(super) fn measure(setup: &Setup<'_>) -> anyhow::Result<Vec<Case>> {
    let (runtime, iterations) = (setup.runtime()?, setup.arguments.iterations);
    let place = setup.place.fresh("engine")?;
    let (resumes, mut resumed) = mpsc::unbounded_channel();
    let open = || {
        let workflow = LongLoop {
            resumes: resumes.clone(),
        };
        runtime.block_on(Engine::open(&place).workflow(workflow).start())
    };
    let mut engine = open()?;
    runtime.block_on(async { engine.start::<LongLoop>(&iterations).id("loop").await })?;
    let (mut cases, mut before) = (Vec::new(), 0);
    let mut begun = Instant::now();
    for stop in STOPS {
        let iteration = iterations * stop / 100;
        let progress = &setup.progress;
        progress.say(&format!("to iteration {iteration} of {iterations}"));
        let (records, bytes) = runtime.block_on(async {
            let run = engine.run("loop").await?;
            come_to_stop(&run, iteration).await?;
            weigh(&run).await
        })?;
        let elapsed = begun.elapsed().as_secs_f64();
        let memory = memory::resident();
        runtime.block_on(engine.shutdown());
        drop(engine);
        engine = open()?;
        begun = Instant::now();
        let resume = runtime.block_on(go_on(&engine, &mut resumed))?;
        let mut figures = Rounds::default();
        let rate = ratio((iteration - before) as f64, elapsed);
        figures.add("iterations", Unit::PerSecond, rate);
        figures.add("journal records", Unit::Count, records as f64);
        figures.add("journal", Unit::Bytes, bytes as f64);
        // From sending the event, to an engine that has just been opened, until the code after it runs.
        figures.add("resume", Unit::Milliseconds, resume.as_secs_f64() * 1e3);
        figures.add("memory", Unit::Bytes, memory);
        cases.push(figures.into_case(format!("after {iteration} iterations")));
        before = iteration;
    }
    runtime.block_on(engine.shutdown());
    Ok(compared(cases))
}

/// The journal at the end should be about as long as at the first stop.
fn compared(mut cases: Vec<Case>) -> Vec<Case> {
    const RECORDS: &str = "journal records";
    let first = cases.first().map_or(0.0, |case| case.value(RECORDS));
    if let Some(last) = cases.pop() {
        let means = "twice as at the first stop";
        cases.push(last.aim(RECORDS, Bound::AtMost, 2.0 * first, means));
    }
    cases
}

/// Waits until the run waits for its event.
async fn come_to_stop(run: &RunHandle, iteration: u64) -> anyhow::Result<()> {
    loop {
        match run.status().await? {
            RunStatus::Waiting => return Ok(()),
            status if status.is_terminal() => {
                anyhow::bail!("the run was {status} before iteration {iteration}")
            }
            _ => tokio::time::sleep(LOOK_EVERY).await,
        }
    }
}

/// How many records the journal holds, and how many bytes they have in frames.
async fn weigh(run: &RunHandle) -> anyhow::Result<(usize, usize)> {
    let journal = run.journal().await?;
    let records: Vec<Record> = journal.into_iter().map(|entry| entry.record).collect();
    let bytes = Frame::encode(&FrameHeader::default(), &records).len();
    Ok((records.len(), bytes))
}

/// Sends the event, waits until the code has it, and says how long that took.
async fn go_on(engine: &Engine, resumed: &mut Resumed) -> anyhow::Result<Duration> {
    let run = engine.run("loop").await?;
    let payload = everstep::Payload::from_value(&Go)?;
    let begun = Instant::now();
    run.send_by_name(Go::NAME, payload, None)
        .await
        .context("the event was refused")?;
    let at = resumed.recv().await.context("the run does not go on")?;
    Ok(at.duration_since(begun))
}
