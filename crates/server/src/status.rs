//! Maps the errors of the engine to HTTP statuses. The matches have no wildcards, so that a new error
//! needs a decision here.

use axum::http::StatusCode;
use everstep_engine::streams::{InvalidPath, StreamError};
use everstep_engine::{
    AnswerError, ControlError, OfferError, OpenRpcError, ReadError, SendError, StartError,
    Unavailable,
};
use everstep_model::{ErrorCode, InvalidName, InvalidRunId, PayloadError};

use crate::failure::Failure;
use crate::stream_protocol as names;

impl From<Unavailable> for Failure {
    fn from(error: Unavailable) -> Self {
        Self::from_error(StatusCode::SERVICE_UNAVAILABLE, &error)
    }
}

impl From<PayloadError> for Failure {
    fn from(error: PayloadError) -> Self {
        let status = match error {
            PayloadError::TooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            PayloadError::Unserializable(_) | PayloadError::Undecodable(_) => {
                StatusCode::BAD_REQUEST
            }
        };
        Self::from_error(status, &error)
    }
}

impl From<InvalidName> for Failure {
    fn from(error: InvalidName) -> Self {
        Self::new(StatusCode::BAD_REQUEST, error.to_string()).coded(ErrorCode::InvalidName)
    }
}

impl From<InvalidRunId> for Failure {
    fn from(error: InvalidRunId) -> Self {
        Self::new(StatusCode::BAD_REQUEST, error.to_string()).coded(ErrorCode::InvalidRunId)
    }
}

impl From<ReadError> for Failure {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Unavailable(error) => error.into(),
            ReadError::UnknownRun(_) => Self::from_error(StatusCode::NOT_FOUND, &error),
        }
    }
}

impl From<OfferError> for Failure {
    fn from(error: OfferError) -> Self {
        match error {
            OfferError::Unavailable(error) => error.into(),
            OfferError::NoWorkerRole => Self::from_error(StatusCode::BAD_REQUEST, &error),
        }
    }
}

impl From<StartError> for Failure {
    fn from(error: StartError) -> Self {
        let status = match error {
            StartError::Unavailable(error) => return error.into(),
            StartError::Payload(error) => return error.into(),
            StartError::Options(_) | StartError::RunId(_) => StatusCode::BAD_REQUEST,
            StartError::UnknownWorkflow(_) | StartError::UnknownRun(_) => StatusCode::NOT_FOUND,
            StartError::Exists(_) | StartError::OtherWorkflow(_) => StatusCode::CONFLICT,
            StartError::Schema(_) => StatusCode::UNPROCESSABLE_ENTITY,
        };
        Self::from_error(status, &error)
    }
}

impl From<SendError> for Failure {
    fn from(error: SendError) -> Self {
        let status = match error {
            SendError::Unavailable(error) => return error.into(),
            SendError::Payload(error) => return error.into(),
            SendError::Options(_) => StatusCode::BAD_REQUEST,
            SendError::UnknownRun(_) | SendError::NotAccepted(_) => StatusCode::NOT_FOUND,
            SendError::OtherGeneration(_) | SendError::Finished(_) => StatusCode::CONFLICT,
            SendError::Schema(_) => StatusCode::UNPROCESSABLE_ENTITY,
            SendError::TooManyEvents(_) => StatusCode::TOO_MANY_REQUESTS,
        };
        Self::from_error(status, &error)
    }
}

impl From<AnswerError> for Failure {
    fn from(error: AnswerError) -> Self {
        let status = match error {
            AnswerError::Unavailable(error) => return error.into(),
            AnswerError::Payload(error) => return error.into(),
            AnswerError::Options(_) => StatusCode::BAD_REQUEST,
            AnswerError::UnknownRun(_) => StatusCode::NOT_FOUND,
            AnswerError::OtherGeneration(_) | AnswerError::NotOpen(_) => StatusCode::CONFLICT,
            AnswerError::Schema(_) => StatusCode::UNPROCESSABLE_ENTITY,
        };
        Self::from_error(status, &error)
    }
}

impl From<OpenRpcError> for Failure {
    fn from(error: OpenRpcError) -> Self {
        let status = match error {
            OpenRpcError::Unavailable(error) => return error.into(),
            OpenRpcError::UnknownRun(_) => StatusCode::NOT_FOUND,
            OpenRpcError::NotOpen(_) => StatusCode::CONFLICT,
        };
        Self::from_error(status, &error)
    }
}

impl From<ControlError> for Failure {
    fn from(error: ControlError) -> Self {
        let status = match error {
            ControlError::Unavailable(error) => return error.into(),
            ControlError::Payload(error) => return error.into(),
            ControlError::Options(_) | ControlError::RunId(_) => StatusCode::BAD_REQUEST,
            ControlError::UnknownRun(_) | ControlError::UnknownOperation(_) => {
                StatusCode::NOT_FOUND
            }
            ControlError::WrongState(_) | ControlError::OtherFork(_) => StatusCode::CONFLICT,
            ControlError::Journal(_) => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self::from_error(status, &error)
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
