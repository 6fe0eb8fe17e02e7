//! Doing one thing again and again, in turns with bare syncs: how long it takes each time, and how much processor time.

use std::time::{Duration, Instant};

use tokio::runtime::Runtime;

use crate::bench::case::Rounds;
use crate::bench::cpu;
use crate::bench::figure::Unit;
use crate::bench::memory;
use crate::bench::setup::Setup;
use crate::bench::statistics::ratio;

/// Measures what `once` gives, for the rounds that are asked for. The processor time is that of everything `once` does.
pub(super) fn again_and_again(
    setup: &Setup<'_>,
    runtime: &Runtime,
    name: &str,
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
