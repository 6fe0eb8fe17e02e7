//! Error responses: problem details, and headers that tell the client how to proceed.

use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use everstep_engine::CodedError;
use everstep_model::ErrorCode;
use everstep_protocol::{Problem, problem};

use crate::response::no_store;

/// An error response.
#[derive(Debug)]
pub(crate) struct Failure {
    status: StatusCode,
    code: Option<ErrorCode>,
    detail: String,
    headers: Vec<(HeaderName, HeaderValue)>,
    appended: Option<u64>,
}

impl Failure {
    pub(crate) fn new(status: StatusCode, code: ErrorCode, detail: impl Into<String>) -> Self {
        Self {
            code: Some(code),
            ..Self::uncoded(status, detail)
        }
    }

    /// Creates an error without a permanent code.
    pub(crate) fn uncoded(status: StatusCode, detail: impl Into<String>) -> Self {
        Self {
            status,
            code: None,
            detail: detail.into(),
            headers: Vec::new(),
            appended: None,
        }
    }

    /// Rejects a request to an address that has no route.
    pub(crate) fn unknown_route() -> Self {
        let detail = "there is no such route; `/openapi.json` lists all routes";
        Self::new(StatusCode::NOT_FOUND, ErrorCode::NoRoute, detail)
    }

    /// Rejects a request with a method that its route does not support.
    pub(crate) fn unknown_method() -> Self {
        let detail = "the route does not support this method";
        Self::new(StatusCode::METHOD_NOT_ALLOWED, ErrorCode::NoRoute, detail)
    }

    /// Converts an error of the engine.
    pub(crate) fn from_error(status: StatusCode, error: &impl CodedError) -> Self {
        if status.is_server_error() {
            match error.code() {
                // The engine logs such a state of its store once.
                ErrorCode::StoreFull | ErrorCode::StorePoisoned => {
                    tracing::debug!(%error, "request failed");
                }
                _ => tracing::error!(%error, "request failed"),
            }
        }
        let failure = Self::new(status, error.code(), error.to_string());
        match status {
            StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS => {
                failure.with(header::RETRY_AFTER, 1)
            }
            _ => failure,
        }
    }

    /// Rejects a request about a stream that violates the Durable Streams protocol.
    pub(crate) fn bad_request(detail: impl Into<String>) -> Self {
        Self::new(
            StatusCode::BAD_REQUEST,
            ErrorCode::InvalidStreamRequest,
            detail,
        )
    }

    /// Rejects an invalid request of the API.
    pub(crate) fn invalid(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, ErrorCode::InvalidRequest, detail)
    }

    /// Rejects a caller that could not be identified.
    pub(crate) fn unauthenticated(code: ErrorCode, detail: &str) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, code, detail).with(header::WWW_AUTHENTICATE, "Bearer")
    }

    /// Rejects a caller that lacks a right.
    pub(crate) fn forbidden(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, ErrorCode::Forbidden, detail)
    }

    pub(crate) fn conflict(code: ErrorCode, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, code, detail)
    }

    pub(crate) fn with_status(mut self, status: StatusCode) -> Self {
        self.status = status;
        self
    }

    /// Sets a header.
    pub(crate) fn with(mut self, name: HeaderName, value: impl ToString) -> Self {
        if let Ok(value) = HeaderValue::from_str(&value.to_string()) {
            self.headers.push((name, value));
        }
        self
    }

    /// Says how many records of the request took effect nevertheless.
    pub(crate) fn after_appending(mut self, records: usize) -> Self {
        self.appended = Some(records as u64);
        self
    }

    pub(crate) fn is_server_error(&self) -> bool {
        self.status.is_server_error()
    }

    pub(crate) fn into_detail(self) -> String {
        self.detail
    }

    pub(crate) fn is_unauthenticated(&self) -> bool {
        self.status == StatusCode::UNAUTHORIZED
    }

    pub(crate) fn code(&self) -> Option<ErrorCode> {
        self.code
    }

    /// Returns the body of the response. Bulk responses contain several.
    pub(crate) fn problem(&self) -> Problem {
        let title = self.status.canonical_reason().unwrap_or("Error");
        let mut problem = Problem::new(self.status.as_u16(), title, &self.detail);
        problem.appended = self.appended;
        problem.code = self.code.map(|code| code.as_str().to_owned());
        problem
    }
}

/// The code of an error response, as an extension for the log.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RefusalCode(pub(crate) ErrorCode);

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let mut body = serde_json::to_string(&self.problem()).unwrap_or_default();
        body.push('\n');
        let mut response = no_store(self.status, problem::MEDIA_TYPE, body);
        if let Some(code) = self.code {
            response.extensions_mut().insert(RefusalCode(code));
        }
        for (name, value) in self.headers {
            response.headers_mut().insert(name, value);
        }
        response
    }
}
