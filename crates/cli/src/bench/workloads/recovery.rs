//! `recovery`: a process dies with very many runs in the middle of a step; from the start of the next process on the same
//! directory until all of them are at work again.
//!
//! ```text
//!   bench ── spawns ──▶ worker process: opens, starts the runs ── "all at work" ──▶ bench
//!     │  kill -9 ─────────▶ ✗
//!     └── spawns ──▶ worker process: opens, picks the runs up ── "all at work" ──▶ bench: how long?   (again for each round)
//! ```

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context;
use everstep::{Ctx, Engine, Error, Workflow};
use tokio::sync::Notify;

use super::batches;
use crate::bench::arguments::AtWork;
use crate::bench::case::{Case, Rounds};
use crate::bench::figure::{Bound, Unit};
use crate::bench::setup::{self, Setup};

/// What a worker process says once its engine is open, and once all runs are at work.
const OPEN: &str = "open";
const AT_WORK: &str = "all at work";
/// How many runs are in flight, unless it is said.
const RUNS: u64 = 10_000;

pub(super) fn measure(setup: &Setup<'_>) -> anyhow::Result<Vec<Case>> {
    let runs = setup.runs(RUNS);
    let place = setup.place.fresh("engine")?;
    setup.progress.say(&format!("{runs} runs begin to work"));
    let mut process = WorkerProcess::spawn(setup, &place, true)?;
    process.says(AT_WORK)?;
    let mut rounds = Rounds::default();
    // A round for each process that takes over; after ten takeovers without progress a run is parked.
    for _ in 0..setup.rounds() {
        drop(process);
        let disk = setup.measure_sync()?;
        setup.progress.say(&format!("{runs} runs are picked up"));
        let begun = Instant::now();
        process = WorkerProcess::spawn(setup, &place, false)?;
        let milliseconds = |took: Duration| took.as_secs_f64() * 1e3;
        process.says(OPEN)?;
        let open = milliseconds(begun.elapsed());
        process.says(AT_WORK)?;
        let at_work = milliseconds(begun.elapsed());
        rounds.add("all at work again", Unit::Milliseconds, at_work);
        rounds.add("of that, until open", Unit::Milliseconds, open);
        rounds.add_sync(&disk);
    }
    drop(process);
    let case = rounds.into_case(format!("{runs} runs in flight"));
    let limit = 1_000.0;
    let means = "10,000 runs in flight";
    Ok(vec![case.aim(
        "all at work again",
        Bound::AtMost,
        limit,
        means,
    )])
}

/// A process that executes the runs, until it is killed.
struct WorkerProcess {
    child: Child,
    says: BufReader<std::process::ChildStdout>,
}

impl WorkerProcess {
    fn spawn(setup: &Setup<'_>, place: &Path, is_first: bool) -> anyhow::Result<Self> {
        let binary = std::env::current_exe().context("cannot find the binary")?;
        let mut command = Command::new(binary);
        command.args(["bench", "at-work", "--runs", &setup.runs(RUNS).to_string()]);
        command.args(["--workers", &setup.arguments.workers().to_string()]);
        command.arg("--directory").arg(place);
        if is_first {
            command.arg("--begin");
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn()?;
        let out = child.stdout.take().context("its output is not to be had")?;
        let says = BufReader::new(out);
        Ok(Self { child, says })
    }

    /// Waits until it says this.
    fn says(&mut self, expected: &str) -> anyhow::Result<()> {
        let mut line = String::new();
        while self.says.read_line(&mut line)? > 0 {
            if line.trim() == expected {
                return Ok(());
            }
            line.clear();
        }
        anyhow::bail!("the worker process ended before it said `{expected}`")
    }
}

impl Drop for WorkerProcess {
    fn drop(&mut self) {
        // On Unix this is kill -9; a process that is dead already is just as well.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Works and does not end: a step is done, the next one is in the middle.
struct InTheMiddle {
    at_work: Arc<AtomicU64>,
    changed: Arc<Notify>,
}

impl Workflow for InTheMiddle {
    const NAME: &'static str = "in-the-middle";
    type Input = ();
    type Output = ();

    async fn run(&self, ctx: Ctx<Self>, (): ()) -> everstep::Result<()> {
        ctx.step("done", || async { Ok::<_, Error>(()) }).await?;
        ctx.step("in the middle", || async {
            self.at_work.fetch_add(1, Ordering::SeqCst);
            self.changed.notify_one();
            std::future::pending::<Result<(), Error>>().await
        })
        .await
    }
}

/// The worker process.
pub(in crate::bench) fn be_at_work(arguments: &AtWork) -> anyhow::Result<()> {
    let runtime = setup::runtime(arguments.workers)?;
    runtime.block_on(async {
        let (at_work, changed) = (Arc::new(AtomicU64::new(0)), Arc::new(Notify::new()));
        let workflow = InTheMiddle {
            at_work: at_work.clone(),
            changed: changed.clone(),
        };
        let engine = Engine::open(&arguments.directory).workflow(workflow);
        let engine = engine.start().await?;
        say(OPEN)?;
        if arguments.begin {
            begin(&engine, arguments.runs).await?;
        }
        while at_work.load(Ordering::SeqCst) < arguments.runs {
            changed.notified().await;
        }
        say(AT_WORK)?;
        // It is killed. Where whoever would do so is dead, its end of the pipe closes.
        let closes = || std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        tokio::task::spawn_blocking(closes).await??;
        Ok(())
    })
}

async fn begin(engine: &Engine, runs: u64) -> anyhow::Result<()> {
    for batch in batches(runs) {
        let batch = batch.map(|run| (format!("run-{run}"), ()));
        for started in engine.start_batch::<InTheMiddle>(batch).await {
            started?;
        }
    }
    Ok(())
}

fn say(line: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout();
    writeln!(out, "{line}")?;
    out.flush()
}
