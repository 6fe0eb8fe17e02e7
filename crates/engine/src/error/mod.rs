//! Errors of requests: one enum per operation, made of shared parts.
//!
//! A request that returns an error had no effect, except that the effect is unknown if the store
//! failed.

mod answer;
mod control;
mod read;
mod send;
mod shared;
mod start;

use everstep_model::{ErrorCode, Failure, PayloadError};
use everstep_store::{Outcome, Refusal, StoreError};

pub use answer::{AnswerError, OpenRpcError, RpcNotOpen};
pub use control::{ControlError, OtherFork, UnknownOperation, WrongState};
pub use read::ReadError;
pub use send::{EventNotAccepted, RunFinished, SendError, TooManyEvents};
pub use shared::{
    InvalidOptions, OtherGeneration, OtherWorkflow, SchemaMismatch, Unavailable, UnknownRun,
    UnreadableJournal,
};
pub use start::{OfferError, RunExists, StartError, UnknownWorkflow};

/// An error with a stable code.
pub trait CodedError: std::error::Error {
    /// The stable code of the error.
    fn code(&self) -> ErrorCode;

    /// The error as an error object.
    fn failure(&self) -> Failure {
        Failure::new(self.code(), self.to_string())
    }
}

impl CodedError for PayloadError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::TooLarge { .. } => ErrorCode::PayloadTooLarge,
            Self::Unserializable(_) => ErrorCode::Unserializable,
            Self::Undecodable(_) => ErrorCode::Undecodable,
        }
    }
}

/// Converts the errors of the store and of reads into errors of operations.
macro_rules! from_shared {
    ($($error:ty),*) => {
        $(
            impl From<StoreError> for $error {
                fn from(error: StoreError) -> Self {
                    Self::Unavailable(error.into())
                }
            }

            impl From<ReadError> for $error {
                fn from(error: ReadError) -> Self {
                    match error {
                        ReadError::UnknownRun(error) => error.into(),
                        ReadError::Unavailable(error) => error.into(),
                    }
                }
            }
        )*
    };
}

from_shared!(
    AnswerError,
    ControlError,
    OpenRpcError,
    SendError,
    StartError
);

/// Turns the refusal of an unreadable run into an error. Callers judge all other outcomes.
pub(crate) fn readable(outcome: Outcome) -> Result<Outcome, StoreError> {
    match outcome {
        Outcome::Refused(Refusal::Unreadable(error)) => Err(error),
        outcome => Ok(outcome),
    }
}
