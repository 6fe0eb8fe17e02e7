//! Simulates many seeds on all cores, and sums up what was exercised and which seeds failed.

use std::collections::BTreeMap;
use std::fmt::{Display, Write as _};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use everstep_engine::simulation::catch_panic;

use crate::observed::Violation;
use crate::plan::{FaultKind, Limits, Plan};
use crate::program::PRIMITIVES;
use crate::report::run_on_threads;
use crate::simulation::{Report, simulate};
use crate::workload::all_requests;

/// The number of seeds after which everything must have been exercised.
const ENOUGH_SEEDS: u64 = 1_000;

#[derive(Clone, Debug)]
pub struct Campaign {
    pub first: u64,
    /// The number of seeds.
    pub seeds: u64,
    /// No seed is started after this time.
    pub time: Option<Duration>,
    pub threads: usize,
    /// Parts that are left out of each plan.
    pub limits: Limits,
}

/// The result of a campaign.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    pub seeds: u64,
    /// The simulated time.
    pub micros: u64,
    /// Operations of workflows and requests of clients.
    pub operations: u64,
    /// The number of calls of the store.
    pub calls: u64,
    /// The number of faults by kind.
    pub faults: BTreeMap<FaultKind, u64>,
    /// The number of operations and requests by name.
    pub exercised: BTreeMap<&'static str, u64>,
    /// The violations of each failed seed.
    pub failed: BTreeMap<u64, Vec<Violation>>,
    pub took: Duration,
}

impl Summary {
    fn add(&mut self, seed: u64, report: Report) {
        self.seeds += 1;
        self.micros += report.micros;
        self.operations += report.operations;
        self.calls += report.calls;
        for (kind, count) in report.faults {
            *self.faults.entry(kind).or_default() += count;
        }
        for (name, count) in report.exercised {
            *self.exercised.entry(name).or_default() += count;
        }
        if !report.violations.is_empty() {
            self.failed.insert(seed, report.violations);
        }
    }

    fn all_faults(&self) -> u64 {
        self.faults.values().sum()
    }

    /// Returns one line of progress.
    #[must_use]
    pub fn progress(&self) -> String {
        let seconds = self.took.as_secs_f64().max(0.001);
        format!(
            "{} seeds, {:.1} seeds/s, {:.1} simulated hours, {} operations, {} faults, {} failed",
            self.seeds,
            self.seeds as f64 / seconds,
            self.micros as f64 / 3.6e9,
            self.operations,
            self.all_faults(),
            self.failed.len(),
        )
    }

    /// Describes what was exercised too little or not at all. Empty for a small number of seeds,
    /// which prove nothing either way.
    #[must_use]
    pub fn shortfalls(&self) -> Vec<String> {
        let mut found = Vec::new();
        if self.seeds < ENOUGH_SEEDS {
            return found;
        }
        let missing = self.missing().into_iter();
        found.extend(missing.map(|name| format!("`{name}` was never exercised")));
        for (name, total, least) in [
            ("operations", self.operations, 50),
            ("faults", self.all_faults(), 5),
            ("simulated seconds", self.micros / 1_000_000, 90),
        ] {
            if total < least * self.seeds {
                found.push(format!("fewer than {least} {name} per seed"));
            }
        }
        found
    }

    fn missing(&self) -> Vec<&'static str> {
        let faults = FaultKind::ALL
            .iter()
            .filter(|kind| !self.faults.contains_key(kind));
        let names = PRIMITIVES.iter().copied().chain(all_requests());
        let names = names.filter(|name| !self.exercised.contains_key(name));
        faults.map(|kind| kind.as_str()).chain(names).collect()
    }

    /// Returns the summary as text.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = self.progress();
        let each = |total: u64| total as f64 / self.seeds.max(1) as f64;
        let _ = writeln!(
            text,
            "\n{:.1} operations and {:.1} faults per seed, {} calls of the store, {:.1} s",
            each(self.operations),
            each(self.all_faults()),
            self.calls,
            self.took.as_secs_f64(),
        );
        let _ = writeln!(text, "faults: {}", list(&self.faults));
        let _ = writeln!(text, "exercised: {}", list(&self.exercised));
        text
    }
}

impl Campaign {
    /// Simulates the seeds, and reports progress about twice a second.
    pub fn run(&self, mut progress: impl FnMut(&Summary)) -> Summary {
        let started = Instant::now();
        let next = AtomicU64::new(0);
        let is_over = AtomicBool::new(false);
        let summary = Mutex::new(Summary::default());
        let lock = || summary.lock().unwrap_or_else(PoisonError::into_inner);
        let work = || {
            while !is_over.load(Ordering::Relaxed) {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let is_late = self.time.is_some_and(|time| started.elapsed() > time);
                if index >= self.seeds || is_late {
                    return;
                }
                let seed = self.first + index;
                let report = simulate_caught(&Plan::new(seed, self.limits.clone()), false);
                let mut summary = lock();
                if !report.violations.is_empty() && summary.failed.len() >= 20 {
                    is_over.store(true, Ordering::Relaxed);
                }
                summary.add(seed, report);
            }
        };
        run_on_threads(self.threads, work, || {
            let mut summary = lock();
            summary.took = started.elapsed();
            progress(&summary);
        });
        let mut summary = lock().clone();
        summary.took = started.elapsed();
        summary
    }
}

fn list<K: Display>(counts: &BTreeMap<K, u64>) -> String {
    let items = counts.iter().map(|(name, count)| format!("{name} {count}"));
    items.collect::<Vec<_>>().join(", ")
}

/// Simulates a plan. A panic counts as a violation.
pub(crate) fn simulate_caught(plan: &Plan, is_traced: bool) -> Report {
    catch_panic(|| simulate(plan, is_traced)).unwrap_or_else(|panic| Report {
        violations: vec![Violation::of(0, format!("panicked: {panic}"))],
        ..Report::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complete() -> Summary {
        let names = PRIMITIVES.iter().copied().chain(all_requests());
        Summary {
            seeds: 1_000,
            micros: 90_000_000_000,
            operations: 50_000,
            faults: FaultKind::ALL.iter().map(|kind| (*kind, 1_000)).collect(),
            exercised: names.map(|name| (name, 1)).collect(),
            ..Summary::default()
        }
    }

    #[test]
    fn a_campaign_that_exercises_too_little_is_reported() {
        assert_eq!(complete().shortfalls(), [""; 0]);
        let mut lacking = complete();
        lacking.faults.remove(&FaultKind::Late);
        lacking.exercised.remove("race");
        lacking.operations = 49_999;
        let found = [
            "`late` was never exercised",
            "`race` was never exercised",
            "fewer than 50 operations per seed",
        ];
        assert_eq!(lacking.shortfalls(), found);
        lacking.seeds = 10;
        assert_eq!(lacking.shortfalls(), [""; 0]);
    }

    #[test]
    fn a_panic_is_a_violation() {
        let mut summary = Summary::default();
        let report = Report {
            violations: vec![Violation::of(0, "it panicked")],
            ..Report::default()
        };
        summary.add(7, report);
        assert!(summary.failed.contains_key(&7));
        assert!(summary.progress().ends_with("1 failed"));
    }
}
