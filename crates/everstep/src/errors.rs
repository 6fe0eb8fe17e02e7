//! The errors of requests.
//!
//! Each operation has its own error, such as [`StartError`](crate::StartError), with a [`code`](ClientError::code) that is
//! documented in `docs/errors`. The other types here carry the details.

pub use everstep_engine::{
    AnswerError as AnswerRejection, CodedError, ControlError as ControlRejection, EventNotAccepted,
    InvalidOptions, OtherFork, OtherGeneration, OtherWorkflow, ReadError as ReadRejection,
    RpcNotOpen, RunExists, RunFinished, SchemaMismatch, SendError as SendRejection,
    StartError as StartRejection, TooManyEvents, Unavailable, UnknownOperation, UnknownRun,
    UnknownWorkflow, UnreadableJournal, WrongState,
};
pub use everstep_model::{InvalidDuration, InvalidName, InvalidRunId, PayloadError};
pub use everstep_store::StoreError;

pub use crate::client::{
    AnswerError, ClientError, ControlError, FindError, ReadError, RequestError, SendError,
    ServerError, StartError, WaitError,
};
pub use crate::engine::OpenError;
#[cfg(feature = "remote")]
pub use crate::remote::ConnectError;
pub use crate::workflow::RegisterError;
