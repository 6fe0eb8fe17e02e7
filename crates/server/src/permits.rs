//! Semaphore that limits concurrent long-polls, event streams and requests that wait.

use std::sync::Arc;

use axum::http::{StatusCode, header};
use everstep_model::ErrorCode;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::failure::Failure;

/// The permit of one waiting request. Dropping it releases the permit.
pub(crate) type WaitPermit = OwnedSemaphorePermit;

#[derive(Clone)]
pub(crate) struct WaitPermits(Arc<Semaphore>);

impl WaitPermits {
    pub(crate) fn new(max: usize) -> Self {
        Self(Arc::new(Semaphore::new(max)))
    }

    /// Takes a permit, or fails at once with a hint to retry.
    pub(crate) fn acquire(&self) -> Result<WaitPermit, Failure> {
        self.0.clone().try_acquire_owned().map_err(|_| {
            let detail = "too many requests are waiting";
            Failure::new(StatusCode::SERVICE_UNAVAILABLE, ErrorCode::TooBusy, detail)
                .with(header::RETRY_AFTER, 1)
        })
    }
}
