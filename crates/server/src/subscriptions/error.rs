//! Errors of requests about subscriptions, as `{"error":{"code":…}}`.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use everstep_engine::streams::StreamError;
use serde_json::{Value, json};

use crate::json::respond;

#[derive(Debug, thiserror::Error)]
pub(super) enum SubscriptionError {
    #[error("{0}")]
    Invalid(String),
    #[error("{0}")]
    UrlRejected(&'static str),
    #[error("the bearer token does not belong to this wake")]
    TokenInvalid,
    #[error("the key does not reach all streams of the subscription")]
    Unreached,
    #[error("the subscription does not exist")]
    NotFound,
    #[error("a subscription with this id and other settings exists")]
    Exists,
    #[error("the wake has ended or was superseded by another")]
    Fenced,
    #[error("another worker holds the subscription")]
    Claimed { holder: String, generation: u64 },
    #[error("no stream has unacknowledged messages")]
    NothingPending,
    #[error("`{0}` has no such offset")]
    InvalidOffset(String),
    #[error(transparent)]
    Failed(#[from] StreamError),
}

impl SubscriptionError {
    pub(super) fn invalid(detail: impl Into<String>) -> Self {
        Self::Invalid(detail.into())
    }

    fn status_and_code(&self) -> (StatusCode, &'static str) {
        match self {
            Self::Invalid(_) => (StatusCode::BAD_REQUEST, "INVALID_REQUEST"),
            Self::UrlRejected(_) => (StatusCode::BAD_REQUEST, "WEBHOOK_URL_REJECTED"),
            Self::TokenInvalid => (StatusCode::UNAUTHORIZED, "TOKEN_INVALID"),
            Self::Unreached => (StatusCode::FORBIDDEN, "FORBIDDEN"),
            Self::NotFound => (StatusCode::NOT_FOUND, "SUBSCRIPTION_NOT_FOUND"),
            Self::Exists => (StatusCode::CONFLICT, "SUBSCRIPTION_ALREADY_EXISTS"),
            Self::Fenced => (StatusCode::CONFLICT, "FENCED"),
            Self::Claimed { .. } => (StatusCode::CONFLICT, "ALREADY_CLAIMED"),
            Self::NothingPending => (StatusCode::CONFLICT, "NO_PENDING_WORK"),
            Self::InvalidOffset(_) => (StatusCode::CONFLICT, "INVALID_OFFSET"),
            Self::Failed(_) => (StatusCode::SERVICE_UNAVAILABLE, "UNAVAILABLE"),
        }
    }
}

impl IntoResponse for SubscriptionError {
    fn into_response(self) -> Response {
        let (status, code) = self.status_and_code();
        let mut error = json!({"code": code, "message": self.to_string()});
        if let (Self::Claimed { holder, generation }, Value::Object(fields)) = (&self, &mut error) {
            fields.insert("current_holder".to_owned(), holder.as_str().into());
            fields.insert("generation".to_owned(), (*generation).into());
        }
        respond(status, &json!({ "error": error }))
    }
}
