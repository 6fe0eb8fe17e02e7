//! The errors of requests in detail.
//!
//! The errors at the root of the crate, such as [`StartError`](crate::StartError), have a
//! [`code`](ClientError::code) that is documented in `docs/errors`. The types here carry the details.

pub use everstep_engine::{
    AnswerError as AnswerRejection, CodedError, ControlError as ControlRejection, EventNotAccepted,
    InvalidOptions, OtherFork, OtherGeneration, OtherWorkflow, ReadError as ReadRejection,
    RpcNotOpen, RunExists, RunFinished, SchemaMismatch, SendError as SendRejection,
    StartError as StartRejection, TooManyEvents, Unavailable, UnknownOperation, UnknownRun,
    UnknownWorkflow, UnreadableJournal, WrongState,
};
pub use everstep_model::{InvalidDuration, InvalidName, InvalidRunId, PayloadError};
pub use everstep_store::StoreError;

pub use crate::client::{ClientError, FindError, ServerError};
pub use crate::workflow::RegisterError;
