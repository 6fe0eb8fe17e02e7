//! The ways in which a case can fail.

use std::fmt;

use everstep_model::RunStatus;

/// Why a case failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CaseFailure {
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

impl CaseFailure {
    /// Whether both are failures of the same kind.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }
}

impl fmt::Display for CaseFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Check(message) => f.write_str(message),
            Self::Stuck(why) => write!(
                f,
                "the run is stuck: it has not ended, and nothing can continue it:\n{why}"
            ),
            Self::Endless { commits, why } => write!(
                f,
                "the run has not ended after {commits} commits; if it never ends, set an observation time with `lasting`\n{why}"
            ),
            Self::Diverged(why) => write!(
                f,
                "the code behaves differently when it is executed again: {why}"
            ),
            Self::NotReplayable { run, why } => write!(
                f,
                "the journal of run `{run}` does not replay against the code: {why}"
            ),
            Self::OtherEnd { clean, now } => write!(
                f,
                "a crash changed the end of the run: it is {now}, and {clean} without the crash"
            ),
            Self::Refused(why) => write!(f, "the engine refused a request: {why}"),
        }
    }
}
