//! Reading requests and writing answers: JSON in, JSON out.

use axum::Json;
use axum::body::{Body, to_bytes};
use axum::response::{IntoResponse, Response};
use futures_util::future::{Either, select};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::refusal::Refusal;
use crate::router::Shared;

/// Bytes of one request. A run that ends many steps at once writes their results together.
pub(super) const REQUEST_BYTES_MAX: usize = 256 * 1024 * 1024;

/// The whole body as JSON.
pub(super) async fn json<T: DeserializeOwned>(shared: &Shared, body: Body) -> Result<T, Refusal> {
    let late = shared.workers.sleep(shared.options.body_timeout);
    let whole = std::pin::pin!(to_bytes(body, REQUEST_BYTES_MAX));
    let bytes = match select(whole, late).await {
        Either::Left((Ok(bytes), _)) => bytes,
        Either::Left((Err(_), _)) => return Err(Refusal::too_large(REQUEST_BYTES_MAX)),
        Either::Right(_) => return Err(Refusal::undecodable("the body did not arrive in time")),
    };
    serde_json::from_slice(&bytes).map_err(|error| Refusal::undecodable(error.to_string()))
}

/// An answer, or why there is none.
pub(super) fn answered<T: Serialize>(answer: Result<T, Refusal>) -> Response {
    match answer {
        Ok(answer) => Json(answer).into_response(),
        Err(refusal) => refusal.into_response(),
    }
}
