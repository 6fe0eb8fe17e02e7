//! Errors of answering rpcs.

use everstep_model::{ErrorCode, PayloadError, RunId};

use super::{CodedError, InvalidOptions, OtherGeneration, SchemaMismatch, Unavailable, UnknownRun};

/// Why an answer was not accepted.
#[derive(Debug, thiserror::Error)]
#[allow(
    missing_docs,
    reason = "each variant holds an error that is documented"
)]
pub enum AnswerError {
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
    #[error(transparent)]
    Options(#[from] InvalidOptions),
    #[error(transparent)]
    Payload(#[from] PayloadError),
    #[error(transparent)]
    UnknownRun(#[from] UnknownRun),
    #[error(transparent)]
    OtherGeneration(#[from] OtherGeneration),
    #[error(transparent)]
    NotOpen(#[from] RpcNotOpen),
    #[error(transparent)]
    Schema(#[from] SchemaMismatch),
}

/// Why an open rpc was not found.
#[derive(Clone, Debug, thiserror::Error)]
#[allow(
    missing_docs,
    reason = "each variant holds an error that is documented"
)]
pub enum OpenRpcError {
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
    #[error(transparent)]
    UnknownRun(#[from] UnknownRun),
    #[error(transparent)]
    NotOpen(#[from] RpcNotOpen),
}

/// The rpc cannot be answered.
#[derive(Clone, Debug, thiserror::Error)]
#[error("rpc `{rpc}` of run `{run}` is not open: it was answered, has timed out, or never existed")]
#[allow(missing_docs, reason = "the message explains the fields")]
pub struct RpcNotOpen {
    pub run: RunId,
    pub rpc: String,
}

impl CodedError for RpcNotOpen {
    fn code(&self) -> ErrorCode {
        ErrorCode::RpcNotOpen
    }
}

impl CodedError for AnswerError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Unavailable(error) => error.code(),
            Self::Options(error) => error.code(),
            Self::Payload(error) => error.code(),
            Self::UnknownRun(error) => error.code(),
            Self::OtherGeneration(error) => error.code(),
            Self::NotOpen(error) => error.code(),
            Self::Schema(error) => error.code(),
        }
    }
}

impl CodedError for OpenRpcError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Unavailable(error) => error.code(),
            Self::UnknownRun(error) => error.code(),
            Self::NotOpen(error) => error.code(),
        }
    }
}
