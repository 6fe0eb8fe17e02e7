//! All cases: every story with one node and with two, a crash at every call, and if asked for a second one at every call of each
//! recovery.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use everstep_canonical::{ALL, Scenario};
use everstep_engine::simulation::catch_panic;

use super::case::{CaseReport, simulate_case};
use crate::observed::Violation;
use crate::plan::{Case, Crash, Moment};
use crate::stores::Stores;

/// With fewer calls than these something is not counted: an engine makes as many before it has done anything.
const CALLS_MIN: usize = 15;
/// With more than these a story runs in circles.
const CALLS_MAX: usize = 2_000;
/// Failing cases that are kept.
const FAILED_MAX: usize = 10;

/// Which cases to simulate.
#[derive(Clone, Debug)]
pub struct Survey {
    /// The stories.
    pub stories: Vec<&'static Scenario>,
    /// With how many nodes.
    pub nodes: Vec<usize>,
    /// Whether recoveries crash too.
    pub twice: bool,
    /// How many worlds at once.
    pub threads: usize,
}

impl Survey {
    /// Every story with one node and with two.
    #[must_use]
    pub fn of_all(twice: bool, threads: usize) -> Self {
        Self {
            stories: ALL.iter().collect(),
            nodes: vec![1, 2],
            twice,
            threads,
        }
    }
}

/// What one story came to, over all its cases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// Calls of its telling without crashes.
    pub calls: usize,
    /// Worlds.
    pub worlds: u64,
    /// Crashes.
    pub crashes: u64,
    /// Worlds in which it was begun again by another process.
    pub recoveries: u64,
}

/// What a survey came to.
#[derive(Clone, Debug, Default)]
pub struct Account {
    /// By story and number of nodes.
    pub lines: BTreeMap<(&'static str, usize), Line>,
    /// The cases that failed, and with what.
    pub failed: Vec<(Case, Violation)>,
    /// Crashes that were planned and did not come.
    pub missed: u64,
    /// How long it took.
    pub took: Duration,
}

impl Account {
    fn add(&mut self, case: &Case, report: &CaseReport) {
        let line = self.lines.entry((case.story.name, case.nodes)).or_default();
        line.worlds += 1;
        line.crashes += report.crashes;
        line.recoveries += u64::from(report.retold > 0);
        if case.crashes.is_empty() {
            line.calls = report.calls.len();
        }
        self.missed += (case.crashes.len() as u64).saturating_sub(report.crashes);
        if let Some(violation) = report.violations.first() {
            self.failed.push((case.clone(), violation.clone()));
        }
    }

    /// The sum of all lines.
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

    /// One line for whoever waits.
    #[must_use]
    pub fn progress(&self) -> String {
        let Line {
            calls,
            worlds,
            crashes,
            recoveries,
        } = self.sum();
        let stories: std::collections::BTreeSet<_> =
            self.lines.keys().map(|(name, _)| name).collect();
        format!(
            "{} workflows, {calls} calls, {worlds} worlds, {crashes} crashes, {recoveries} told on by another process, \
             {} failed, {:.1} s",
            stories.len(),
            self.failed.len(),
            self.took.as_secs_f64(),
        )
    }

    /// What makes its figures worthless.
    #[must_use]
    pub fn shortfalls(&self, survey: &Survey) -> Vec<String> {
        let mut found = Vec::new();
        for story in &survey.stories {
            for nodes in &survey.nodes {
                let line = self
                    .lines
                    .get(&(story.name, *nodes))
                    .copied()
                    .unwrap_or_default();
                let told = format!("`{}` with {nodes} nodes", story.name);
                if !(CALLS_MIN..=CALLS_MAX).contains(&line.calls) {
                    found.push(format!("{told} made {} calls", line.calls));
                }
                // Two for each call, before and after.
                if line.crashes < 2 * line.calls as u64 || line.crashes == 0 {
                    found.push(format!("{told} had {} crashes", line.crashes));
                }
                if line.recoveries == 0 {
                    found.push(format!("{told} was never told on by another process"));
                }
            }
        }
        if self.missed > 0 {
            found.push(format!("{} crashes did not come", self.missed));
        }
        found
    }
}

impl Survey {
    /// Simulates all cases on these stores, telling of its progress about once a second.
    pub fn run(&self, stores: &dyn Stores, mut progress: impl FnMut(&Account)) -> Account {
        let started = Instant::now();
        let account = Mutex::new(Account::default());
        let lock = || account.lock().unwrap_or_else(PoisonError::into_inner);
        let mut first = Vec::new();
        for story in &self.stories {
            for nodes in &self.nodes {
                let case = Case {
                    story,
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
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..self.threads.max(1))
                .map(|_| scope.spawn(work))
                .collect();
            while threads.iter().any(|thread| !thread.is_finished()) {
                std::thread::park_timeout(Duration::from_millis(500));
                let mut account = lock();
                account.took = started.elapsed();
                progress(&account);
            }
        });
        let mut account = lock().clone();
        account.took = started.elapsed();
        account
    }
}

/// The case with a crash at each call that comes after the last one, before and after it took effect.
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
            stories: ALL.iter().take(1).collect(),
            nodes: vec![1, 2],
            twice: false,
            threads: 2,
        }
    }

    #[test]
    fn a_story_survives_a_crash_at_every_call() {
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
    fn figures_that_cannot_be_are_found() {
        let survey = survey();
        let story = survey.stories[0].name;
        let fine = Line {
            calls: 40,
            worlds: 81,
            crashes: 80,
            recoveries: 70,
        };
        let mut account = Account::default();
        account.lines.insert((story, 1), fine);
        account.lines.insert((story, 2), fine);
        assert_eq!(account.shortfalls(&survey), [""; 0]);
        let mut found = |line: Line, missed| {
            account.lines.insert((story, 2), line);
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
