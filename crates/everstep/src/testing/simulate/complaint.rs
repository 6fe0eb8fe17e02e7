//! What can be wrong with a case, whatever its test asserts.

use std::fmt;

use everstep_model::RunStatus;

/// What is wrong with a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Complaint {
    /// The test's own assertions say so.
    Check(String),
    /// Nothing will ever happen to the run again, and it is not over.
    Stuck(String),
    /// It does not come to an end.
    Endless { commits: u64, why: String },
    /// After a crash the code does something else than before.
    Diverged(String),
    /// The whole journal, replayed, comes to something else.
    NotReplayable { run: String, why: String },
    /// It ends otherwise than without faults.
    OtherEnd { clean: RunStatus, now: RunStatus },
    /// The engine does not take what the test asks for.
    Refused(String),
}

impl Complaint {
    /// Whether both are about the same kind of thing.
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
