//! `timers`: very many runs wake up from a sleep, evenly spread over four seconds. Measures the
//! delay of the code after the sleep.
//!
//! All runs are asleep before the first deadline, so that the workload measures waking, not
//! starting.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use everstep::journal::Timestamp;
use everstep::{Ctx, Engine, Handle, Workflow, Workflows};

use super::batches;
use crate::case::{Case, Rounds};
use crate::figure::Unit;
use crate::process::CpuTimer;
use crate::setup::Setup;
use crate::statistics::ratio;

/// The period over which the sleeps end.
const SPREAD: Duration = Duration::from_secs(4);
/// The initial estimate of the time to start all runs.
const LEAD: Duration = Duration::from_secs(1);
/// The default number of runs: 10,000 are due per second.
const RUNS: u64 = 40_000;

type Delays = Arc<Mutex<Vec<f64>>>;

struct Sleeper {
    delays_ms: Delays,
}

impl Workflow for Sleeper {
    const NAME: &'static str = "sleeper";
    /// The deadline, in milliseconds since 1970.
    type Input = u64;
    type Output = ();
    type Interface = ();

    async fn run(&self, ctx: Ctx<Self>, until_ms: u64) -> everstep::Result<()> {
        let until = Timestamp::from_millis(until_ms);
        ctx.sleep_until("sleep", until).await?;
        let deadline = SystemTime::UNIX_EPOCH + Duration::from_millis(until_ms);
        let delay = deadline.elapsed().unwrap_or_default();
        let mut all = self
            .delays_ms
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        all.push(delay.as_secs_f64() * 1e3);
        Ok(())
    }
}

pub(crate) fn measure(setup: &Setup<'_>) -> anyhow::Result<Vec<Case>> {
    let (runtime, runs) = (setup.runtime()?, setup.runs(RUNS));
    let delays_ms = Delays::default();
    let sleeper = Sleeper {
        delays_ms: delays_ms.clone(),
    };
    let engine =
        Engine::open(setup.scratch.fresh("engine")?).workflows(Workflows::new().workflow(sleeper));
    let engine = runtime.block_on(engine.start())?;
    let (mut rounds, mut lead, mut done) = (Rounds::default(), LEAD, 0);
    while done < setup.repetitions() {
        setup.stage(format!("{runs} sleeping runs"));
        let begun = SystemTime::now();
        let handles = runtime.block_on(start_sleepers(&engine, runs, begun + lead))?;
        let (starting, cpu) = (begun.elapsed()?, CpuTimer::start());
        runtime.block_on(async {
            for run in handles {
                run.wait().await?;
            }
            anyhow::Ok(())
        })?;
        let cpu = cpu.elapsed();
        let mut delays =
            std::mem::take(&mut *delays_ms.lock().unwrap_or_else(PoisonError::into_inner));
        if starting > lead {
            // Some runs were due before all runs slept. Repeat with more time to start.
            lead = starting * 2;
            continue;
        }
        rounds.add_latencies("delay", &mut delays);
        let rate = ratio(delays.len() as f64, SPREAD.as_secs_f64());
        rounds.add("due", Unit::PerSecond, rate);
        rounds.add_cpu("CPU per run", cpu, delays.len());
        rounds.add_memory();
        rounds.add_sync(&setup.measure_sync()?);
        done += 1;
    }
    runtime.block_on(engine.shutdown());
    let case = rounds.into_case(format!("{runs} runs"));
    Ok(vec![case.at_most(
        "delay p99",
        50.0,
        "10,000 due per second",
    )])
}

/// Starts runs whose sleeps end in the period that begins at `first`.
async fn start_sleepers(
    engine: &Engine,
    runs: u64,
    first: SystemTime,
) -> anyhow::Result<Vec<Handle<Sleeper>>> {
    let mut handles = Vec::new();
    for batch in batches(runs) {
        let batch = batch.map(|run| {
            let due = first + SPREAD.mul_f64(run as f64 / runs as f64);
            let id = format!("{}-{run}", Timestamp::from(first).as_millis());
            (id, Timestamp::from(due).as_millis())
        });
        let started = engine.start_batch::<Sleeper>(batch).await;
        handles.extend(started.into_iter().collect::<Result<Vec<_>, _>>()?);
    }
    Ok(handles)
}
