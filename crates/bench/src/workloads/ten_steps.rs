//! `seq10`, `throughput`, `payload`, `remote` and `postgres`: runs of ten strict steps, one or many
//! at a time, executed in this process or by a worker over HTTP, on the embedded store or on a
//! database.
//!
//! ```text
//!   for each number of runs in flight:   trial ─▶ limits ─▶ workflows ─▶ limits ─▶ workflows ─▶ … ─▶ limits
//!   limits: bare fdatasync, a bare log in groups, the store alone in groups
//! ```
//!
//! The groups are as large as the engine's batches in the preceding window.

use std::time::Duration;

use super::load::{Load, LoadPlan};
use super::round_of_steps::{RATIO_TO_SYNCS, bottleneck};
use crate::arguments::UsageError;
use crate::case::{Case, Rounds};
use crate::limits::LimitProbe;
use crate::setup::{self, Setup};
use crate::store_location::StoreLocation;

/// The maximum length of the trial, which only finds the size of batches.
const TRIAL_MAX: Duration = Duration::from_secs(2);

/// The result sizes of the workload `payload`.
const PAYLOAD_BYTES: [usize; 3] = [100, 1_000, 10_000];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Setting {
    InProcess,
    ByWorker,
    OnDatabase,
}

#[derive(Clone, Copy)]
struct Steps {
    setting: Setting,
    in_flight: u32,
    payload_bytes: usize,
}

pub(crate) fn one_at_a_time(setup: &Setup<'_>) -> anyhow::Result<Vec<Case>> {
    let rounds = Steps::new(setup, Setting::InProcess, 1).measure(setup)?;
    let case = rounds.into_case("1 in flight");
    let (ratio, sync) = (case.value(RATIO_TO_SYNCS), case.sync_ms() * 1e3);
    let sentence = format!(
        "A run takes {ratio:.2} times as long as eleven bare syncs of {sync:.0} µs. The part above 1 is Everstep's own cost."
    );
    let case = case.at_most(RATIO_TO_SYNCS, 1.5, "1.5 × 11 fdatasyncs");
    Ok(vec![case.limited_by(sentence)])
}

pub(crate) fn many_at_once(setup: &Setup<'_>) -> anyhow::Result<Vec<Case>> {
    let numbers = setup.arguments.in_flight.iter().copied();
    cases(
        setup,
        Setting::InProcess,
        numbers,
        |in_flight, case| match in_flight {
            64 => case.at_least("ratio to log", 0.25, "groups of 64"),
            1_024 => case
                .at_least("steps", 100_000.0, "two cores")
                .at_least("ratio to store", 0.5, "a row per step")
                .at_most("CPU per step", 15.0, "over all threads"),
            _ => case,
        },
    )
}

/// Uses the largest number of runs in flight.
pub(crate) fn payload_sizes(setup: &Setup<'_>) -> anyhow::Result<Vec<Case>> {
    let in_flight = setup.arguments.in_flight.iter().copied().max().unwrap_or(1);
    let measured = PAYLOAD_BYTES.map(|payload_bytes| {
        let steps = Steps {
            payload_bytes,
            ..Steps::new(setup, Setting::InProcess, in_flight)
        };
        steps.measure_with_bottleneck(setup, format!("{payload_bytes} bytes"))
    });
    measured.into_iter().collect()
}

pub(crate) fn remote_worker(setup: &Setup<'_>) -> anyhow::Result<Vec<Case>> {
    cases(
        setup,
        Setting::ByWorker,
        one_and_many(setup),
        |in_flight, case| match in_flight {
            1_024 => case.at_least("steps", 20_000.0, "4 × the fastest other durable engine"),
            _ => case,
        },
    )
}

pub(crate) fn postgres(setup: &Setup<'_>) -> anyhow::Result<Vec<Case>> {
    cases(
        setup,
        Setting::OnDatabase,
        one_and_many(setup),
        |in_flight, case| match in_flight {
            1 => case.at_most("run p50", 5.0, "faster than other engines on this database"),
            _ => case,
        },
    )
}

fn one_and_many(setup: &Setup<'_>) -> impl Iterator<Item = u32> {
    std::iter::once(1).chain(setup.arguments.in_flight.iter().copied())
}

/// Measures a case for each number of runs in flight.
fn cases(
    setup: &Setup<'_>,
    setting: Setting,
    numbers: impl Iterator<Item = u32>,
    with_targets: impl Fn(u32, Case) -> Case,
) -> anyhow::Result<Vec<Case>> {
    let measured = numbers.map(|in_flight| {
        let steps = Steps::new(setup, setting, in_flight);
        let case = steps.measure_with_bottleneck(setup, format!("{in_flight} in flight"))?;
        Ok(with_targets(in_flight, case))
    });
    measured.collect()
}

impl Steps {
    fn new(setup: &Setup<'_>, setting: Setting, in_flight: u32) -> Self {
        Self {
            setting,
            in_flight,
            payload_bytes: setup.payload_bytes(),
        }
    }

    /// Measures the case and names its bottleneck.
    fn measure_with_bottleneck(self, setup: &Setup<'_>, name: String) -> anyhow::Result<Case> {
        let case = self.measure(setup)?.into_case(name);
        let sentence = bottleneck(&case);
        Ok(case.limited_by(sentence))
    }

    /// Alternates limits and workflows, so that both see the same state of the machine.
    fn measure(self, setup: &Setup<'_>) -> anyhow::Result<Rounds> {
        let (in_flight, payload_bytes) = (self.in_flight, self.payload_bytes);
        let mut rounds = Rounds::default();
        let engine_location = location(setup, self.setting, "engine")?;
        let store_location = location(setup, self.setting, "store")?;
        let mut limits = LimitProbe::open(setup, &store_location, in_flight, payload_bytes)?;
        let plan = LoadPlan {
            in_flight,
            is_remote: self.setting == Setting::ByWorker,
            payload_bytes,
            warm_up: setup.warm_up(),
        };
        let (length, progress) = (setup.round_length(), &setup.progress);
        let runtime = setup::runtime(match self.setting {
            Setting::ByWorker => setup.arguments.workers_and_clients(),
            Setting::InProcess | Setting::OnDatabase => setup.arguments.workers(),
        })?;
        let mut load = runtime.block_on(Load::open(plan, &engine_location))?;
        let trial = runtime.block_on(load.measure(length.min(TRIAL_MAX), progress))?;
        let mut before = limits.measure(trial.group)?;
        for _ in 0..setup.rounds() {
            let window = runtime.block_on(load.measure(length, progress))?;
            let after = limits.measure(window.group)?;
            let limits = before.combined_with(&after);
            window.add_to(&mut rounds, &limits, in_flight == 1);
            before = after;
        }
        runtime.block_on(load.close())?;
        Ok(rounds)
    }
}

/// Returns the location of an empty store.
fn location(setup: &Setup<'_>, setting: Setting, name: &str) -> anyhow::Result<StoreLocation> {
    if setting != Setting::OnDatabase {
        return Ok(StoreLocation::Directory(setup.scratch.fresh(name)?));
    }
    let url = setup.arguments.store.clone().ok_or_else(|| UsageError {
        what: "the workload `postgres` needs a database".to_owned(),
        remedy: "Pass one with --store postgres://user@host/database.".to_owned(),
    })?;
    let name = setup.schema(name);
    Ok(StoreLocation::Schema { url, name })
}
