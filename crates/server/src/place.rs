//! Places among those who wait; there are only so many.

use axum::http::{StatusCode, header};
use everstep_model::ErrorCode;
use tokio::sync::OwnedSemaphorePermit;

use crate::failure::Failure;
use crate::router::Shared;

/// A place, until it is dropped.
pub(crate) fn place(shared: &Shared) -> Result<OwnedSemaphorePermit, Failure> {
    let place = shared.waiting.clone().try_acquire_owned();
    place.map_err(|_| {
        let busy = StatusCode::SERVICE_UNAVAILABLE;
        Failure::new(busy, "too many are waiting")
            .coded(ErrorCode::TooBusy)
            .with(header::RETRY_AFTER, 1)
    })
}
