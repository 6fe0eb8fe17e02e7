//! What a request about a subscription can get instead of an answer: `{"error":{"code":…}}`.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use everstep_engine::streams::StreamError;
use serde_json::{Value, json};

#[derive(Debug)]
pub(super) enum Refused {
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

impl From<StreamError> for Refused {
    fn from(error: StreamError) -> Self {
        Self::Failed(error)
    }
}

impl Refused {
    pub(super) fn invalid(detail: impl Into<String>) -> Self {
        Self::Invalid(detail.into())
    }

    fn parts(&self) -> (StatusCode, &'static str, String) {
        let said = |text: &str| text.to_owned();
        match self {
            Self::Invalid(detail) => (StatusCode::BAD_REQUEST, "INVALID_REQUEST", said(detail)),
            Self::UrlRejected(why) => (StatusCode::BAD_REQUEST, "WEBHOOK_URL_REJECTED", said(why)),
            Self::TokenInvalid => (
                StatusCode::UNAUTHORIZED,
                "TOKEN_INVALID",
                said("the bearer token is not that of this wake"),
            ),
            Self::NotFound => (
                StatusCode::NOT_FOUND,
                "SUBSCRIPTION_NOT_FOUND",
                said("there is no such subscription"),
            ),
            Self::Exists => (
                StatusCode::CONFLICT,
                "SUBSCRIPTION_ALREADY_EXISTS",
                said("the subscription exists and is another one"),
            ),
            Self::Fenced => (
                StatusCode::CONFLICT,
                "FENCED",
                said("another wake has taken the place of this one, or it is done"),
            ),
            Self::Claimed { .. } => (
                StatusCode::CONFLICT,
                "ALREADY_CLAIMED",
                said("another worker holds the subscription"),
            ),
            Self::NothingPending => (
                StatusCode::CONFLICT,
                "NO_PENDING_WORK",
                said("no stream has grown"),
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

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let (status, code, message) = self.parts();
        let mut error = json!({"code": code, "message": message});
        if let (Self::Claimed { holder, generation }, Value::Object(fields)) = (&self, &mut error) {
            fields.insert("current_holder".to_owned(), holder.as_str().into());
            fields.insert("generation".to_owned(), (*generation).into());
        }
        answer(status, &json!({ "error": error }))
    }
}

/// An answer in JSON.
pub(super) fn answer(status: StatusCode, body: &Value) -> Response {
    let mut response = (status, body.to_string()).into_response();
    let headers = response.headers_mut();
    let json = HeaderValue::from_static("application/json");
    headers.insert(header::CONTENT_TYPE, json);
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
