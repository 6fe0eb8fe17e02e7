//! Errors of requests about streams.

use everstep_model::{ErrorCode, Offset, RecordNumber, StreamNumber};
use everstep_store::{Outcome, Refusal, StoreError};

use super::path::InvalidPath;
use crate::error::{CodedError, Unavailable};

/// Why a request about a stream had no effect. If the store failed, the effect is unknown.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages explain the variants")]
pub enum StreamError {
    #[error(transparent)]
    Path(#[from] InvalidPath),
    /// The stream does not exist or has expired.
    #[error("the stream does not exist")]
    Missing,
    /// The stream was deleted or has expired, and its data is kept for its forks.
    #[error("the stream was deleted")]
    Gone,
    #[error("a different stream exists at this path: {0}")]
    Exists(&'static str),
    #[error("the stream is closed")]
    Closed { next: Offset },
    #[error("the content type of the stream is {stream}, not {given}")]
    ContentType { stream: String, given: String },
    /// Another process has taken over this producer id.
    #[error("the producer is at epoch {current}")]
    StaleEpoch { current: u64 },
    #[error("a new producer epoch begins with sequence 0")]
    EpochBeginsAtZero,
    /// An earlier append of the producer is missing.
    #[error("the producer's next sequence is {expected}, not {received}")]
    SequenceGap { expected: u64, received: u64 },
    #[error("Stream-Seq must be higher than {last:?}")]
    SeqNotHigher { last: String },
    #[error("the body is not JSON: {0}")]
    InvalidJson(String),
    #[error("the body contains no message")]
    NoMessage,
    #[error("the offset does not belong to this stream")]
    UnknownOffset,
    #[error("the offset belongs to an earlier stream at this path; read from the start")]
    OldOffset,
    #[error("the stream to fork does not exist")]
    SourceMissing,
    #[error("the stream to fork was deleted")]
    SourceGone,
    /// The fork point is not in the source.
    #[error("invalid fork point: {0}")]
    ForkPoint(&'static str),
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
}

impl CodedError for StreamError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Path(InvalidPath::Reserved(_)) => ErrorCode::ReservedStream,
            Self::Path(InvalidPath::Rule(_)) | Self::InvalidJson(_) | Self::NoMessage => {
                ErrorCode::InvalidStreamRequest
            }
            Self::Missing | Self::SourceMissing => ErrorCode::StreamMissing,
            Self::Gone | Self::SourceGone => ErrorCode::StreamGone,
            Self::Exists(_) => ErrorCode::StreamExists,
            Self::Closed { .. } => ErrorCode::StreamClosed,
            Self::ContentType { .. } => ErrorCode::StreamType,
            Self::StaleEpoch { .. } => ErrorCode::StaleProducer,
            Self::EpochBeginsAtZero | Self::SequenceGap { .. } => ErrorCode::ProducerGap,
            Self::SeqNotHigher { .. } => ErrorCode::StreamSeq,
            Self::UnknownOffset | Self::ForkPoint(_) => ErrorCode::InvalidOffset,
            Self::OldOffset => ErrorCode::OldOffset,
            Self::Unavailable(error) => error.code(),
        }
    }
}

impl From<StoreError> for StreamError {
    fn from(error: StoreError) -> Self {
        Self::Unavailable(error.into())
    }
}

/// Returns the stream of a commit and its first record, or `None` if the rows have changed since
/// they were read, so that the request must be decided again. Other refusals are errors.
pub(super) fn committed(
    outcome: Outcome,
) -> Result<Option<(StreamNumber, RecordNumber)>, StreamError> {
    let refusal = match outcome {
        Outcome::Committed { stream, first, .. } | Outcome::Duplicate { stream, first, .. } => {
            return Ok(Some((stream, first)));
        }
        Outcome::Refused(refusal) => refusal,
    };
    match refusal {
        Refusal::Exists(_)
        | Refusal::NoStream
        | Refusal::Closed
        | Refusal::RowPresent(_)
        | Refusal::RowAbsent
        | Refusal::RowChanged => Ok(None),
        Refusal::Unreadable(error) => Err(error.into()),
        refusal @ (Refusal::Open
        | Refusal::Superseded
        | Refusal::EndsElsewhere(_)
        | Refusal::Fenced
        | Refusal::OutOfOrder
        | Refusal::NotInbox
        | Refusal::InboxGrew { .. }
        | Refusal::TooManyEvents(_)
        | Refusal::TooEarly(_)) => {
            let detail = refusal.to_string();
            Err(StoreError::Unavailable { detail }.into())
        }
    }
}
