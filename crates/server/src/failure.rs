//! What goes wrong, as answers: problem details, and the headers that tell a client what to do next. Which error has
//! which status is said here and nowhere else.

use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use everstep_engine::EngineError;
use everstep_engine::streams::{InvalidPath, StreamError};
use everstep_model::{ErrorCode, PayloadError};
use everstep_protocol::{Problem, problem};

use crate::stream_protocol as names;

/// An answer that is a refusal.
#[derive(Debug)]
pub(crate) struct Failure {
    status: StatusCode,
    code: Option<ErrorCode>,
    detail: String,
    headers: Vec<(HeaderName, HeaderValue)>,
}

impl Failure {
    pub(crate) fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        Self {
            status,
            code: None,
            detail: detail.into(),
            headers: Vec::new(),
        }
    }

    /// A request about a stream that breaks a rule of the protocol.
    pub(crate) fn bad_request(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, detail).coded(ErrorCode::InvalidStreamRequest)
    }

    /// A request of the API that is not what it should be.
    pub(crate) fn invalid(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, detail).coded(ErrorCode::InvalidRequest)
    }

    /// The same with its permanent word.
    pub(crate) fn coded(mut self, code: ErrorCode) -> Self {
        self.code = Some(code);
        self
    }

    /// The same with another status.
    pub(crate) fn with_status(mut self, status: StatusCode) -> Self {
        self.status = status;
        self
    }

    /// The same with a header more.
    pub(crate) fn with(mut self, name: HeaderName, value: impl ToString) -> Self {
        if let Ok(value) = HeaderValue::from_str(&value.to_string()) {
            self.headers.push((name, value));
        }
        self
    }

    /// As data, for answers that tell of many.
    pub(crate) fn problem(&self) -> Problem {
        let title = self.status.canonical_reason().unwrap_or("Error");
        let mut problem = Problem::new(self.status.as_u16(), title, &self.detail);
        problem.code = self.code.map(|code| code.as_str().to_owned());
        problem
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let body = serde_json::to_string(&self.problem()).unwrap_or_default();
        let mut response = (self.status, body).into_response();
        let headers = response.headers_mut();
        let kind = HeaderValue::from_static(problem::MEDIA_TYPE);
        headers.insert(header::CONTENT_TYPE, kind);
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        headers.extend(self.headers);
        response
    }
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        let status = status_of(&error);
        if status.is_server_error() {
            tracing::error!(%error, "a request failed");
        }
        let failure = Self::new(status, error.to_string()).coded(error.code());
        match status {
            StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS => {
                failure.with(header::RETRY_AFTER, 1)
            }
            _ => failure,
        }
    }
}

fn status_of(error: &EngineError) -> StatusCode {
    match error {
        EngineError::Name(_)
        | EngineError::RunId(_)
        | EngineError::Options(_)
        | EngineError::Payload(PayloadError::Unserializable(_) | PayloadError::Undecodable(_)) => {
            StatusCode::BAD_REQUEST
        }
        EngineError::Payload(PayloadError::TooLarge { .. }) => StatusCode::PAYLOAD_TOO_LARGE,
        EngineError::UnknownWorkflow(_)
        | EngineError::UnknownRun(_)
        | EngineError::UnknownOperation { .. }
        | EngineError::EventNotAccepted { .. } => StatusCode::NOT_FOUND,
        EngineError::RunExists(_)
        | EngineError::OtherFork(_)
        | EngineError::OtherWorkflow { .. }
        | EngineError::OtherGeneration { .. }
        | EngineError::RunFinished { .. }
        | EngineError::WrongState { .. }
        | EngineError::RpcNotOpen { .. } => StatusCode::CONFLICT,
        EngineError::TooManyEvents { .. } => StatusCode::TOO_MANY_REQUESTS,
        EngineError::Schema { .. } => StatusCode::UNPROCESSABLE_ENTITY,
        EngineError::ShuttingDown | EngineError::Store(_) => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

impl From<StreamError> for Failure {
    fn from(error: StreamError) -> Self {
        let failure = |status| Self::new(status, error.to_string()).coded(error.code());
        match error {
            StreamError::Engine(error) => error.into(),
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
