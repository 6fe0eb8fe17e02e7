//! A case of the exhaustive search: a canonical workflow, and the calls at which its nodes crash.

use std::fmt;
use std::time::Duration;

use everstep_canonical::Scenario;

use super::fault_kind::FaultKind;

/// A crash does not take effect before, or does after, the call it comes at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// The call has no effect.
    Before,
    /// The call has taken effect, and nobody hears of it.
    After,
}

impl Moment {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Before, Self::After];
}

/// A crash of whoever makes a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crash {
    /// The number of the call.
    pub call: u64,
    /// Before or after its effect.
    pub moment: Moment,
}

impl Crash {
    /// What happens to the call.
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

/// A story that is told with crashes at chosen calls.
#[derive(Clone, Debug)]
pub struct Case {
    /// The story.
    pub story: &'static Scenario,
    /// How many nodes: one that is started again, or another one that takes over.
    pub nodes: usize,
    /// The crashes, in order.
    pub crashes: Vec<Crash>,
}

impl Case {
    /// The same case with one more crash.
    #[must_use]
    pub fn and(&self, crash: Crash) -> Self {
        let mut case = self.clone();
        case.crashes.push(crash);
        case
    }

    /// How long a machine is down: longer than its lease, unless nobody else is there.
    pub(crate) fn downtime(&self, is_alone: bool) -> Duration {
        match is_alone {
            true => Duration::from_millis(100),
            false => Duration::from_secs(20),
        }
    }
}

/// The command line that simulates it.
impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { story, nodes, .. } = self;
        write!(
            f,
            "cargo xtask sim --exhaustive --story {} --nodes {nodes}",
            story.name
        )?;
        self.crashes
            .iter()
            .try_for_each(|crash| write!(f, " --crash {crash}"))
    }
}
