//! Maps the errors of the engine to HTTP statuses. The matches have no wildcards, so that a new
//! error needs a decision here.

use axum::http::StatusCode;
use everstep_engine::streams::{InvalidPath, StreamError};
use everstep_engine::{
    AnswerError, CodedError, ControlError, OfferError, OpenRpcError, ReadError, SendError,
    StartError, Unavailable,
};
use everstep_model::{ErrorCode, InvalidName, InvalidRunId, PayloadError};

use crate::failure::Failure;
use crate::stream_protocol as names;

/// An error of the engine with an HTTP status.
trait HttpError: CodedError {
    fn status(&self) -> StatusCode;
}

impl<E: HttpError> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::from_error(error.status(), &error)
    }
}

/// Defines the status of each variant of an error.
macro_rules! statuses {
    ($($error:ident { $($variants:pat => $status:expr,)* })*) => {$(
        impl HttpError for $error {
            fn status(&self) -> StatusCode {
                match self { $($variants => $status,)* }
            }
        }
    )*};
}

statuses! {
    Unavailable {
        Self::ShuttingDown | Self::Store(_) => StatusCode::SERVICE_UNAVAILABLE,
    }
    PayloadError {
        Self::TooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
        Self::Unserializable(_) | Self::Undecodable(_) => StatusCode::BAD_REQUEST,
    }
    ReadError {
        Self::Unavailable(error) => error.status(),
        Self::UnknownRun(_) | Self::UnknownGeneration(_) => StatusCode::NOT_FOUND,
    }
    OfferError {
        Self::Unavailable(error) => error.status(),
        Self::NoWorkerRole => StatusCode::BAD_REQUEST,
    }
    StartError {
        Self::Unavailable(error) => error.status(),
        Self::Payload(error) => error.status(),
        Self::Options(_) | Self::RunId(_) => StatusCode::BAD_REQUEST,
        Self::UnknownWorkflow(_) | Self::UnknownRun(_) => StatusCode::NOT_FOUND,
        Self::Exists(_) | Self::OtherWorkflow(_) => StatusCode::CONFLICT,
        Self::Schema(_) => StatusCode::UNPROCESSABLE_ENTITY,
    }
    SendError {
        Self::Unavailable(error) => error.status(),
        Self::Payload(error) => error.status(),
        Self::Options(_) => StatusCode::BAD_REQUEST,
        Self::UnknownRun(_) | Self::NotAccepted(_) => StatusCode::NOT_FOUND,
        Self::OtherGeneration(_) | Self::Finished(_) => StatusCode::CONFLICT,
        Self::Schema(_) => StatusCode::UNPROCESSABLE_ENTITY,
        Self::TooManyEvents(_) => StatusCode::TOO_MANY_REQUESTS,
    }
    AnswerError {
        Self::Unavailable(error) => error.status(),
        Self::Payload(error) => error.status(),
        Self::Options(_) => StatusCode::BAD_REQUEST,
        Self::UnknownRun(_) => StatusCode::NOT_FOUND,
        Self::OtherGeneration(_) | Self::NotOpen(_) => StatusCode::CONFLICT,
        Self::Schema(_) => StatusCode::UNPROCESSABLE_ENTITY,
    }
    OpenRpcError {
        Self::Unavailable(error) => error.status(),
        Self::UnknownRun(_) => StatusCode::NOT_FOUND,
        Self::NotOpen(_) => StatusCode::CONFLICT,
    }
    ControlError {
        Self::Unavailable(error) => error.status(),
        Self::Payload(error) => error.status(),
        Self::Options(_) | Self::RunId(_) => StatusCode::BAD_REQUEST,
        Self::UnknownRun(_) | Self::UnknownOperation(_) => StatusCode::NOT_FOUND,
        Self::WrongState(_) | Self::OtherFork(_) => StatusCode::CONFLICT,
        Self::Journal(_) => StatusCode::INTERNAL_SERVER_ERROR,
        Self::TooLarge(_) => StatusCode::INSUFFICIENT_STORAGE,
    }
}

impl From<InvalidName> for Failure {
    fn from(error: InvalidName) -> Self {
        let detail = error.to_string();
        Self::new(StatusCode::BAD_REQUEST, ErrorCode::InvalidName, detail)
    }
}

impl From<InvalidRunId> for Failure {
    fn from(error: InvalidRunId) -> Self {
        let detail = error.to_string();
        Self::new(StatusCode::BAD_REQUEST, ErrorCode::InvalidRunId, detail)
    }
}

impl From<StreamError> for Failure {
    fn from(error: StreamError) -> Self {
        let failure = |status| Self::from_error(status, &error);
        match error {
            StreamError::Unavailable(error) => error.into(),
            StreamError::Path(InvalidPath::Reserved(_)) => failure(StatusCode::FORBIDDEN),
            StreamError::Path(InvalidPath::Rule(_))
            | StreamError::EpochBeginsAtZero
            | StreamError::InvalidJson(_)
            | StreamError::NoMessage
            | StreamError::UnknownOffset
            | StreamError::ForkPoint(_) => failure(StatusCode::BAD_REQUEST),
            StreamError::Missing | StreamError::SourceMissing => failure(StatusCode::NOT_FOUND),
            StreamError::Gone | StreamError::OldOffset => failure(StatusCode::GONE),
            StreamError::Exists(_)
            | StreamError::SourceGone
            | StreamError::ContentType { .. }
            | StreamError::SeqNotHigher { .. } => failure(StatusCode::CONFLICT),
            StreamError::Closed { next } => failure(StatusCode::CONFLICT)
                .with(names::CLOSED, "true")
                .with(names::NEXT_OFFSET, next),
            StreamError::StaleEpoch { current } => {
                failure(StatusCode::FORBIDDEN).with(names::PRODUCER_EPOCH, current)
            }
            StreamError::SequenceGap { expected, received } => failure(StatusCode::CONFLICT)
                .with(names::PRODUCER_EXPECTED, expected)
                .with(names::PRODUCER_RECEIVED, received),
        }
    }
}
