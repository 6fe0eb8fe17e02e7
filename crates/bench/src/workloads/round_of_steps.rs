//! The figures of one round of steps, and their ratios to the limits measured before and after it.

use super::load::Window;
use crate::arguments::cores;
use crate::case::{Case, Rounds};
use crate::figure::Unit;
use crate::limits::Limits;
use crate::statistics::{mean, median, ratio};
use crate::ten_step_run::STEPS_PER_RUN;

/// Syncs of a single run: one for its creation and one per step.
const SYNCS_PER_RUN: f64 = (STEPS_PER_RUN + 1) as f64;
/// The parts of a long window that have figures of their own.
const FIRST_SECONDS: usize = 5;
const LAST_SECONDS: usize = 20;
/// Shorter windows have no such figures.
const COURSE_FROM_SECONDS: usize = 40;
pub(crate) const RATIO_TO_SYNCS: &str = "ratio to 11 fdatasyncs";

impl Window {
    /// Adds the figures of this window and of the limits measured before and after it.
    pub(crate) fn add_to(&self, rounds: &mut Rounds, limits: &Limits, is_alone: bool) {
        let (seconds, cpu) = (self.elapsed.as_secs_f64(), self.cpu.as_secs_f64());
        let (steps, runs) = (self.steps as f64, self.run_us.len() as f64);
        let rate = ratio(steps, seconds);
        let store = median(&limits.store.steps_per_second);
        rounds.add("steps", Unit::PerSecond, rate);
        self.add_course(rounds);
        rounds.add("runs", Unit::PerSecond, ratio(runs, seconds));
        rounds.add("ratio to store", Unit::Ratio, ratio(rate, store));
        // Of all threads, including those that start and await the runs.
        rounds.add_cpu("CPU per step", self.cpu, self.steps as usize);
        rounds.add("busy", Unit::Cores, ratio(cpu, seconds));
        let mut run_ms: Vec<f64> = self.run_us.iter().map(|us| us / 1e3).collect();
        rounds.add_latencies("run", &mut run_ms);
        rounds.add("commits per batch", Unit::Count, self.group);
        rounds.add_memory();
        rounds.add("store alone", Unit::PerSecond, store);
        let store_cpu = median(&limits.store.cpu_us_per_step);
        rounds.add("store alone, CPU per step", Unit::Microseconds, store_cpu);
        // The disk of a database is not measured.
        let Some(disk) = &limits.disk else { return };
        let log = median(&disk.log_per_second);
        rounds.add("bare log", Unit::PerSecond, log);
        rounds.add("ratio to log", Unit::Ratio, ratio(rate, log));
        rounds.add_sync(disk);
        if is_alone {
            let syncs = SYNCS_PER_RUN * median(&disk.fdatasync_us);
            let ratio = ratio(median(&self.run_us), syncs);
            rounds.add(RATIO_TO_SYNCS, Unit::Ratio, ratio);
        }
    }

    /// Adds the rates at the beginning and at the end of a long window. The first seconds are
    /// faster, before the store merges tables.
    fn add_course(&self, rounds: &mut Rounds) {
        let rates = &self.steps_by_second;
        let (Some((first, _)), Some((_, last))) = (
            rates.split_at_checked(FIRST_SECONDS),
            rates.split_at_checked(rates.len().saturating_sub(LAST_SECONDS)),
        ) else {
            return;
        };
        if rates.len() >= COURSE_FROM_SECONDS {
            rounds.add("steps, first 5 s", Unit::PerSecond, mean(first));
            rounds.add("steps, last 20 s", Unit::PerSecond, mean(last));
        }
    }
}

pub(crate) fn bottleneck(case: &Case) -> String {
    let cores = cores();
    let (cores_busy, of_store) = (case.value("busy"), case.value("ratio to store"));
    let busy = format!("{cores_busy:.1} of {cores} cores are busy");
    let store = format!("{:.0} % of the store's own throughput", of_store * 100.0);
    if cores_busy > 0.85 * cores as f64 {
        format!("Limited by the processor: {busy}, at {store}.")
    } else if of_store > 0.8 {
        format!("Limited by the store: {store}; {busy}.")
    } else {
        format!("Limited by waiting for syncs or for a busy thread: {busy}, at {store}.")
    }
}
