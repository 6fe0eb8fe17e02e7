//! The report of a test run, and the minimum that it must have covered.

use std::collections::BTreeMap;
use std::time::Duration;

use everstep_sim::Violation;

use crate::check::Figures;
use crate::nemesis::Fault;

/// Maximum number of violations to print.
const SHOWN: usize = 20;
/// With fewer runs per minute, the test has covered too little, even on a busy machine.
const RUNS_PER_MINUTE_MIN: f64 = 30.0;

pub(crate) struct Report {
    pub(crate) seed: u64,
    pub(crate) took: Duration,
    pub(crate) figures: Figures,
    pub(crate) faults: BTreeMap<Fault, u64>,
    /// The number of recoveries in the log of the database.
    pub(crate) database_crashes: usize,
    /// The number of processes that were started.
    pub(crate) processes: u32,
    /// The number of requests without a response or with a temporary error.
    pub(crate) retried: u64,
    /// The time from the last fault to the end of the last run.
    pub(crate) recovered: Duration,
    pub(crate) violations: Vec<Violation>,
    /// Problems of the test itself, or processes that ended unexpectedly.
    pub(crate) problems: Vec<String>,
}

impl Report {
    /// Whether there were no violations and the test covered enough.
    pub(crate) fn is_good(&self) -> bool {
        self.violations.is_empty() && self.problems.is_empty() && self.shortfalls().is_empty()
    }

    /// Describes what the test did not cover.
    fn shortfalls(&self) -> Vec<String> {
        let mut found = Vec::new();
        for fault in Fault::ALL {
            if self.faults.get(&fault).copied().unwrap_or_default() == 0 {
                found.push(format!("{fault:?} was never injected"));
            }
        }
        let minutes = self.took.as_secs_f64() / 60.0;
        let Figures {
            runs,
            steps,
            timers,
            sleeps,
            taken_over,
            ..
        } = self.figures;
        if (runs as f64) < RUNS_PER_MINUTE_MIN * minutes {
            found.push(format!("only {runs} runs"));
        }
        for (what, count) in [
            ("steps were compared with their effects", steps),
            ("timers fired", timers),
            ("sleeps were compared with the true clock", sleeps),
            ("runs had more than one executor", taken_over),
            ("times the database was interrupted", self.database_crashes),
        ] {
            if count < 5 {
                found.push(format!("only {count} {what}"));
            }
        }
        found
    }

    pub(crate) fn print(&self) {
        let Figures {
            runs,
            records,
            steps,
            effects,
            timers,
            sleeps,
            taken_over,
        } = self.figures;
        println!(
            "{:.0} s with seed {}: {runs} runs, {records} records, {steps} results of {effects} effects, {timers} timers, {sleeps} \
             sleeps compared with the true clock",
            self.took.as_secs_f64(),
            self.seed
        );
        for (fault, count) in &self.faults {
            println!("  {fault:?}: {count}");
        }
        println!(
            "  {} processes, {} database recoveries, {taken_over} runs taken over, {} requests retried, all runs ended {:.1} s after \
             the last fault",
            self.processes,
            self.database_crashes,
            self.retried,
            self.recovered.as_secs_f64()
        );
        for violation in self.violations.iter().take(SHOWN) {
            println!("VIOLATED {violation}");
        }
        for problem in self.problems.iter().take(SHOWN).chain(&self.shortfalls()) {
            println!("{problem}");
        }
        println!(
            "{} violations, {} problems",
            self.violations.len(),
            self.problems.len()
        );
    }
}
