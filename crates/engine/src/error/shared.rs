//! Errors that several operations share.

use everstep_model::{ErrorCode, Generation, Name, RunId};
use everstep_store::StoreError;

use super::CodedError;

/// The engine cannot serve requests now.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Unavailable {
    /// The engine is shutting down.
    #[error("the engine is shutting down and accepts no requests")]
    ShuttingDown,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl CodedError for Unavailable {
    fn code(&self) -> ErrorCode {
        match self {
            Self::ShuttingDown => ErrorCode::ShuttingDown,
            Self::Store(error) => error.code(),
        }
    }
}

/// The run does not exist.
#[derive(Clone, Debug, thiserror::Error)]
#[error("no run with id `{0}` exists")]
pub struct UnknownRun(pub RunId);

impl CodedError for UnknownRun {
    fn code(&self) -> ErrorCode {
        ErrorCode::UnknownRun
    }
}

/// Options contradict each other or are out of range.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{0}")]
pub struct InvalidOptions(pub String);

impl CodedError for InvalidOptions {
    fn code(&self) -> ErrorCode {
        ErrorCode::InvalidOptions
    }
}

/// The request names a generation of the run that is not the current one.
#[derive(Clone, Debug, thiserror::Error)]
#[error(
    "the request is for generation {meant} of run `{run}`, which has ended; the current generation is {latest}"
)]
#[allow(missing_docs, reason = "the message explains the fields")]
pub struct OtherGeneration {
    pub run: RunId,
    pub meant: Generation,
    pub latest: Generation,
}

impl CodedError for OtherGeneration {
    fn code(&self) -> ErrorCode {
        ErrorCode::RunFinished
    }
}

/// A payload does not match its schema.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{what} does not match its schema: {detail}")]
#[allow(missing_docs, reason = "the message explains the fields")]
pub struct SchemaMismatch {
    pub what: String,
    pub detail: String,
}

impl CodedError for SchemaMismatch {
    fn code(&self) -> ErrorCode {
        ErrorCode::SchemaMismatch
    }
}

/// The id belongs to a run of another workflow.
#[derive(Clone, Debug, thiserror::Error)]
#[error("run `{run}` is a run of workflow `{workflow}`, not of `{asked}`; choose another id")]
#[allow(missing_docs, reason = "the message explains the fields")]
pub struct OtherWorkflow {
    pub run: RunId,
    pub workflow: Name,
    pub asked: Name,
}

impl CodedError for OtherWorkflow {
    fn code(&self) -> ErrorCode {
        ErrorCode::RunExists
    }
}

/// The journal of a run is damaged.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the journal of run `{run}` cannot be read: {detail}")]
#[allow(missing_docs, reason = "the message explains the fields")]
pub struct UnreadableJournal {
    pub run: RunId,
    pub detail: String,
}

impl CodedError for UnreadableJournal {
    fn code(&self) -> ErrorCode {
        ErrorCode::StoreCorrupt
    }
}
