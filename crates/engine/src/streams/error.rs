//! What a request about a stream can get instead of an answer.

use everstep_model::{ErrorCode, Offset};
use everstep_store::{Refusal, StoreError};

use super::path::InvalidPath;
use crate::error::{CodedError, Unavailable};

/// Why a request about a stream had no effect, or an unknown one where the store failed.
#[derive(Debug, thiserror::Error)]
pub enum StreamError {
    /// The path breaks the rules.
    #[error(transparent)]
    Path(#[from] InvalidPath),
    /// There is no such stream, or it has expired.
    #[error("the stream does not exist")]
    Missing,
    /// It was deleted or has expired, and is kept for its forks alone.
    #[error("the stream was deleted")]
    Gone,
    /// A stream of that path exists and is another one.
    #[error("the stream exists already and is another one: {0}")]
    Exists(&'static str),
    /// The stream is closed.
    #[error("the stream is closed")]
    Closed {
        /// Where it ends.
        next: Offset,
    },
    /// The messages are of another type than the stream's.
    #[error("the stream holds {stream}, not {given}")]
    ContentType {
        /// The type of the stream.
        stream: String,
        /// The type that was given.
        given: String,
    },
    /// Another process goes on as this producer.
    #[error("the producer is at epoch {current}")]
    StaleEpoch {
        /// Its latest epoch.
        current: u64,
    },
    /// A new epoch does not begin with 0.
    #[error("a new producer epoch begins with sequence 0")]
    EpochBeginsAtZero,
    /// A producer's append is missing.
    #[error("the producer's next sequence is {expected}, not {received}")]
    SequenceGap {
        /// What comes next.
        expected: u64,
        /// What came.
        received: u64,
    },
    /// `Stream-Seq` is not higher than the last one.
    #[error("Stream-Seq must be higher than {last:?}")]
    SeqNotHigher {
        /// The last one.
        last: String,
    },
    /// The messages are not JSON.
    #[error("the body is not JSON: {0}")]
    InvalidJson(String),
    /// An append without a message.
    #[error("the body holds no message")]
    NoMessage,
    /// An offset that this stream never gave.
    #[error("the offset is none of this stream")]
    UnknownOffset,
    /// An offset of an earlier stream of the same path.
    #[error("the offset is of an earlier life of the stream; read it again from its start")]
    OldOffset,
    /// The source of a fork does not exist.
    #[error("the stream to fork does not exist")]
    SourceMissing,
    /// The source of a fork was deleted.
    #[error("the stream to fork was deleted")]
    SourceGone,
    /// The fork point is not in the source.
    #[error("the stream to fork has no such place: {0}")]
    ForkPoint(&'static str),
    /// The engine cannot serve requests now.
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

/// Whether a refusal says that what was read has changed, so that it is decided again; other refusals are errors.
pub(super) fn decide_again(refusal: Refusal) -> Result<(), StreamError> {
    match refusal {
        Refusal::Exists(_)
        | Refusal::NoStream
        | Refusal::Closed
        | Refusal::RowPresent(_)
        | Refusal::RowAbsent
        | Refusal::RowChanged => Ok(()),
        Refusal::Unreadable(error) => Err(error.into()),
        refusal @ (Refusal::Open
        | Refusal::Superseded
        | Refusal::EndsElsewhere(_)
        | Refusal::Fenced
        | Refusal::OutOfOrder
        | Refusal::NotInbox
        | Refusal::InboxGrew { .. }
        | Refusal::TooManyEvents(_)
        | Refusal::TooEarly(_)) => Err(StoreError::Unavailable {
            detail: refusal.to_string(),
        }
        .into()),
    }
}
