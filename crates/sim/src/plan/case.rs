//! A case of the exhaustive search: a canonical workflow, and the calls at which its nodes crash.

use std::fmt;
use std::time::Duration;

use everstep_canonical::Scenario;

use super::fault_kind::FaultKind;

/// Whether a crash happens before or after the call takes effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    Before,
    /// The caller does not receive the answer.
    After,
}

impl Moment {
    pub const ALL: [Self; 2] = [Self::Before, Self::After];
}

/// A crash of the process that makes a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crash {
    /// The number of the call.
    pub call: u64,
    pub moment: Moment,
}

impl Crash {
    #[must_use]
    pub fn fault(self) -> FaultKind {
        match self.moment {
            Moment::Before => FaultKind::CrashBefore,
            Moment::After => FaultKind::CrashAfter,
        }
    }
}

impl fmt::Display for Crash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let moment = match self.moment {
            Moment::Before => "before",
            Moment::After => "after",
        };
        write!(f, "{}:{moment}", self.call)
    }
}

/// A canonical workflow that is executed with crashes at given calls.
#[derive(Clone, Debug)]
pub struct Case {
    pub scenario: &'static Scenario,
    /// With one node it is restarted after a crash; with two the other one takes over.
    pub nodes: usize,
    pub crashes: Vec<Crash>,
}

impl Case {
    /// Adds a crash.
    #[must_use]
    pub fn and(&self, crash: Crash) -> Self {
        let mut case = self.clone();
        case.crashes.push(crash);
        case
    }

    /// Returns the downtime of a machine. It exceeds the lease unless no other machine runs.
    pub(crate) fn downtime(&self, is_alone: bool) -> Duration {
        match is_alone {
            true => Duration::from_millis(100),
            false => Duration::from_secs(20),
        }
    }
}

/// The command line that simulates the case.
impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            scenario, nodes, ..
        } = self;
        write!(
            f,
            "cargo xtask sim --exhaustive --workflow {} --nodes {nodes}",
            scenario.name
        )?;
        self.crashes
            .iter()
            .try_for_each(|crash| write!(f, " --crash {crash}"))
    }
}
