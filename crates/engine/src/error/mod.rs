//! Errors of requests: one enum per operation (`operation.rs`), made of shared parts (`part.rs`).
//!
//! A request that returns an error had no effect, except that the effect is unknown if the store
//! failed.

mod operation;
mod part;

use everstep_model::{ErrorCode, Failure};
use everstep_store::{Outcome, Refusal, StoreError};

pub use operation::{
    AnswerError, ControlError, OfferError, OpenRpcError, ReadError, SendError, StartError,
};
pub use part::{
    EventNotAccepted, InvalidOptions, JournalTooLarge, OtherFork, OtherGeneration, OtherWorkflow,
    RpcNotOpen, RunExists, RunFinished, SchemaMismatch, TooManyEvents, Unavailable,
    UnknownGeneration, UnknownOperation, UnknownRun, UnknownWorkflow, UnreadableJournal,
    WrongState,
};

/// An error with a stable code.
pub trait CodedError: std::error::Error {
    /// Returns the stable code of the error.
    fn code(&self) -> ErrorCode;

    /// Returns the error as an error object.
    fn failure(&self) -> Failure {
        Failure::new(self.code(), self.to_string())
    }
}

/// Turns the refusal of an unreadable run into an error. Callers judge all other outcomes.
pub(crate) fn readable(outcome: Outcome) -> Result<Outcome, StoreError> {
    match outcome {
        Outcome::Refused(Refusal::Unreadable(error)) => Err(error),
        outcome => Ok(outcome),
    }
}
