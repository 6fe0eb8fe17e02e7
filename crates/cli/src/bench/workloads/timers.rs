//! `timers`: very many runs sleep and wake up, evenly spread over four seconds; how late is the code after the sleep?
//!
//! All deadlines lie behind the moment at which the last run has begun to sleep, so that what is measured is waking, not starting.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use everstep::{Ctx, Engine, Timestamp, Workflow};

use super::batches;
use crate::bench::case::{Case, Rounds};
use crate::bench::cpu;
use crate::bench::figure::{Bound, Unit};
use crate::bench::memory;
use crate::bench::setup::Setup;
use crate::bench::statistics::ratio;

/// Over which time the sleeps end.
const SPREAD: Duration = Duration::from_secs(4);
/// The first guess of how long all runs take to begin.
const LEAD: Duration = Duration::from_secs(1);
/// How many runs sleep, unless it is said: 10,000 are due in a second.
const RUNS: u64 = 40_000;

type Late = Arc<Mutex<Vec<f64>>>;

struct Sleeper {
    /// By how many milliseconds each run woke up late.
    late_ms: Late,
}

impl Workflow for Sleeper {
    const NAME: &'static str = "sleeper";
    /// The deadline, in milliseconds since 1970.
    type Input = u64;
    type Output = ();

    async fn run(&self, ctx: Ctx<Self>, until_ms: u64) -> everstep::Result<()> {
        let until = Timestamp::from_millis(until_ms);
        ctx.sleep_until("sleep", until).await?;
        let deadline = SystemTime::UNIX_EPOCH + Duration::from_millis(until_ms);
        let late = deadline.elapsed().unwrap_or_default();
        let mut all = self.late_ms.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(late.as_secs_f64() * 1e3);
        Ok(())
    }
}

pub(super) fn measure(setup: &Setup<'_>) -> anyhow::Result<Vec<Case>> {
    let (runtime, runs) = (setup.runtime()?, setup.runs(RUNS));
    let late_ms = Late::default();
    let sleeper = Sleeper {
        late_ms: late_ms.clone(),
    };
    let engine = Engine::open(setup.place.fresh("engine")?).workflow(sleeper);
    let engine = runtime.block_on(engine.start())?;
    let (mut rounds, mut lead, mut done) = (Rounds::default(), LEAD, 0);
    while done < setup.rounds() {
        setup
            .progress
            .say(&format!("{runs} runs fall asleep and wake up"));
        let slept = runtime.block_on(sleep_and_wake(&engine, runs, lead))?;
        let mut late = std::mem::take(&mut *late_ms.lock().unwrap_or_else(PoisonError::into_inner));
        if slept.starting > lead {
            // Some were due before all slept: measure again, with more time to begin.
            lead = slept.starting * 2;
            continue;
        }
        rounds.add_latencies("late", &mut late);
        let rate = ratio(late.len() as f64, SPREAD.as_secs_f64());
        rounds.add("due", Unit::PerSecond, rate);
        let each = ratio(slept.cpu.as_secs_f64() * 1e6, late.len() as f64);
        rounds.add("CPU each to wake and end", Unit::Microseconds, each);
        rounds.add("memory", Unit::Bytes, memory::resident());
        rounds.add_sync(&setup.measure_sync()?);
        done += 1;
    }
    runtime.block_on(engine.shutdown());
    let case = rounds.into_case(format!("{runs} runs"));
    let case = case.aim("late p99", Bound::AtMost, 50.0, "10,000 due in a second");
    Ok(vec![case])
}

struct Slept {
    /// How long it took to start all runs.
    starting: Duration,
    /// Processor time from then to their end.
    cpu: Duration,
}

/// Starts the runs and waits for their ends.
async fn sleep_and_wake(engine: &Engine, runs: u64, lead: Duration) -> anyhow::Result<Slept> {
    let begun = SystemTime::now();
    let first = begun + lead;
    let mut handles = Vec::new();
    for batch in batches(runs) {
        let batch = batch.map(|run| {
            let due = first + SPREAD.mul_f64(run as f64 / runs as f64);
            let id = format!("{}-{run}", Timestamp::from(begun).as_millis());
            (id, Timestamp::from(due).as_millis())
        });
        let started = engine.start_batch::<Sleeper>(batch).await;
        handles.extend(started.into_iter().collect::<Result<Vec<_>, _>>()?);
    }
    let starting = begun.elapsed()?;
    let cpu = cpu::used();
    for run in handles {
        run.wait().await?;
    }
    let cpu = cpu::used().saturating_sub(cpu);
    Ok(Slept { starting, cpu })
}
