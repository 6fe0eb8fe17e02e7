//! One error per operation. Each variant holds a part and displays as that part.

use everstep_model::{ErrorCode, InvalidRunId, PayloadError};
use everstep_store::StoreError;

use super::CodedError;
use super::part::{
    EventNotAccepted, InvalidOptions, JournalTooLarge, OtherFork, OtherGeneration, OtherWorkflow,
    RpcNotOpen, RunExists, RunFinished, SchemaMismatch, TooManyEvents, Unavailable,
    UnknownGeneration, UnknownOperation, UnknownRun, UnknownWorkflow, UnreadableJournal,
    WrongState,
};

/// Defines errors whose variants convert from their parts and have the codes of their parts.
macro_rules! operation_errors {
    ($($(#[$meta:meta])* $error:ident { $($variant:ident($part:ty)),* $(,)? })*) => {
        $(
            $(#[$meta])*
            #[derive(Debug, thiserror::Error)]
            #[allow(missing_docs, reason = "each variant holds an error that is documented")]
            pub enum $error {
                $(
                    #[error(transparent)]
                    $variant(#[from] $part),
                )*
            }

            impl CodedError for $error {
                fn code(&self) -> ErrorCode {
                    match self {
                        $(Self::$variant(error) => error.code(),)*
                    }
                }
            }

            impl From<StoreError> for $error {
                fn from(error: StoreError) -> Self {
                    Self::Unavailable(error.into())
                }
            }
        )*
    };
}

operation_errors! {
    /// Why a run could not be read.
    #[derive(Clone)]
    ReadError {
        UnknownRun(UnknownRun),
        UnknownGeneration(UnknownGeneration),
        Unavailable(Unavailable),
    }

    /// Why a run was not started. `UnknownRun` means that the existing run was deleted
    /// concurrently.
    StartError {
        Unavailable(Unavailable),
        Options(InvalidOptions),
        RunId(InvalidRunId),
        Payload(PayloadError),
        UnknownWorkflow(UnknownWorkflow),
        Schema(SchemaMismatch),
        Exists(RunExists),
        OtherWorkflow(OtherWorkflow),
        UnknownRun(UnknownRun),
    }

    /// Why an event was not accepted.
    SendError {
        Unavailable(Unavailable),
        Options(InvalidOptions),
        Payload(PayloadError),
        UnknownRun(UnknownRun),
        OtherGeneration(OtherGeneration),
        Finished(RunFinished),
        NotAccepted(EventNotAccepted),
        Schema(SchemaMismatch),
        TooManyEvents(TooManyEvents),
    }

    /// Why an open rpc was not found.
    #[derive(Clone)]
    OpenRpcError {
        Unavailable(Unavailable),
        UnknownRun(UnknownRun),
        NotOpen(RpcNotOpen),
    }

    /// Why an answer was not accepted.
    AnswerError {
        Unavailable(Unavailable),
        Options(InvalidOptions),
        Payload(PayloadError),
        UnknownRun(UnknownRun),
        OtherGeneration(OtherGeneration),
        NotOpen(RpcNotOpen),
        Schema(SchemaMismatch),
    }

    /// Why a control request had no effect.
    ControlError {
        Unavailable(Unavailable),
        Options(InvalidOptions),
        RunId(InvalidRunId),
        Payload(PayloadError),
        UnknownRun(UnknownRun),
        UnknownOperation(UnknownOperation),
        WrongState(WrongState),
        OtherFork(OtherFork),
        Journal(UnreadableJournal),
        TooLarge(JournalTooLarge),
    }
}

/// Converts the error of a read into the errors of operations that read a run first.
macro_rules! from_read_error {
    ($($error:ident),*) => {
        $(
            impl From<ReadError> for $error {
                fn from(error: ReadError) -> Self {
                    match error {
                        ReadError::UnknownRun(error) => error.into(),
                        ReadError::UnknownGeneration(error) => UnknownRun(error.run).into(),
                        ReadError::Unavailable(error) => error.into(),
                    }
                }
            }
        )*
    };
}

from_read_error!(
    AnswerError,
    ControlError,
    OpenRpcError,
    SendError,
    StartError
);

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
