//! What operators may do to a simulated run.

use std::fmt;
use std::time::Duration;

/// Something that an operator does to the run at a random moment. See
/// [`Simulation::interventions`](super::Simulation::interventions).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Intervention {
    /// Cancels the run.
    Cancel,
    /// Makes the run fail.
    ForceFail,
    /// Pauses the run, and resumes it later.
    Pause,
    /// Skips a step that has no result, with the result null.
    SkipStep,
    /// Makes a step fail that has no result.
    FailStep,
    /// Recovers the run, if it did not complete.
    Recover,
    /// Restarts the run from one of its steps.
    Restart,
    /// Retries the rollback, if it failed.
    RetryRollback,
}

impl fmt::Display for Intervention {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cancel => "cancels the run",
            Self::ForceFail => "makes the run fail",
            Self::Pause => "pauses the run",
            Self::SkipStep => "skips a step",
            Self::FailStep => "makes a step fail",
            Self::Recover => "recovers the run",
            Self::Restart => "restarts the run from a step",
            Self::RetryRollback => "retries the rollback",
        })
    }
}

/// An intervention with its arguments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Planned {
    pub(super) what: Intervention,
    /// A random number that selects the step.
    pub(super) pick: u64,
    /// How long a pause lasts.
    pub(super) pause: Duration,
}
