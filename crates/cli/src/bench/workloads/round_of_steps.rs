//! What one round of steps tells: its figures, and their ratios to the limits just before and after it.

use super::STEPS_PER_RUN;
use super::load::Window;
use crate::bench::arguments::cores;
use crate::bench::case::{Case, Rounds};
use crate::bench::figure::Unit;
use crate::bench::limits::Limits;
use crate::bench::memory;
use crate::bench::statistics::{median, ratio};

/// Syncs of a run alone: one for its creation, one for each step.
const SYNCS_PER_RUN: f64 = (STEPS_PER_RUN + 1) as f64;
pub(super) const RATIO_TO_SYNCS: &str = "of 11 fdatasyncs";

/// One window of workflows, and the limits just before and after it.
pub(super) struct Round {
    pub(super) window: Window,
    pub(super) limits: Limits,
}

impl Round {
    pub(super) fn tell(self, rounds: &mut Rounds, is_alone: bool) {
        let Self { window, limits } = self;
        let (seconds, cpu) = (window.elapsed.as_secs_f64(), window.cpu.as_secs_f64());
        let (steps, runs) = (window.steps as f64, window.run_us.len() as f64);
        let rate = ratio(steps, seconds);
        let store = median(&limits.store.steps_per_second);
        rounds.add("steps", Unit::PerSecond, rate);
        rounds.add("runs", Unit::PerSecond, ratio(runs, seconds));
        rounds.add("of the store", Unit::Ratio, ratio(rate, store));
        // Of all threads, starting and awaiting the runs included.
        rounds.add("CPU per step", Unit::Microseconds, ratio(cpu * 1e6, steps));
        rounds.add("busy", Unit::Cores, ratio(cpu, seconds));
        let mut run_ms: Vec<f64> = window.run_us.iter().map(|us| us / 1e3).collect();
        rounds.add_latencies("run", &mut run_ms);
        rounds.add("commits per batch", Unit::Count, window.group);
        rounds.add("memory", Unit::Bytes, memory::resident());
        rounds.add("store alone", Unit::PerSecond, store);
        let store_cpu = median(&limits.store.cpu_us_per_step);
        rounds.add("store alone, CPU per step", Unit::Microseconds, store_cpu);
        // A database has a disk of its own, out of reach.
        let Some(disk) = &limits.disk else { return };
        let log = median(&disk.log_per_second);
        rounds.add("bare log", Unit::PerSecond, log);
        rounds.add("of the log", Unit::Ratio, ratio(rate, log));
        rounds.add_sync(disk);
        if is_alone {
            let syncs = SYNCS_PER_RUN * median(&disk.fdatasync_us);
            let compared = ratio(median(&window.run_us), syncs);
            rounds.add(RATIO_TO_SYNCS, Unit::Ratio, compared);
        }
    }
}

/// What keeps it from being faster.
pub(super) fn what_limits(case: &Case) -> String {
    let cores = cores();
    let (cores_busy, of_store) = (case.value("busy"), case.value("of the store"));
    let busy = format!("{cores_busy:.1} of {cores} cores are busy");
    let store = format!("{:.0} % of what the store does alone", of_store * 100.0);
    if cores_busy > 0.85 * cores as f64 {
        format!("The processor limits it: {busy}. It reaches {store}.")
    } else if of_store > 0.8 {
        format!("The store limits it: it reaches {store}; {busy}.")
    } else {
        format!(
            "Waiting limits it, for syncs or for a thread that has too much to do: {busy}. It reaches {store}."
        )
    }
}
