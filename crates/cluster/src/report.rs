//! What a run of the cluster came to, in words, and whether it was worth anything.

use std::collections::BTreeMap;
use std::time::Duration;

use everstep_sim::Violation;

use crate::check::Figures;
use crate::nemesis::Fault;

/// Violations that are shown.
const SHOWN: usize = 20;
/// Runs a second below which nothing was tested, however busy the machine.
const RUNS_PER_MINUTE_MIN: f64 = 30.0;

pub(crate) struct Report {
    pub(crate) seed: u64,
    pub(crate) took: Duration,
    pub(crate) figures: Figures,
    pub(crate) faults: BTreeMap<Fault, u64>,
    /// How often the database noticed that it had been interrupted.
    pub(crate) database_crashes: usize,
    /// Processes that were started.
    pub(crate) processes: u32,
    /// Requests without an answer, or with a refusal for the moment.
    pub(crate) unanswered: u64,
    /// How long the last run took to end after the last fault.
    pub(crate) recovered: Duration,
    pub(crate) violations: Vec<Violation>,
    /// What went wrong with the test itself, or with a process.
    pub(crate) mishaps: Vec<String>,
}

impl Report {
    /// Whether all held, and enough happened to say so.
    pub(crate) fn is_good(&self) -> bool {
        self.violations.is_empty() && self.mishaps.is_empty() && self.shortfalls().is_empty()
    }

    /// What makes its figures worthless.
    fn shortfalls(&self) -> Vec<String> {
        let mut found = Vec::new();
        for fault in Fault::ALL {
            if self.faults.get(&fault).copied().unwrap_or_default() == 0 {
                found.push(format!("{fault:?} never happened"));
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
            found.push(format!("there were only {runs} runs"));
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
            "  {} processes, {} database recoveries, {taken_over} runs taken over, {} requests asked again, all over {:.1} s after \
             the last fault",
            self.processes,
            self.database_crashes,
            self.unanswered,
            self.recovered.as_secs_f64()
        );
        for violation in self.violations.iter().take(SHOWN) {
            println!("VIOLATED {violation}");
        }
        for mishap in self.mishaps.iter().take(SHOWN).chain(&self.shortfalls()) {
            println!("{mishap}");
        }
        println!(
            "{} violations, {} mishaps",
            self.violations.len(),
            self.mishaps.len()
        );
    }
}
