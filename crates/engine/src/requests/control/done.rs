//! The origin and the outcome of a control request.

use std::fmt;

use everstep_model::{Generation, RunId, RunStatus};
use everstep_store::RunRow;

/// The actor and the reason of a request, for the journal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "plain data")]
pub struct RequestOrigin {
    pub by: Option<String>,
    pub reason: Option<String>,
}

impl RequestOrigin {
    /// Returns the origin with this reason, if it has none.
    pub(super) fn or_reason(&self, reason: &str) -> Self {
        Self {
            by: self.by.clone(),
            reason: self.reason.clone().or(Some(reason.to_owned())),
        }
    }
}

/// The outcome of a control request. Displayed as a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "plain data")]
pub struct Done {
    pub run: RunId,
    /// The latest generation.
    pub generation: Generation,
    /// The status after the request.
    pub status: RunStatus,
    pub effect: Effect,
}

/// The effect of a control request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The request took effect, or an executor acts on it now.
    Done,
    /// The request is recorded and takes effect when the run is executed. No worker known to this
    /// node offers matching code.
    NeedsWorker,
    /// The run was deleted. The status is its last.
    Deleted,
    /// The request had no effect.
    Nothing(Because),
}

/// Why a request had no effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Because {
    /// The run has ended.
    Finished,
    /// The run is paused or pausing.
    Paused,
    /// The run is not paused.
    NotPaused,
    /// The run is already ending. The first reason is kept.
    Ending,
    /// The run did not fail.
    NotFailed,
    /// The rollback of the run did not fail.
    RollbackDidNotFail,
}

impl Done {
    /// Returns whether the request changed the run.
    #[must_use]
    pub fn changed(&self) -> bool {
        !matches!(self.effect, Effect::Nothing(_))
    }

    pub(super) fn of(row: &RunRow, status: RunStatus, effect: Effect) -> Self {
        Self {
            run: row.id.clone(),
            generation: row.generation,
            status,
            effect,
        }
    }
}

impl fmt::Display for Done {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.effect == Effect::Deleted {
            return write!(f, "run `{}` is deleted; it was {}", self.run, self.status);
        }
        write!(f, "run `{}` is {}", self.run, self.status)?;
        match self.effect {
            Effect::Done | Effect::Deleted => Ok(()),
            Effect::NeedsWorker => f.write_str("; it continues when a worker offers matching code"),
            Effect::Nothing(because) => write!(f, "; nothing to do: {because}"),
        }
    }
}

impl fmt::Display for Because {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Finished => "it is over",
            Self::Paused => "it is already paused or pausing",
            Self::NotPaused => "it is not paused",
            Self::Ending => "it is already ending",
            Self::NotFailed => "it did not fail",
            Self::RollbackDidNotFail => "its rollback did not fail",
        })
    }
}
