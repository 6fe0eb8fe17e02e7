//! Repeats one operation, alternating with bare syncs, and measures its latency and processor time.

use std::time::{Duration, Instant};

use tokio::runtime::Runtime;

use crate::case::{Case, Rounds};
use crate::disk_limits::DiskSamples;
use crate::figure::Unit;
use crate::process::CpuTimer;
use crate::setup::Setup;
use crate::statistics::{median, ratio};

/// The time an operation may take: a number of syncs, as measured in the same round, plus a
/// constant.
#[derive(Clone, Copy)]
pub(crate) struct LatencyBudget {
    pub(crate) syncs: f64,
    pub(crate) extra_ms: f64,
    /// The name of the figure that compares the operation with this budget.
    pub(crate) name: &'static str,
}

impl LatencyBudget {
    /// Returns the ratio of the median operation to the budget.
    fn ratio(&self, milliseconds: &[f64], disk: &DiskSamples) -> f64 {
        let sync_ms = median(&disk.fdatasync_us) / 1e3;
        ratio(median(milliseconds), self.syncs * sync_ms + self.extra_ms)
    }

    /// Measures an operation that should stay within the budget.
    pub(crate) fn measure(
        self,
        setup: &Setup<'_>,
        runtime: &Runtime,
        name: &str,
        once: impl AsyncFnMut() -> anyhow::Result<Duration>,
    ) -> anyhow::Result<Vec<Case>> {
        let rounds = measure_repeatedly(setup, runtime, name, Some(self), once)?;
        let case = rounds.into_case("one run at a time");
        Ok(vec![case.at_most(self.name, 1.0, "at p50, in each round")])
    }
}

/// Repeats `once`, which returns the latency to record, in all rounds. The processor time covers
/// everything that `once` does.
pub(crate) fn measure_repeatedly(
    setup: &Setup<'_>,
    runtime: &Runtime,
    name: &str,
    budget: Option<LatencyBudget>,
    mut once: impl AsyncFnMut() -> anyhow::Result<Duration>,
) -> anyhow::Result<Rounds> {
    let mut rounds = Rounds::default();
    runtime.block_on(repeat_for(setup.warm_up(), &mut once))?;
    let mut before = setup.measure_sync()?;
    for _ in 0..setup.rounds() {
        setup.stage(name);
        let cpu = CpuTimer::start();
        let mut took = runtime.block_on(repeat_for(setup.round_length(), &mut once))?;
        let cpu = cpu.elapsed();
        let after = setup.measure_sync()?;
        rounds.add_latencies(name, &mut took);
        rounds.add_cpu("CPU per operation", cpu, took.len());
        rounds.add("samples", Unit::Count, took.len() as f64);
        rounds.add_memory();
        before.add(&after);
        rounds.add_sync(&before);
        if let Some(budget) = budget {
            let ratio = budget.ratio(&took, &before);
            rounds.add(budget.name, Unit::Ratio, ratio);
        }
        before = after;
    }
    Ok(rounds)
}

/// Repeats `once` for `length`, at least once. Returns the latencies in milliseconds.
async fn repeat_for(
    length: Duration,
    once: &mut impl AsyncFnMut() -> anyhow::Result<Duration>,
) -> anyhow::Result<Vec<f64>> {
    let mut took = Vec::new();
    let begun = Instant::now();
    while took.is_empty() || begun.elapsed() < length {
        took.push(once().await?.as_secs_f64() * 1e3);
    }
    Ok(took)
}
