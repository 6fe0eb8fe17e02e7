//! The numbers of a simulation.

use std::fmt;
use std::ops::AddAssign;
use std::time::Duration;

/// The numbers of a simulation. Only faults that happened are counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SimulationSummary {
    /// The number of executions of the workflow from its start to its end.
    pub cases: u64,
    /// The number of crashes.
    pub crashes: u64,
    /// Commits to the store. A process can crash before and after each of them.
    pub commits: u64,
    /// Records that were written.
    pub records: u64,
    /// Events that were sent for the first time.
    pub events_sent: u64,
    /// Events that were sent again.
    pub events_repeated: u64,
    /// Events that were late, and thereby possibly reordered.
    pub events_delayed: u64,
    /// Answers that were given, first and second ones.
    pub answers: u64,
    /// The number of times the clock was set.
    pub clock_jumps: u64,
    /// Cases in which no run stayed in memory.
    pub evictions: u64,
    /// Attempts of steps that the simulation let fail.
    pub step_failures: u64,
    /// Actions of operators that were not refused.
    pub interventions: u64,
    /// The simulated time.
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
        self.interventions += other.interventions;
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
            (self.interventions, "interventions"),
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
