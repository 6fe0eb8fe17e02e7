//! Doing one thing again and again, in turns with bare syncs: how long it takes each time, and how much processor time.

use std::time::{Duration, Instant};

use tokio::runtime::Runtime;

use crate::bench::case::{Case, Rounds};
use crate::bench::cpu;
use crate::bench::disk_limits::DiskSamples;
use crate::bench::figure::{Bound, Unit};
use crate::bench::memory;
use crate::bench::setup::Setup;
use crate::bench::statistics::{median, ratio};

/// How long something may take, in syncs of the same round and a rest.
#[derive(Clone, Copy)]
pub(super) struct Allowed {
    pub(super) syncs: f64,
    pub(super) more_ms: f64,
    /// Both in words; the figure that compares has this name.
    pub(super) name: &'static str,
}

impl Allowed {
    /// What half of all operations took, compared with what they may take.
    fn compared(&self, milliseconds: &[f64], disk: &DiskSamples) -> f64 {
        let sync_ms = median(&disk.fdatasync_us) / 1e3;
        ratio(median(milliseconds), self.syncs * sync_ms + self.more_ms)
    }

    /// Gives the figure that compares its target.
    pub(super) fn aim(self, case: Case) -> Case {
        case.aim(self.name, Bound::AtMost, 1.0, "at p50, in each round")
    }
}

/// Measures what `once` gives, for the rounds that are asked for. The processor time is that of everything `once` does.
pub(super) fn again_and_again(
    setup: &Setup<'_>,
    runtime: &Runtime,
    name: &str,
    allowed: Option<Allowed>,
    mut once: impl AsyncFnMut() -> anyhow::Result<Duration>,
) -> anyhow::Result<Rounds> {
    let mut rounds = Rounds::default();
    runtime.block_on(for_a_while(setup.warm_up(), &mut once))?;
    let mut before = setup.measure_sync()?;
    for _ in 0..setup.rounds() {
        setup.progress.say(name);
        let cpu = cpu::used();
        let mut took = runtime.block_on(for_a_while(setup.round_length(), &mut once))?;
        let cpu = cpu::used().saturating_sub(cpu);
        let after = setup.measure_sync()?;
        rounds.add_latencies(name, &mut took);
        let each = ratio(cpu.as_secs_f64() * 1e6, took.len() as f64);
        rounds.add("CPU each", Unit::Microseconds, each);
        rounds.add("samples", Unit::Count, took.len() as f64);
        rounds.add("memory", Unit::Bytes, memory::resident());
        before.add(&after);
        rounds.add_sync(&before);
        if let Some(allowed) = allowed {
            let compared = allowed.compared(&took, &before);
            rounds.add(allowed.name, Unit::Ratio, compared);
        }
        before = after;
    }
    Ok(rounds)
}

/// Does it for this long, once at least, and gives the milliseconds.
async fn for_a_while(
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
