//! `everstep bench loop`: one run that goes round and round, one strict step in each iteration.
//!
//! It stops at a tenth, at half and at the end of its iterations and waits for an event. There the journal is weighed, the
//! engine is closed and opened again, and the time is taken from the event to the code that follows it. All of this must
//! not grow with the age of the loop.

use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Context;
use everstep::{Accepts, Ctx, Engine, Error, Event, RunHandle, RunStatus, Workflow};
use everstep_model::{Frame, FrameHeader, Record};
use serde::{Deserialize, Serialize};
use tokio::runtime::Runtime;

use super::Place;
use super::progress::Progress;
use super::statistics::ratio;
use crate::arguments::Bench;

/// Where the loop stops, in hundredths of its iterations.
const STOPS: [u64; 3] = [10, 50, 100];
/// How often it is looked whether the run has come to a stop.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Everything that was measured.
#[derive(Debug, Serialize)]
struct Report {
    benchmark: &'static str,
    version: &'static str,
    iterations: u64,
    iterations_per_second: f64,
    /// One for each stop.
    results: Vec<Figures>,
}

/// What the run was like at one stop.
#[derive(Debug, Serialize)]
struct Figures {
    iteration: u64,
    /// Since the stop before.
    iterations_per_second: f64,
    journal_records: usize,
    journal_bytes: usize,
    /// From sending the event, to an engine that has just been opened, until the code after it runs.
    resume_ms: f64,
    /// Of the whole process, just before the engine was closed.
    resident_bytes: u64,
}

#[derive(Serialize, Deserialize)]
struct Go;

impl Event for Go {
    const NAME: &'static str = "go";
}

/// The workflow that is measured.
struct LongLoop {
    /// When it last went on after a stop.
    resumed: Arc<Mutex<Option<Instant>>>,
}

impl Accepts<Go> for LongLoop {}

impl LongLoop {
    async fn stop(&self, ctx: &Ctx<Self>) -> everstep::Result<()> {
        ctx.event::<Go>().await?;
        let mut resumed = self.resumed.lock().unwrap_or_else(PoisonError::into_inner);
        *resumed = Some(Instant::now());
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

pub(super) fn run(
    arguments: &Bench,
    is_json: bool,
    place: &Place,
    progress: &Progress,
) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(arguments.workers as usize)
        .enable_all()
        .build()?;
    let report = measure(
        &runtime,
        arguments.iterations,
        &place.fresh("engine")?,
        progress,
    )?;
    progress.clear();
    let text = if is_json {
        serde_json::to_string(&report)?
    } else {
        report.table()
    };
    writeln!(std::io::stdout(), "{text}")?;
    Ok(())
}

fn measure(
    runtime: &Runtime,
    iterations: u64,
    place: &Path,
    progress: &Progress,
) -> anyhow::Result<Report> {
    let resumed = Arc::new(Mutex::new(None));
    let open = || {
        let workflow = LongLoop {
            resumed: resumed.clone(),
        };
        runtime.block_on(Engine::open(place).workflow(workflow).start())
    };
    let mut engine = open()?;
    let run = runtime.block_on(async { engine.start::<LongLoop>(&iterations).id("loop").await })?;
    drop(run);
    let (mut results, mut before, mut took) = (Vec::new(), 0, Duration::ZERO);
    let mut begun = Instant::now();
    for stop in STOPS {
        let iteration = iterations * stop / 100;
        progress.say(&format!("to iteration {iteration} of {iterations}"));
        let (records, bytes) = runtime.block_on(async {
            let run = engine.run("loop").await?;
            come_to_stop(&run, iteration).await?;
            weigh(&run).await
        })?;
        let elapsed = begun.elapsed();
        took += elapsed;
        let resident_bytes = resident();
        runtime.block_on(engine.shutdown());
        drop(engine);
        engine = open()?;
        begun = Instant::now();
        runtime.block_on(go_on(&engine, &resumed))?;
        let went_on = resumed
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let resume = went_on.map_or(Duration::ZERO, |at| at.duration_since(begun));
        results.push(Figures {
            iteration,
            iterations_per_second: ratio((iteration - before) as f64, elapsed.as_secs_f64()),
            journal_records: records,
            journal_bytes: bytes,
            resume_ms: resume.as_secs_f64() * 1e3,
            resident_bytes,
        });
        before = iteration;
    }
    runtime.block_on(engine.shutdown());
    Ok(Report {
        benchmark: "loop",
        version: env!("CARGO_PKG_VERSION"),
        iterations,
        iterations_per_second: ratio(iterations as f64, took.as_secs_f64()),
        results,
    })
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

/// Sends the event, and waits until the code has it.
async fn go_on(engine: &Engine, resumed: &Mutex<Option<Instant>>) -> anyhow::Result<()> {
    let run = engine.run("loop").await?;
    let payload = everstep::Payload::from_value(&Go)?;
    run.send_by_name(Go::NAME, payload, None)
        .await
        .context("the event was refused")?;
    while resumed
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .is_none()
    {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    Ok(())
}

/// The memory of this process that is not swapped out, where the system tells.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|rest| {
        rest.trim()
            .trim_end_matches("kB")
            .trim()
            .parse::<u64>()
            .ok()
    });
    kilobytes.unwrap_or_default() * 1_024
}

impl Report {
    fn table(&self) -> String {
        let mut text = format!(
            "loop: {} iterations of one strict step, {:.0} iterations/s\n\n",
            self.iterations, self.iterations_per_second
        );
        text.push_str(
            "iteration   iterations/s   journal records   journal bytes   resume      memory\n",
        );
        for row in &self.results {
            text.push_str(&format!(
                "{:>9} {:>14.0} {:>17} {:>15} {:>6.2} ms {:>8.1} MB\n",
                row.iteration,
                row.iterations_per_second,
                row.journal_records,
                row.journal_bytes,
                row.resume_ms,
                row.resident_bytes as f64 / 1e6
            ));
        }
        text.push_str(
            "\nRecords, bytes and time to resume should not grow from one line to the next.",
        );
        text
    }
}
