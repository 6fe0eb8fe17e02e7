//! The errors of requests.
//!
//! Each operation has its own error, such as [`StartError`], with a [`code`](ClientError::code)
//! that is documented in `docs/errors`. The other types here carry the details.

pub use everstep_engine::{
    AnswerError as AnswerRejection, CodedError, ControlError as ControlRejection, EventNotAccepted,
    InvalidOptions, JournalTooLarge, OtherFork, OtherGeneration, OtherWorkflow,
    ReadError as ReadRejection, RpcNotOpen, RunExists, RunFinished, SchemaMismatch,
    SendError as SendRejection, StartError as StartRejection, TooManyEvents, Unavailable,
    UnknownGeneration, UnknownOperation, UnknownRun, UnknownWorkflow, UnreadableJournal,
    WrongState,
};
use everstep_model::ErrorCode;
pub use everstep_model::{InvalidDuration, InvalidName, InvalidRunId, PayloadError};
pub use everstep_store::StoreError;

pub use crate::client::{
    AnswerError, ClientError, ControlError, FindError, NextRpcError, ReadError, RequestError,
    SendError, ServerError, StartError, WaitError,
};
pub use crate::engine::OpenError;
#[cfg(feature = "remote")]
pub use crate::remote::ConnectError;
pub use crate::workflow::RegisterError;

use crate::client::code_of_request;

/// Returns the stable code of any error of this crate that has one, or `None` for other errors.
///
/// Use it where a program reports all of its errors in one place, as `dyn Error`.
#[must_use]
pub fn code_of(error: &(dyn std::error::Error + 'static)) -> Option<ErrorCode> {
    code_of_request(error).or_else(|| code_of_coded(error))
}

/// The errors with a code, except those of requests: `code_of_request` covers them.
macro_rules! coded {
    ($($(#[$cfg:meta])* $name:ident,)*) => {
        fn code_of_coded(error: &(dyn std::error::Error + 'static)) -> Option<ErrorCode> {
            $(
                $(#[$cfg])*
                if let Some(error) = error.downcast_ref::<$name>() {
                    return Some(error.code());
                }
            )*
            None
        }

        #[cfg(test)]
        const CODED: &[&str] = &[$(stringify!($name)),*];
    };
}

coded! {
    AnswerRejection,
    #[cfg(feature = "remote")]
    ConnectError,
    ControlRejection,
    EventNotAccepted,
    FindError,
    InvalidName,
    InvalidOptions,
    InvalidRunId,
    JournalTooLarge,
    NextRpcError,
    OpenError,
    OtherFork,
    OtherGeneration,
    OtherWorkflow,
    PayloadError,
    ReadRejection,
    RegisterError,
    RequestError,
    RpcNotOpen,
    RunExists,
    RunFinished,
    SchemaMismatch,
    SendRejection,
    ServerError,
    StartRejection,
    StoreError,
    TooManyEvents,
    Unavailable,
    UnknownGeneration,
    UnknownOperation,
    UnknownRun,
    UnknownWorkflow,
    UnreadableJournal,
    WaitError,
    WrongState,
}

#[cfg(test)]
mod tests;
