//! Errors of control requests: pause, cancel, terminate, restart, fork, delete and the like.

use everstep_model::{ErrorCode, InvalidRunId, Location, PayloadError, RunId};

use super::{CodedError, InvalidOptions, Unavailable, UnknownRun, UnreadableJournal};

/// Why a control request had no effect.
#[derive(Debug, thiserror::Error)]
#[allow(
    missing_docs,
    reason = "each variant holds an error that is documented"
)]
pub enum ControlError {
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
    #[error(transparent)]
    Options(#[from] InvalidOptions),
    #[error(transparent)]
    RunId(#[from] InvalidRunId),
    #[error(transparent)]
    Payload(#[from] PayloadError),
    #[error(transparent)]
    UnknownRun(#[from] UnknownRun),
    #[error(transparent)]
    UnknownOperation(#[from] UnknownOperation),
    #[error(transparent)]
    WrongState(#[from] WrongState),
    #[error(transparent)]
    OtherFork(#[from] OtherFork),
    #[error(transparent)]
    Journal(#[from] UnreadableJournal),
}

/// The run has no such operation.
#[derive(Clone, Debug, thiserror::Error)]
#[error("run `{run}` has no operation `{location}`; its timeline lists its operations")]
#[allow(missing_docs, reason = "the message explains the fields")]
pub struct UnknownOperation {
    pub run: RunId,
    pub location: Location,
}

/// The request is impossible in the current state of the run.
#[derive(Clone, Debug, thiserror::Error)]
#[error("not possible in the current state of run `{run}`: {detail}")]
#[allow(missing_docs, reason = "the message explains the fields")]
pub struct WrongState {
    pub run: RunId,
    pub detail: String,
}

/// The id of a fork belongs to another run.
#[derive(Clone, Debug, thiserror::Error)]
#[error(
    "run `{0}` exists and is not this fork: it has another origin, fork point or edited result; choose another id"
)]
pub struct OtherFork(pub RunId);

impl CodedError for ControlError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Unavailable(error) => error.code(),
            Self::Options(error) => error.code(),
            Self::RunId(_) => ErrorCode::InvalidRunId,
            Self::Payload(error) => error.code(),
            Self::UnknownRun(error) => error.code(),
            Self::UnknownOperation(_) => ErrorCode::UnknownOperation,
            Self::WrongState(_) => ErrorCode::WrongState,
            Self::OtherFork(_) => ErrorCode::RunExists,
            Self::Journal(error) => error.code(),
        }
    }
}
