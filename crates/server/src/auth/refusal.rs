//! Why a caller is rejected, and the response.

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use everstep_engine::Unavailable;
use everstep_engine::streams::StreamError;
use everstep_model::ErrorCode;

use crate::failure::Failure;

#[derive(Debug)]
pub(crate) enum Refusal {
    /// The caller could not be identified.
    Unauthenticated(&'static str),
    /// The run token has expired.
    Expired,
    /// The caller lacks a right.
    Forbidden(String),
    /// The store could not be read.
    Failed(StreamError),
}

impl Refusal {
    pub(crate) fn forbidden(why: impl Into<String>) -> Self {
        Self::Forbidden(why.into())
    }
}

impl From<Unavailable> for Refusal {
    fn from(error: Unavailable) -> Self {
        Self::Failed(error.into())
    }
}

impl From<StreamError> for Refusal {
    fn from(error: StreamError) -> Self {
        Self::Failed(error)
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Unauthenticated(why) => Self::new(StatusCode::UNAUTHORIZED, why)
                .coded(ErrorCode::Unauthenticated)
                .with(header::WWW_AUTHENTICATE, "Bearer"),
            Refusal::Expired => {
                let detail = "the run token has expired; request a new one";
                Self::new(StatusCode::UNAUTHORIZED, detail)
                    .coded(ErrorCode::TokenExpired)
                    .with(header::WWW_AUTHENTICATE, "Bearer")
            }
            Refusal::Forbidden(why) => {
                Self::new(StatusCode::FORBIDDEN, why).coded(ErrorCode::Forbidden)
            }
            Refusal::Failed(error) => error.into(),
        }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        Failure::from(self).into_response()
    }
}
