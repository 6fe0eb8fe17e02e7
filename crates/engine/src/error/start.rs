//! Errors of starting runs and of offering workers.

use everstep_model::{ErrorCode, InvalidRunId, PayloadError, RunId};

use super::{CodedError, InvalidOptions, OtherWorkflow, SchemaMismatch, Unavailable, UnknownRun};

/// Why a run was not started.
#[derive(Debug, thiserror::Error)]
#[allow(
    missing_docs,
    reason = "each variant holds an error that is documented"
)]
pub enum StartError {
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
    #[error(transparent)]
    Options(#[from] InvalidOptions),
    #[error(transparent)]
    RunId(#[from] InvalidRunId),
    #[error(transparent)]
    Payload(#[from] PayloadError),
    #[error(transparent)]
    UnknownWorkflow(#[from] UnknownWorkflow),
    #[error(transparent)]
    Schema(#[from] SchemaMismatch),
    #[error(transparent)]
    Exists(#[from] RunExists),
    #[error(transparent)]
    OtherWorkflow(#[from] OtherWorkflow),
    /// The existing run was deleted concurrently.
    #[error(transparent)]
    UnknownRun(#[from] UnknownRun),
}

/// No worker offers the workflow.
#[derive(Clone, Debug, thiserror::Error)]
#[error("no workflow named `{0}` is registered here; register it or check the spelling")]
pub struct UnknownWorkflow(pub String);

/// The strict form of start found the id taken.
#[derive(Clone, Debug, thiserror::Error)]
#[error(
    "a run with id `{0}` exists already; choose another id, or start without `strict` to get that run"
)]
pub struct RunExists(pub RunId);

impl CodedError for StartError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Unavailable(error) => error.code(),
            Self::Options(error) => error.code(),
            Self::RunId(_) => ErrorCode::InvalidRunId,
            Self::Payload(error) => error.code(),
            Self::UnknownWorkflow(_) => ErrorCode::UnknownWorkflow,
            Self::Schema(error) => error.code(),
            Self::Exists(_) => ErrorCode::RunExists,
            Self::OtherWorkflow(error) => error.code(),
            Self::UnknownRun(error) => error.code(),
        }
    }
}

/// Why a worker was not accepted.
#[derive(Clone, Debug, thiserror::Error)]
pub enum OfferError {
    /// The engine cannot serve requests now.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
    /// The node executes no runs.
    #[error("this node does not have the role `worker`, so it executes no runs")]
    NoWorkerRole,
}

impl CodedError for OfferError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Unavailable(error) => error.code(),
            Self::NoWorkerRole => ErrorCode::InvalidOptions,
        }
    }
}
