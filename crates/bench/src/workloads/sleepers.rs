//! `idle` and `open`: a store with very many runs that sleep for a month. Measures the memory and
//! processor time of an idle process on this store, and the time to open it.
//!
//! Both workloads share the store. The measurements take place in a new process, and `idle`
//! compares it with a process on an empty store.

use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::Context;
use everstep::{Ctx, Engine, Error, Workflow, Workflows, days};
use serde::{Deserialize, Serialize};

use super::batches;
use crate::arguments::IdleProcess;
use crate::case::{Case, Rounds};
use crate::figure::Unit;
use crate::process::{CpuTimer, bench_process, resident_bytes};
use crate::setup::{self, Setup};
use crate::statistics::ratio;

/// The default number of sleeping runs.
const RUNS: u64 = 1_000_000;
/// The time between opening the store and measuring an idle process.
const SETTLE_TIME: Duration = Duration::from_secs(2);

struct Sleeper;

impl Workflow for Sleeper {
    const NAME: &'static str = "sleeper";
    type Input = bool;
    type Output = ();
    type Interface = ();

    /// Sleeps, or executes one step.
    async fn run(&self, ctx: Ctx<Self>, sleeps: bool) -> everstep::Result<()> {
        if sleeps {
            return ctx.sleep("sleep", days(30)).await;
        }
        ctx.step("work", || async { Ok::<_, Error>(()) }).await
    }
}

pub(crate) fn measure_idle(setup: &Setup<'_>) -> anyhow::Result<Vec<Case>> {
    let runs = setup.runs(RUNS);
    let directory = prepared_store(setup)?;
    let empty = setup.scratch.fresh("empty")?;
    let mut rounds = Rounds::default();
    for _ in 0..setup.rounds() {
        setup.stage("measuring an idle process");
        let length = setup.round_length();
        let without = measure_process(setup, &empty, Duration::ZERO)?;
        let with = measure_process(setup, directory, length)?;
        let more = (with.resident_bytes - without.resident_bytes).max(0.0);
        rounds.add("memory per run", Unit::Bytes, ratio(more, runs as f64));
        rounds.add("idle", Unit::Cores, with.cores_idle);
        rounds.add("memory", Unit::Bytes, with.resident_bytes);
        rounds.add("memory, no runs", Unit::Bytes, without.resident_bytes);
    }
    let case = rounds.into_case(format!("{runs} runs"));
    let case = case.at_most("memory per run", 400.0, "400 bytes per run");
    Ok(vec![case.at_most("idle", 0.01, "1 % of a core")])
}

pub(crate) fn measure_open(setup: &Setup<'_>) -> anyhow::Result<Vec<Case>> {
    let directory = prepared_store(setup)?;
    let mut rounds = Rounds::default();
    for _ in 0..setup.repetitions() {
        setup.stage("measuring a process that opens the store");
        let report = measure_process(setup, directory, Duration::ZERO)?;
        rounds.add("open", Unit::Milliseconds, report.open_ms);
        rounds.add("first run", Unit::Milliseconds, report.first_run_ms);
        rounds.add("memory", Unit::Bytes, report.resident_bytes);
        rounds.add_sync(&setup.measure_sync()?);
    }
    Ok(vec![rounds.into_case(format!("{} runs", setup.runs(RUNS)))])
}

/// Returns the store with all sleeping runs. Creates it on the first call.
fn prepared_store<'a>(setup: &'a Setup<'_>) -> anyhow::Result<&'a Path> {
    if let Some(directory) = setup.sleepers.get() {
        return Ok(directory);
    }
    let (runtime, runs) = (setup.runtime()?, setup.runs(RUNS));
    let directory = setup.scratch.fresh("sleepers")?;
    let workflows = Workflows::new().workflow(Sleeper);
    let engine = runtime.block_on(Engine::open(&directory).workflows(workflows).start())?;
    for batch in batches(runs) {
        let text = format!("{} of {runs} runs are sleeping", batch.start);
        setup.progress.update(&text);
        let batch = batch.map(|run| (format!("run-{run}"), true));
        for started in runtime.block_on(engine.start_batch::<Sleeper>(batch)) {
            started?;
        }
    }
    runtime.block_on(engine.shutdown());
    Ok(setup.sleepers.get_or_init(|| directory))
}

/// The measurements of a process on a store, printed by that process.
#[derive(Serialize, Deserialize)]
struct ProcessReport {
    open_ms: f64,
    /// Duration of a new run after opening.
    first_run_ms: f64,
    resident_bytes: f64,
    /// Average number of busy cores while idle.
    cores_idle: f64,
}

/// Starts a process that opens the store and stays idle for `idle`.
fn measure_process(
    setup: &Setup<'_>,
    directory: &Path,
    idle: Duration,
) -> anyhow::Result<ProcessReport> {
    let mut command = bench_process("idle-process", directory, setup.arguments.workers())?;
    command.args(["--seconds", &idle.as_secs().to_string()]);
    let output = command.stderr(Stdio::inherit()).output()?;
    serde_json::from_slice(&output.stdout).context("the process that opens the store failed")
}

/// The main function of the process that opens the store.
pub(crate) fn run_idle_process(arguments: &IdleProcess) -> anyhow::Result<()> {
    let runtime = setup::runtime(arguments.workers)?;
    let directory = &arguments.directory;
    let report = runtime.block_on(async {
        let begun = Instant::now();
        let workflows = Workflows::new().workflow(Sleeper);
        let engine = Engine::open(directory).workflows(workflows).start().await?;
        let open_ms = begun.elapsed().as_secs_f64() * 1e3;
        let begun = Instant::now();
        engine.start_and_wait::<Sleeper>(&false).await?;
        let first_run_ms = begun.elapsed().as_secs_f64() * 1e3;
        let cores_idle = match arguments.seconds {
            0 => 0.0,
            seconds => {
                tokio::time::sleep(SETTLE_TIME).await;
                let cpu = CpuTimer::start();
                tokio::time::sleep(Duration::from_secs(seconds)).await;
                ratio(cpu.elapsed().as_secs_f64(), seconds as f64)
            }
        };
        let resident_bytes = resident_bytes();
        engine.shutdown().await;
        anyhow::Ok(ProcessReport {
            open_ms,
            first_run_ms,
            resident_bytes,
            cores_idle,
        })
    })?;
    writeln!(std::io::stdout(), "{}", serde_json::to_string(&report)?)?;
    Ok(())
}
