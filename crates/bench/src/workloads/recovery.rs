//! `recovery`: a process is killed while few or many runs are in the middle of a step. Measures the
//! time from the start of the next process on the same directory until all runs are executing
//! again.
//!
//! ```text
//!   bench ── spawns ──▶ worker process: opens, starts the runs ── "executing" ──▶ bench
//!     │  kill -9 ─────────▶ ✗
//!     └── spawns ──▶ worker process: opens, resumes the runs ── "executing" ──▶ bench
//! ```

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Instant;

use anyhow::Context;
use everstep::{Ctx, Engine, Error, Workflow, Workflows};
use tokio::sync::watch;

use super::batches;
use crate::arguments::RecoveryWorker;
use crate::case::{Case, Rounds};
use crate::figure::Unit;
use crate::process::bench_process;
use crate::setup::{self, Setup};

/// The lines a worker process prints when its engine is open and when all runs are executing.
const OPEN: &str = "open";
const EXECUTING: &str = "executing";
/// The default number of runs in flight.
const RUNS: u64 = 10_000;
/// The number of runs in flight in a small store.
const SMALL: u64 = 10;

pub(crate) fn measure(setup: &Setup<'_>) -> anyhow::Result<Vec<Case>> {
    let small = recover(setup, SMALL)?;
    let large = recover(setup, setup.runs(RUNS))?;
    Ok(vec![
        small.at_most("open", 20.0, "a small store"),
        large.at_most("recovery", 1_000.0, "10,000 runs in flight"),
    ])
}

fn recover(setup: &Setup<'_>, runs: u64) -> anyhow::Result<Case> {
    let mut rounds = Rounds::default();
    // Each round has runs of its own: the engine starts runs one after the other whose processes
    // died several times without progress.
    for _ in 0..setup.repetitions() {
        let directory = setup.scratch.fresh("engine")?;
        setup.stage(format!("starting {runs} runs"));
        let mut process = WorkerProcess::spawn(setup, &directory, runs, true)?;
        process.wait_for_line(EXECUTING)?;
        drop(process);
        let disk = setup.measure_sync()?;
        setup.stage(format!("recovering {runs} runs"));
        let begun = Instant::now();
        process = WorkerProcess::spawn(setup, &directory, runs, false)?;
        process.wait_for_line(OPEN)?;
        let open = begun.elapsed().as_secs_f64() * 1e3;
        process.wait_for_line(EXECUTING)?;
        let recovered = begun.elapsed().as_secs_f64() * 1e3;
        drop(process);
        rounds.add("recovery", Unit::Milliseconds, recovered);
        rounds.add("open", Unit::Milliseconds, open);
        rounds.add_sync(&disk);
    }
    Ok(rounds.into_case(format!("{runs} runs in flight")))
}

/// A process that executes the runs. Killed when dropped.
struct WorkerProcess {
    child: Child,
    output: BufReader<std::process::ChildStdout>,
}

impl WorkerProcess {
    fn spawn(
        setup: &Setup<'_>,
        directory: &Path,
        runs: u64,
        starts_runs: bool,
    ) -> anyhow::Result<Self> {
        let workers = setup.arguments.workers();
        let mut command = bench_process("recovery-worker", directory, workers)?;
        command.args(["--runs", &runs.to_string()]);
        if starts_runs {
            command.arg("--start-runs");
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn()?;
        let output = child
            .stdout
            .take()
            .context("the output of the worker process is not piped")?;
        let output = BufReader::new(output);
        Ok(Self { child, output })
    }

    fn wait_for_line(&mut self, expected: &str) -> anyhow::Result<()> {
        let mut line = String::new();
        while self.output.read_line(&mut line)? > 0 {
            if line.trim() == expected {
                return Ok(());
            }
            line.clear();
        }
        anyhow::bail!("the worker process ended before it printed `{expected}`")
    }
}

impl Drop for WorkerProcess {
    fn drop(&mut self) {
        // SIGKILL on Unix. Errors mean that the process has already ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Completes one step and never ends the second.
struct Unfinished {
    /// The number of runs that execute the second step.
    executing: watch::Sender<u64>,
}

impl Workflow for Unfinished {
    const NAME: &'static str = "unfinished";
    type Input = ();
    type Output = ();
    type Interface = ();

    async fn run(&self, ctx: Ctx<Self>, (): ()) -> everstep::Result<()> {
        ctx.step("done", || async { Ok::<_, Error>(()) }).await?;
        ctx.step("never-ends", || async {
            self.executing.send_modify(|runs| *runs += 1);
            std::future::pending::<Result<(), Error>>().await
        })
        .await
    }
}

/// The main function of the worker process.
pub(crate) fn run_worker(arguments: &RecoveryWorker) -> anyhow::Result<()> {
    let runtime = setup::runtime(arguments.workers)?;
    runtime.block_on(async {
        let (executing, mut in_flight) = watch::channel(0);
        let workflow = Unfinished { executing };
        let engine = Engine::open(&arguments.directory);
        let engine = engine
            .workflows(Workflows::new().workflow(workflow))
            .start()
            .await?;
        print_line(OPEN)?;
        if arguments.start_runs {
            start_runs(&engine, arguments.runs).await?;
        }
        in_flight.wait_for(|runs| *runs >= arguments.runs).await?;
        print_line(EXECUTING)?;
        // The benchmark kills this process. If the benchmark itself died, stdin is closed.
        let wait_for_eof = || std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        tokio::task::spawn_blocking(wait_for_eof).await??;
        Ok(())
    })
}

async fn start_runs(engine: &Engine, runs: u64) -> anyhow::Result<()> {
    for batch in batches(runs) {
        let batch = batch.map(|run| (format!("run-{run}"), ()));
        for started in engine.start_batch::<Unfinished>(batch).await {
            started?;
        }
    }
    Ok(())
}

fn print_line(line: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout();
    writeln!(out, "{line}")?;
    out.flush()
}
