//! Errors of requests about subscriptions, as `{"error":{"code":…}}`.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use everstep_engine::streams::StreamError;
use serde_json::{Value, json};

#[derive(Debug)]
pub(super) enum SubscriptionError {
    Invalid(String),
    UrlRejected(&'static str),
    TokenInvalid,
    NotFound,
    Exists,
    Fenced,
    Claimed { holder: String, generation: u64 },
    NothingPending,
    InvalidOffset(String),
    Failed(StreamError),
}

impl From<StreamError> for SubscriptionError {
    fn from(error: StreamError) -> Self {
        Self::Failed(error)
    }
}

impl SubscriptionError {
    pub(super) fn invalid(detail: impl Into<String>) -> Self {
        Self::Invalid(detail.into())
    }

    fn parts(&self) -> (StatusCode, &'static str, String) {
        let text = |text: &str| text.to_owned();
        match self {
            Self::Invalid(detail) => (StatusCode::BAD_REQUEST, "INVALID_REQUEST", text(detail)),
            Self::UrlRejected(why) => (StatusCode::BAD_REQUEST, "WEBHOOK_URL_REJECTED", text(why)),
            Self::TokenInvalid => (
                StatusCode::UNAUTHORIZED,
                "TOKEN_INVALID",
                text("the bearer token does not belong to this wake"),
            ),
            Self::NotFound => (
                StatusCode::NOT_FOUND,
                "SUBSCRIPTION_NOT_FOUND",
                text("there is no such subscription"),
            ),
            Self::Exists => (
                StatusCode::CONFLICT,
                "SUBSCRIPTION_ALREADY_EXISTS",
                text("a subscription with this id and other settings exists"),
            ),
            Self::Fenced => (
                StatusCode::CONFLICT,
                "FENCED",
                text("the wake has ended or was superseded by another"),
            ),
            Self::Claimed { .. } => (
                StatusCode::CONFLICT,
                "ALREADY_CLAIMED",
                text("another worker holds the subscription"),
            ),
            Self::NothingPending => (
                StatusCode::CONFLICT,
                "NO_PENDING_WORK",
                text("no stream has unacknowledged messages"),
            ),
            Self::InvalidOffset(path) => (
                StatusCode::CONFLICT,
                "INVALID_OFFSET",
                format!("`{path}` has no such offset"),
            ),
            Self::Failed(error) => (
                StatusCode::SERVICE_UNAVAILABLE,
                "UNAVAILABLE",
                error.to_string(),
            ),
        }
    }
}

impl IntoResponse for SubscriptionError {
    fn into_response(self) -> Response {
        let (status, code, message) = self.parts();
        let mut error = json!({"code": code, "message": message});
        if let (Self::Claimed { holder, generation }, Value::Object(fields)) = (&self, &mut error) {
            fields.insert("current_holder".to_owned(), holder.as_str().into());
            fields.insert("generation".to_owned(), (*generation).into());
        }
        respond(status, &json!({ "error": error }))
    }
}

/// A JSON response.
pub(super) fn respond(status: StatusCode, body: &Value) -> Response {
    let mut response = (status, body.to_string()).into_response();
    let headers = response.headers_mut();
    let json = HeaderValue::from_static("application/json");
    headers.insert(header::CONTENT_TYPE, json);
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
