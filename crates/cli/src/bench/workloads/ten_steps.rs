//! `seq10` and `throughput`: runs of ten strict steps, one or many at a time.
//!
//! ```text
//!   for each number of runs in flight:   rehearsal ─▶ limits ─▶ workflows ─▶ limits ─▶ workflows ─▶ … ─▶ limits
//!   limits: bare fdatasync, a bare log in groups, the store driven alone in groups
//! ```
//!
//! The groups are as large as the engine's batches were in the workflows just before.

use super::STEPS_PER_RUN;
use super::load::{Load, LoadPlan, Window};
use crate::bench::case::{Case, Rounds};
use crate::bench::figure::{Bound, Unit};
use crate::bench::limits::{Limits, LimitsBench};
use crate::bench::memory;
use crate::bench::setup::Setup;
use crate::bench::statistics::{median, ratio};

/// Syncs of a run alone: one for its creation, one for each step.
const SYNCS_PER_RUN: f64 = (STEPS_PER_RUN + 1) as f64;
const RATIO_TO_SYNCS: &str = "of 11 fdatasyncs";

/// `seq10`.
pub(super) fn one_at_a_time(setup: &Setup<'_>) -> anyhow::Result<Vec<Case>> {
    let mut rounds = Rounds::default();
    measure(setup, 1, &mut rounds, |rounds, round| {
        let syncs = SYNCS_PER_RUN * round.fdatasync_us();
        let compared = ratio(median(&round.window.run_us), syncs);
        rounds.add(RATIO_TO_SYNCS, Unit::Ratio, compared);
    })?;
    let case = rounds.into_case("1 in flight");
    let (compared, sync) = (case.value(RATIO_TO_SYNCS), case.sync_ms() * 1e3);
    let sentence = format!(
        "A run takes {compared:.2} times as long as eleven bare syncs of {sync:.0} µs each; what is above 1 is ours."
    );
    let case = case.aim(RATIO_TO_SYNCS, Bound::AtMost, 1.5, "1.5 × 11 fdatasyncs");
    Ok(vec![case.limited_by(sentence)])
}

/// `throughput`.
pub(super) fn many_at_once(setup: &Setup<'_>) -> anyhow::Result<Vec<Case>> {
    let numbers = setup.arguments.in_flight.iter();
    let cases = numbers.map(|&in_flight| {
        let mut rounds = Rounds::default();
        measure(setup, in_flight, &mut rounds, |_, _| {})?;
        let case = rounds.into_case(format!("{in_flight} in flight"));
        let sentence = what_limits(&case);
        let case = match in_flight {
            64 => case.aim("of the bare log", Bound::AtLeast, 0.25, "groups of 64"),
            1_024 => case
                .aim("steps", Bound::AtLeast, 100_000.0, "two cores")
                .aim("of the store alone", Bound::AtLeast, 0.5, "a row per step")
                .aim("CPU per step", Bound::AtMost, 15.0, "over all threads"),
            _ => case,
        };
        Ok(case.limited_by(sentence))
    });
    cases.collect()
}

/// Limits and workflows in turns, so that both meet the machine in the same mood.
fn measure(
    setup: &Setup<'_>,
    in_flight: u32,
    rounds: &mut Rounds,
    compare: impl Fn(&mut Rounds, &Round),
) -> anyhow::Result<()> {
    let mut limits = LimitsBench::open(setup, in_flight)?;
    let plan = LoadPlan {
        in_flight,
        is_remote: setup.arguments.remote,
        payload_bytes: setup.payload_bytes(),
        warm_up: setup.warm_up(),
    };
    let (length, progress) = (setup.round_length(), &setup.progress);
    let mut load = Load::open(plan, setup.runtime()?, &setup.place.fresh("engine")?)?;
    let rehearsal = load.measure(length / 4, progress)?;
    let mut before = limits.measure(rehearsal.group, setup)?;
    for _ in 0..setup.rounds() {
        let window = load.measure(length, progress)?;
        let after = limits.measure(window.group, setup)?;
        let limits = before.with(&after);
        let mut round = Round { window, limits };
        compare(rounds, &round);
        round.tell(rounds);
        before = after;
    }
    load.close()
}

/// One window of workflows, and the limits just before and after it.
struct Round {
    window: Window,
    limits: Limits,
}

impl Round {
    fn fdatasync_us(&self) -> f64 {
        median(&self.limits.disk.fdatasync_us)
    }

    fn tell(&mut self, rounds: &mut Rounds) {
        let window = &mut self.window;
        let (seconds, cpu) = (window.elapsed.as_secs_f64(), window.cpu.as_secs_f64());
        let (steps, runs) = (window.steps as f64, window.run_us.len() as f64);
        let log = median(&self.limits.disk.log_per_second);
        let store = &self.limits.store;
        let (alone, alone_cpu) = (
            median(&store.steps_per_second),
            median(&store.cpu_us_per_step),
        );
        rounds.add("steps", Unit::PerSecond, ratio(steps, seconds));
        rounds.add("runs", Unit::PerSecond, ratio(runs, seconds));
        let compared = |limit: f64| ratio(ratio(steps, seconds), limit);
        rounds.add("of the store alone", Unit::Ratio, compared(alone));
        rounds.add("of the bare log", Unit::Ratio, compared(log));
        // Of all threads, starting and awaiting the runs included.
        rounds.add("CPU per step", Unit::Microseconds, ratio(cpu * 1e6, steps));
        rounds.add("busy", Unit::Cores, ratio(cpu, seconds));
        let mut run_ms: Vec<f64> = window.run_us.iter().map(|us| us / 1e3).collect();
        rounds.add_latencies("run", &mut run_ms);
        rounds.add("commits per batch", Unit::Count, window.group);
        rounds.add("memory", Unit::Bytes, memory::resident());
        rounds.add_sync(&self.limits.disk);
        rounds.add("bare log", Unit::PerSecond, log);
        rounds.add("store alone", Unit::PerSecond, alone);
        rounds.add("store alone, CPU per step", Unit::Microseconds, alone_cpu);
    }
}

/// What keeps it from being faster.
fn what_limits(case: &Case) -> String {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let (cores_busy, of_store) = (case.value("busy"), case.value("of the store alone"));
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
