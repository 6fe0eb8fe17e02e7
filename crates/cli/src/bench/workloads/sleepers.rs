//! `idle` and `open`: a store with very many runs that sleep for a month. What do they cost a process that has nothing else to do,
//! and how long does it take to open?
//!
//! The store is made once for both. What is measured is another process, which has never seen the runs begin; a process on
//! an empty store is what it is compared with.

use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::Context;
use everstep::{Ctx, Engine, Error, Workflow, days};
use serde::{Deserialize, Serialize};

use super::batches;
use crate::bench::arguments::Attend;
use crate::bench::case::{Case, Rounds};
use crate::bench::cpu;
use crate::bench::figure::{Bound, Unit};
use crate::bench::memory;
use crate::bench::setup::{self, Setup};
use crate::bench::statistics::ratio;

/// How many runs sleep, unless it is said.
const RUNS: u64 = 1_000_000;
/// How long a process that was just opened is left alone before it counts as idle.
const SETTLES: Duration = Duration::from_secs(2);

struct Sleeper;

impl Workflow for Sleeper {
    const NAME: &'static str = "sleeper";
    type Input = bool;
    type Output = ();

    /// Sleeps, or does a step at once.
    async fn run(&self, ctx: Ctx<Self>, sleeps: bool) -> everstep::Result<()> {
        if sleeps {
            return ctx.sleep("sleep", days(30)).await;
        }
        ctx.step("work", || async { Ok::<_, Error>(()) }).await
    }
}

/// `idle`.
pub(super) fn measure_idle(setup: &Setup<'_>) -> anyhow::Result<Vec<Case>> {
    let runs = setup.runs(RUNS);
    let place = prepared(setup)?;
    let empty = setup.place.fresh("empty")?;
    let mut rounds = Rounds::default();
    for _ in 0..setup.rounds() {
        setup.progress.say("a process with nothing to do");
        let length = setup.round_length();
        let without = attended(setup, &empty, Duration::ZERO)?;
        let with = attended(setup, place, length)?;
        let more = (with.resident_bytes - without.resident_bytes).max(0.0);
        rounds.add("memory of each run", Unit::Bytes, ratio(more, runs as f64));
        rounds.add("idle", Unit::Cores, with.cores_idle);
        rounds.add("memory", Unit::Bytes, with.resident_bytes);
        rounds.add("memory, no runs", Unit::Bytes, without.resident_bytes);
    }
    let case = rounds.into_case(format!("{runs} runs"));
    let case = case.aim("memory of each run", Bound::AtMost, 400.0, "400 bytes each");
    Ok(vec![case.aim("idle", Bound::AtMost, 0.01, "1 % of a core")])
}

/// `open`.
pub(super) fn measure_open(setup: &Setup<'_>) -> anyhow::Result<Vec<Case>> {
    let place = prepared(setup)?;
    let mut rounds = Rounds::default();
    for _ in 0..setup.rounds() {
        setup.progress.say("a process that opens the store");
        let attended = attended(setup, place, Duration::ZERO)?;
        rounds.add("open", Unit::Milliseconds, attended.open_ms);
        rounds.add("first run", Unit::Milliseconds, attended.first_run_ms);
        rounds.add("memory", Unit::Bytes, attended.resident_bytes);
        rounds.add_sync(&setup.measure_sync()?);
    }
    Ok(vec![rounds.into_case(format!("{} runs", setup.runs(RUNS)))])
}

/// The store with all the runs.
fn prepared<'a>(setup: &'a Setup<'_>) -> anyhow::Result<&'a Path> {
    if let Some(place) = setup.sleepers.get() {
        return Ok(place);
    }
    let (runtime, runs) = (setup.runtime()?, setup.runs(RUNS));
    let place = setup.place.fresh("sleepers")?;
    let engine = runtime.block_on(Engine::open(&place).workflow(Sleeper).start())?;
    for batch in batches(runs) {
        let done = batch.start;
        let progress = &setup.progress;
        progress.update(&format!("{done} of {runs} runs have fallen asleep"));
        let batch = batch.map(|run| (format!("run-{run}"), true));
        for started in runtime.block_on(engine.start_batch::<Sleeper>(batch)) {
            started?;
        }
    }
    runtime.block_on(engine.shutdown());
    Ok(setup.sleepers.get_or_init(|| place))
}

/// What a process says that opened a store and was left alone.
#[derive(Serialize, Deserialize)]
struct Attended {
    open_ms: f64,
    /// From starting another run until its end, just after that.
    first_run_ms: f64,
    resident_bytes: f64,
    /// Cores that were busy with nothing.
    cores_idle: f64,
}

/// Lets a process open the store and, unless that takes no time, do nothing for so long.
fn attended(setup: &Setup<'_>, place: &Path, idle: Duration) -> anyhow::Result<Attended> {
    let binary = std::env::current_exe().context("cannot find the binary")?;
    let mut command = Command::new(binary);
    command.args(["bench", "attend", "--directory"]).arg(place);
    command.args(["--seconds", &idle.as_secs().to_string()]);
    command.args(["--workers", &setup.arguments.workers().to_string()]);
    let output = command.stderr(std::process::Stdio::inherit()).output()?;
    serde_json::from_slice(&output.stdout).context("the process that opens the store failed")
}

/// The process that opens the store.
pub(in crate::bench) fn attend(arguments: &Attend) -> anyhow::Result<()> {
    let runtime = setup::runtime(arguments.workers)?;
    let directory = &arguments.directory;
    let attended = runtime.block_on(async {
        let begun = Instant::now();
        let engine = Engine::open(directory).workflow(Sleeper).start().await?;
        let open_ms = begun.elapsed().as_secs_f64() * 1e3;
        let begun = Instant::now();
        engine.start_and_wait::<Sleeper>(&false).await?;
        let first_run_ms = begun.elapsed().as_secs_f64() * 1e3;
        let cores_idle = match arguments.seconds {
            0 => 0.0,
            seconds => {
                tokio::time::sleep(SETTLES).await;
                let cpu = cpu::used();
                tokio::time::sleep(Duration::from_secs(seconds)).await;
                let cpu = cpu::used().saturating_sub(cpu);
                ratio(cpu.as_secs_f64(), seconds as f64)
            }
        };
        let resident_bytes = memory::resident();
        engine.shutdown().await;
        anyhow::Ok(Attended {
            open_ms,
            first_run_ms,
            resident_bytes,
            cores_idle,
        })
    })?;
    writeln!(std::io::stdout(), "{}", serde_json::to_string(&attended)?)?;
    Ok(())
}
