//! Errors of sending events.

use everstep_model::{ErrorCode, PayloadError, RunId, RunStatus};

use super::{CodedError, InvalidOptions, OtherGeneration, SchemaMismatch, Unavailable, UnknownRun};

/// Why an event was not accepted.
#[derive(Debug, thiserror::Error)]
#[allow(
    missing_docs,
    reason = "each variant holds an error that is documented"
)]
pub enum SendError {
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
    Finished(#[from] RunFinished),
    #[error(transparent)]
    NotAccepted(#[from] EventNotAccepted),
    #[error(transparent)]
    Schema(#[from] SchemaMismatch),
    #[error(transparent)]
    TooManyEvents(#[from] TooManyEvents),
}

/// The run has ended.
#[derive(Clone, Debug, thiserror::Error)]
#[error("run `{run}` has ended ({status}) and accepts nothing more")]
#[allow(missing_docs, reason = "the message explains the fields")]
pub struct RunFinished {
    pub run: RunId,
    pub status: RunStatus,
}

/// The workflow does not accept the event.
#[derive(Clone, Debug, thiserror::Error)]
#[error("workflow `{workflow}` does not accept event `{event}`; it accepts: {accepted}")]
#[allow(missing_docs, reason = "the message explains the fields")]
pub struct EventNotAccepted {
    pub workflow: String,
    pub event: String,
    pub accepted: String,
}

/// The run has too many unconsumed events.
#[derive(Clone, Debug, thiserror::Error)]
#[error(
    "run `{run}` has {count} unconsumed events, which is the limit; send again when it has consumed some"
)]
#[allow(missing_docs, reason = "the message explains the fields")]
pub struct TooManyEvents {
    pub run: RunId,
    pub count: u64,
}

impl CodedError for SendError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Unavailable(error) => error.code(),
            Self::Options(error) => error.code(),
            Self::Payload(error) => error.code(),
            Self::UnknownRun(error) => error.code(),
            Self::OtherGeneration(error) => error.code(),
            Self::Finished(_) => ErrorCode::RunFinished,
            Self::NotAccepted(_) => ErrorCode::EventNotAccepted,
            Self::Schema(error) => error.code(),
            Self::TooManyEvents(_) => ErrorCode::TooManyEvents,
        }
    }
}
