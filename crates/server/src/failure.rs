//! Error responses: problem details, and headers that tell the client how to proceed.

use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use everstep_engine::CodedError;
use everstep_model::ErrorCode;
use everstep_protocol::{Problem, problem};

/// An error response.
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

    /// The response to an error of the engine.
    pub(crate) fn from_error(status: StatusCode, error: &impl CodedError) -> Self {
        if status.is_server_error() {
            tracing::error!(%error, "request failed");
        }
        let failure = Self::new(status, error.to_string()).coded(error.code());
        match status {
            StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS => {
                failure.with(header::RETRY_AFTER, 1)
            }
            _ => failure,
        }
    }

    /// A request about a stream that violates the Durable Streams protocol.
    pub(crate) fn bad_request(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, detail).coded(ErrorCode::InvalidStreamRequest)
    }

    /// An invalid request of the API.
    pub(crate) fn invalid(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, detail).coded(ErrorCode::InvalidRequest)
    }

    /// Sets the stable error code.
    pub(crate) fn coded(mut self, code: ErrorCode) -> Self {
        self.code = Some(code);
        self
    }

    pub(crate) fn with_status(mut self, status: StatusCode) -> Self {
        self.status = status;
        self
    }

    /// Adds a header.
    pub(crate) fn with(mut self, name: HeaderName, value: impl ToString) -> Self {
        if let Ok(value) = HeaderValue::from_str(&value.to_string()) {
            self.headers.push((name, value));
        }
        self
    }

    /// The body of the response. Bulk responses contain several.
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
