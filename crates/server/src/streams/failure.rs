//! What goes wrong, as answers: problem details, and the headers that tell a client what to do next.

use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use everstep_engine::EngineError;
use everstep_engine::streams::{InvalidPath, StreamError};
use everstep_model::ErrorCode;
use everstep_protocol::{Problem, problem};

use super::headers as names;

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

    pub(crate) fn bad_request(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, detail).coded(ErrorCode::InvalidStreamRequest)
    }

    /// The same with its permanent word.
    pub(crate) fn coded(mut self, code: ErrorCode) -> Self {
        self.code = Some(code);
        self
    }

    /// The same with a header more.
    pub(crate) fn with(mut self, name: HeaderName, value: impl ToString) -> Self {
        if let Ok(value) = HeaderValue::from_str(&value.to_string()) {
            self.headers.push((name, value));
        }
        self
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let title = self.status.canonical_reason().unwrap_or("Error");
        let mut problem = Problem::new(self.status.as_u16(), title, self.detail);
        problem.code = self.code.map(|code| code.as_str().to_owned());
        let body = serde_json::to_string(&problem).unwrap_or_default();
        let mut response = (self.status, body).into_response();
        let headers = response.headers_mut();
        let kind = HeaderValue::from_static(problem::MEDIA_TYPE);
        headers.insert(header::CONTENT_TYPE, kind);
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        headers.extend(self.headers);
        response
    }
}

impl From<StreamError> for Failure {
    fn from(error: StreamError) -> Self {
        let failure = |status| Self::new(status, error.to_string()).coded(error.code());
        match &error {
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
            StreamError::Engine(EngineError::ShuttingDown | EngineError::Store(_)) => {
                tracing::error!(%error, "a request about a stream failed");
                failure(StatusCode::SERVICE_UNAVAILABLE).with(header::RETRY_AFTER, 1)
            }
            StreamError::Engine(_) => failure(StatusCode::INTERNAL_SERVER_ERROR),
        }
    }
}
