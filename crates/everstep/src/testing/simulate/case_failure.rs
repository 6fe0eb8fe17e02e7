//! The ways in which a case can fail.

use everstep_model::RunStatus;

/// Why a case failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum CaseFailure {
    /// An assertion of the test.
    #[error("{0}")]
    Check(String),
    #[error("the run is stuck: it has not ended, and nothing can continue it:\n{0}")]
    Stuck(String),
    #[error(
        "the run has not ended after {commits} commits; if it never ends, set an observation time with `lasting`\n{why}"
    )]
    Endless { commits: u64, why: String },
    #[error("the code behaves differently when it is executed again: {0}")]
    Diverged(String),
    /// A replay of the whole journal reaches another end.
    #[error("the journal of run `{run}` does not replay against the code: {why}")]
    NotReplayable { run: String, why: String },
    #[error("a crash changed the end of the run: it is {now}, and {clean} without the crash")]
    OtherEnd { clean: RunStatus, now: RunStatus },
    #[error("the engine refused a request: {0}")]
    Refused(String),
}

impl CaseFailure {
    /// Whether both are failures of the same kind.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }
}
