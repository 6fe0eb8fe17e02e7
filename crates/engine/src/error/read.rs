//! Errors of requests that read one run.

use everstep_model::ErrorCode;
use everstep_store::StoreError;

use super::{CodedError, Unavailable, UnknownRun};

/// Why a run could not be read.
#[derive(Clone, Debug, thiserror::Error)]
#[allow(
    missing_docs,
    reason = "each variant holds an error that is documented"
)]
pub enum ReadError {
    #[error(transparent)]
    UnknownRun(#[from] UnknownRun),
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
}

impl CodedError for ReadError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::UnknownRun(error) => error.code(),
            Self::Unavailable(error) => error.code(),
        }
    }
}

impl From<StoreError> for ReadError {
    fn from(error: StoreError) -> Self {
        Self::Unavailable(error.into())
    }
}
