//! Reading requests and writing answers: JSON in, JSON out, and what is refused.

use axum::Json;
use axum::body::{Body, to_bytes};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use everstep_model::ErrorCode;
use futures_util::future::{Either, select};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::failure::Failure;
use crate::router::Shared;

/// The whole body as JSON.
pub(super) async fn json<T: DeserializeOwned>(shared: &Shared, body: Body) -> Result<T, Failure> {
    let late = shared.workers.sleep(shared.options.body_timeout);
    let most = shared.options.worker_body_bytes_max;
    let whole = std::pin::pin!(to_bytes(body, most));
    let bytes = match select(whole, late).await {
        Either::Left((Ok(bytes), _)) => bytes,
        Either::Left((Err(_), _)) => {
            let detail = format!("the body has more than {most} bytes");
            let failure = Failure::new(StatusCode::PAYLOAD_TOO_LARGE, detail);
            return Err(failure.coded(ErrorCode::PayloadTooLarge));
        }
        Either::Right(_) => {
            let detail = "the body did not arrive in time";
            return Err(Failure::invalid(detail).with_status(StatusCode::REQUEST_TIMEOUT));
        }
    };
    serde_json::from_slice(&bytes)
        .map_err(|error| Failure::invalid(format!("the body does not fit this request: {error}")))
}

/// An answer, or why there is none.
pub(super) fn answered<T: Serialize>(answer: Result<T, Failure>) -> Response {
    match answer {
        Ok(answer) => Json(answer).into_response(),
        Err(failure) => failure.into_response(),
    }
}

/// The session is over, or never was.
pub(super) fn no_session() -> Failure {
    let detail =
        "the session is over: it gave no sign of life, or the server began anew; register again";
    Failure::new(StatusCode::NOT_FOUND, detail).coded(ErrorCode::UnknownSession)
}

/// A token that was not signed here for this session.
pub(super) fn bad_token() -> Failure {
    let detail = "the activation token was not given to this session";
    Failure::new(StatusCode::FORBIDDEN, detail).coded(ErrorCode::Fenced)
}

/// A run that this session does not execute any more.
pub(super) fn not_its_run() -> Failure {
    let detail = "the session does not execute this run any more";
    Failure::new(StatusCode::CONFLICT, detail).coded(ErrorCode::Fenced)
}
