//! What a worker can get instead of an answer.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use everstep_engine::EngineError;
use everstep_model::ErrorCode;
use everstep_protocol::{Problem, problem};

/// A request that is refused.
#[derive(Debug)]
pub(crate) struct Refusal {
    status: StatusCode,
    code: ErrorCode,
    detail: String,
}

impl Refusal {
    fn new(status: StatusCode, code: ErrorCode, detail: impl Into<String>) -> Self {
        Self {
            status,
            code,
            detail: detail.into(),
        }
    }

    /// The body is not what the verb takes.
    pub(super) fn undecodable(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, ErrorCode::Undecodable, detail)
    }

    /// The body is larger than it may be.
    pub(super) fn too_large(limit: usize) -> Self {
        let detail = format!("the body has more than {limit} bytes; send less at once");
        Self::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            ErrorCode::PayloadTooLarge,
            detail,
        )
    }

    /// What is asked for is out of range.
    pub(super) fn invalid(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, ErrorCode::InvalidOptions, detail)
    }

    /// The session is over, or never was.
    pub(super) fn no_session() -> Self {
        let detail = "the session is over: it gave no sign of life, or the server began anew; register again";
        Self::new(StatusCode::NOT_FOUND, ErrorCode::UnknownSession, detail)
    }

    /// A token that was not signed here for this session.
    pub(super) fn bad_token() -> Self {
        let detail = "the activation token was not given to this session";
        Self::new(StatusCode::FORBIDDEN, ErrorCode::Fenced, detail)
    }

    /// A run that this session does not execute any more.
    pub(super) fn lost() -> Self {
        let detail = "the session does not execute this run any more";
        Self::new(StatusCode::CONFLICT, ErrorCode::Fenced, detail)
    }
}

impl From<EngineError> for Refusal {
    fn from(error: EngineError) -> Self {
        Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            error.code(),
            error.to_string(),
        )
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let title = self.status.canonical_reason().unwrap_or("Error");
        let problem = Problem::new(self.status.as_u16(), title, self.detail).coded(self.code);
        let body = serde_json::to_string(&problem).unwrap_or_default();
        let mut response = (self.status, body).into_response();
        let kind = HeaderValue::from_static(problem::MEDIA_TYPE);
        response.headers_mut().insert(header::CONTENT_TYPE, kind);
        response
    }
}
