//! All cases: every workflow with one node and with two, a crash at every call, and on request a
//! second one at every call of each recovery.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use everstep_canonical::{ALL, Scenario};
use everstep_engine::simulation::catch_panic;

use super::case::{CaseReport, simulate_case};
use crate::observed::Violation;
use crate::plan::{Case, Crash, Moment};
use crate::report::run_on_threads;
use crate::stores::Stores;

/// With fewer calls something is not counted: an engine makes this many before it executes
/// anything.
const CALLS_MIN: usize = 15;
/// With more calls a workflow does not make progress.
const CALLS_MAX: usize = 2_000;
/// The number of failing cases that are kept.
const FAILED_MAX: usize = 10;

#[derive(Clone, Debug)]
pub struct Survey {
    pub scenarios: Vec<&'static Scenario>,
    /// The numbers of nodes.
    pub nodes: Vec<usize>,
    /// Whether recoveries crash, too.
    pub twice: bool,
    /// The number of threads.
    pub threads: usize,
}

impl Survey {
    /// Covers every workflow with one node and with two.
    #[must_use]
    pub fn of_all(twice: bool, threads: usize) -> Self {
        Self {
            scenarios: ALL.iter().collect(),
            nodes: vec![1, 2],
            twice,
            threads,
        }
    }
}

/// The result of all cases of one workflow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// The calls of the case without crashes.
    pub calls: usize,
    pub worlds: u64,
    pub crashes: u64,
    /// The number of worlds in which another process drove the workflow again.
    pub recoveries: u64,
}

/// The result of a survey.
#[derive(Clone, Debug, Default)]
pub struct Account {
    /// By workflow and number of nodes.
    pub lines: BTreeMap<(&'static str, usize), Line>,
    /// The violations of each failed case.
    pub failed: Vec<(Case, Violation)>,
    /// Planned crashes that did not happen.
    pub missed: u64,
    pub took: Duration,
}

impl Account {
    fn add(&mut self, case: &Case, report: &CaseReport) {
        let line = self
            .lines
            .entry((case.scenario.name, case.nodes))
            .or_default();
        line.worlds += 1;
        line.crashes += report.crashes;
        line.recoveries += u64::from(report.restarts > 0);
        if case.crashes.is_empty() {
            line.calls = report.calls.len();
        }
        self.missed += (case.crashes.len() as u64).saturating_sub(report.crashes);
        if let Some(violation) = report.violations.first() {
            self.failed.push((case.clone(), violation.clone()));
        }
    }

    /// Returns the sum of all lines.
    #[must_use]
    pub fn sum(&self) -> Line {
        let mut sum = Line::default();
        for line in self.lines.values() {
            sum.calls += line.calls;
            sum.worlds += line.worlds;
            sum.crashes += line.crashes;
            sum.recoveries += line.recoveries;
        }
        sum
    }

    /// Returns one line of progress.
    #[must_use]
    pub fn progress(&self) -> String {
        let Line {
            calls,
            worlds,
            crashes,
            recoveries,
        } = self.sum();
        let scenarios: std::collections::BTreeSet<_> =
            self.lines.keys().map(|(name, _)| name).collect();
        format!(
            "{} workflows, {calls} calls, {worlds} worlds, {crashes} crashes, {recoveries} continued by another process, \
             {} failed, {:.1} s",
            scenarios.len(),
            self.failed.len(),
            self.took.as_secs_f64(),
        )
    }

    /// Describes why the result is not valid.
    #[must_use]
    pub fn shortfalls(&self, survey: &Survey) -> Vec<String> {
        let mut found = Vec::new();
        for scenario in &survey.scenarios {
            for nodes in &survey.nodes {
                let line = self
                    .lines
                    .get(&(scenario.name, *nodes))
                    .copied()
                    .unwrap_or_default();
                let name = format!("`{}` with {nodes} nodes", scenario.name);
                if !(CALLS_MIN..=CALLS_MAX).contains(&line.calls) {
                    found.push(format!("{name} made {} calls", line.calls));
                }
                // Two for each call: before and after.
                if line.crashes < 2 * line.calls as u64 || line.crashes == 0 {
                    found.push(format!("{name} had {} crashes", line.crashes));
                }
                if line.recoveries == 0 {
                    found.push(format!("{name} was never continued by another process"));
                }
            }
        }
        if self.missed > 0 {
            found.push(format!("{} crashes did not happen", self.missed));
        }
        found
    }
}

impl Survey {
    /// Simulates all cases on these stores, and reports progress about twice a second.
    pub fn run(&self, stores: &dyn Stores, mut progress: impl FnMut(&Account)) -> Account {
        let started = Instant::now();
        let account = Mutex::new(Account::default());
        let lock = || account.lock().unwrap_or_else(PoisonError::into_inner);
        let mut first = Vec::new();
        for scenario in &self.scenarios {
            for nodes in &self.nodes {
                let case = Case {
                    scenario,
                    nodes: *nodes,
                    crashes: Vec::new(),
                };
                let report = simulate_caught(&case, false, stores);
                lock().add(&case, &report);
                first.extend(with_one_more(&case, &report));
            }
        }
        let next = AtomicUsize::new(0);
        let work = || {
            while let Some(case) = first.get(next.fetch_add(1, Ordering::Relaxed)) {
                let report = simulate_caught(case, false, stores);
                lock().add(case, &report);
                let again = self.twice.then(|| with_one_more(case, &report));
                for case in again.into_iter().flatten() {
                    let report = simulate_caught(&case, false, stores);
                    lock().add(&case, &report);
                }
                if lock().failed.len() >= FAILED_MAX {
                    return;
                }
            }
        };
        run_on_threads(self.threads, work, || {
            let mut account = lock();
            account.took = started.elapsed();
            progress(&account);
        });
        let mut account = lock().clone();
        account.took = started.elapsed();
        account
    }
}

/// Returns the case with one more crash, before and after each call that follows the last crash.
fn with_one_more(case: &Case, report: &CaseReport) -> Vec<Case> {
    let last = case.crashes.last().map_or(0, |crash| crash.call);
    let calls = report.calls.iter().filter(|call| **call > last);
    let crashes = calls.flat_map(|call| {
        Moment::ALL.map(|moment| Crash {
            call: *call,
            moment,
        })
    });
    crashes.map(|crash| case.and(crash)).collect()
}

/// Simulates a case. A panic counts as a violation.
pub(super) fn simulate_caught(case: &Case, is_traced: bool, stores: &dyn Stores) -> CaseReport {
    let simulated = catch_panic(|| simulate_case(case, is_traced, stores));
    simulated.unwrap_or_else(|panic| CaseReport {
        violations: vec![Violation::of(0, format!("panicked: {panic}"))],
        crashes: case.crashes.len() as u64,
        ..CaseReport::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stores::InMemory;

    fn survey() -> Survey {
        Survey {
            scenarios: ALL.iter().take(1).collect(),
            nodes: vec![1, 2],
            twice: false,
            threads: 2,
        }
    }

    #[test]
    fn a_workflow_survives_a_crash_at_every_call() {
        let survey = survey();
        let account = survey.run(&InMemory, |_| ());
        let failed: Vec<_> = account
            .failed
            .iter()
            .map(|(case, what)| format!("{case}: {what}"))
            .collect();
        assert_eq!(failed, [""; 0]);
        assert_eq!(account.shortfalls(&survey), [""; 0]);
    }

    #[test]
    fn implausible_counts_are_reported() {
        let survey = survey();
        let scenario = survey.scenarios[0].name;
        let fine = Line {
            calls: 40,
            worlds: 81,
            crashes: 80,
            recoveries: 70,
        };
        let mut account = Account::default();
        account.lines.insert((scenario, 1), fine);
        account.lines.insert((scenario, 2), fine);
        assert_eq!(account.shortfalls(&survey), [""; 0]);
        let mut found = |line: Line, missed| {
            account.lines.insert((scenario, 2), line);
            account.missed = missed;
            account.shortfalls(&survey).len()
        };
        assert_eq!(found(Line { calls: 3, ..fine }, 0), 1);
        assert_eq!(
            found(
                Line {
                    calls: 5_000,
                    crashes: 10_000,
                    ..fine
                },
                0
            ),
            1
        );
        assert_eq!(
            found(
                Line {
                    crashes: 79,
                    ..fine
                },
                0
            ),
            1
        );
        assert_eq!(
            found(
                Line {
                    recoveries: 0,
                    ..fine
                },
                0
            ),
            1
        );
        assert_eq!(found(fine, 1), 1);
        assert_eq!(found(Line::default(), 0), 3);
    }
}
