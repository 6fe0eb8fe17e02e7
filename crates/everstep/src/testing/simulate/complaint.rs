//! The ways in which a case can fail.

use std::fmt;

use everstep_model::RunStatus;

/// Why a case failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Complaint {
    /// An assertion of the test.
    Check(String),
    /// The run has not ended, and nothing can continue it.
    Stuck(String),
    /// The run does not end.
    Endless { commits: u64, why: String },
    /// The code behaves differently after a crash.
    Diverged(String),
    /// A replay of the whole journal reaches another end.
    NotReplayable { run: String, why: String },
    /// The run ends differently without faults.
    OtherEnd { clean: RunStatus, now: RunStatus },
    /// The engine refused a request of the test.
    Refused(String),
}

impl Complaint {
    /// Whether both are failures of the same kind.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Check(message) => f.write_str(message),
            Self::Stuck(why) => write!(
                f,
                "nothing will happen any more, and it is not over:\n{why}"
            ),
            Self::Endless { commits, why } => write!(
                f,
                "it is not over after {commits} commits; say how long to look at it with `lasting` if it never ends\n{why}"
            ),
            Self::Diverged(why) => write!(f, "the code does something else the second time: {why}"),
            Self::NotReplayable { run, why } => write!(
                f,
                "the journal of run `{run}`, replayed against the code, comes to something else: {why}"
            ),
            Self::OtherEnd { clean, now } => write!(
                f,
                "the run is {now} in the end, because a process died; without that it is {clean}"
            ),
            Self::Refused(why) => write!(f, "the engine does not take it: {why}"),
        }
    }
}
