//! What a simulation did, in numbers.

use std::fmt;
use std::ops::AddAssign;
use std::time::Duration;

/// What a simulation did, in numbers. Only faults that struck are counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SimulationSummary {
    /// How often the workflow was run from its start to its end.
    pub cases: u64,
    /// How often a process died.
    pub crashes: u64,
    /// Commits to the store, each of which a process could die before or after.
    pub commits: u64,
    /// Records that were written.
    pub records: u64,
    /// Events that were sent for the first time.
    pub events_sent: u64,
    /// Events that were sent again.
    pub events_repeated: u64,
    /// Events that came late, and so perhaps in another order.
    pub events_delayed: u64,
    /// Answers that were given, first and second ones.
    pub answers: u64,
    /// How often the clock was set.
    pub clock_jumps: u64,
    /// Cases in which no run stayed in memory.
    pub evictions: u64,
    /// Attempts of steps that failed because the simulation said so.
    pub step_failures: u64,
    /// The time that passed for the runs.
    pub simulated: Duration,
}

impl AddAssign<&Self> for SimulationSummary {
    fn add_assign(&mut self, other: &Self) {
        self.cases += other.cases;
        self.crashes += other.crashes;
        self.commits += other.commits;
        self.records += other.records;
        self.events_sent += other.events_sent;
        self.events_repeated += other.events_repeated;
        self.events_delayed += other.events_delayed;
        self.answers += other.answers;
        self.clock_jumps += other.clock_jumps;
        self.evictions += other.evictions;
        self.step_failures += other.step_failures;
        self.simulated = self.simulated.saturating_add(other.simulated);
    }
}

impl fmt::Display for SimulationSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hours = self.simulated.as_secs() / 3_600;
        let parts = [
            (self.cases, "cases"),
            (self.crashes, "crashes"),
            (self.commits, "commits"),
            (self.records, "records"),
            (self.events_sent, "events sent"),
            (self.events_repeated, "sent again"),
            (self.events_delayed, "late"),
            (self.answers, "answers"),
            (self.clock_jumps, "clock jumps"),
            (self.evictions, "cases without memory"),
            (self.step_failures, "failed attempts"),
            (hours, "hours simulated"),
        ];
        let mut separator = "";
        for (number, what) in parts {
            write!(f, "{separator}{number} {what}")?;
            separator = ", ";
        }
        Ok(())
    }
}
