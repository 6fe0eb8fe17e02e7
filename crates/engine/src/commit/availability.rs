//! Tracks whether the store is available.
//!
//! While the store is unavailable, the engine rejects requests immediately instead of letting them
//! wait, and the node reports itself as not ready. When the store returns, the engine looks for
//! runs that it lost in the meantime.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use everstep_store::StoreError;
use tokio::sync::Notify;

use crate::lock::lock;

/// The last known state of the store, as reported by the senders and the lease task.
#[derive(Default)]
pub(crate) struct StoreAvailability {
    /// Mirrors `last_error.is_some()`, so that requests take no lock while the store is available.
    unavailable: AtomicBool,
    last_error: Mutex<Option<StoreError>>,
    recovered: Notify,
}

impl StoreAvailability {
    pub(crate) fn mark_unavailable(&self, error: &StoreError) {
        *lock(&self.last_error) = Some(error.clone());
        if !self.unavailable.swap(true, Ordering::AcqRel) {
            tracing::error!(%error, "store unavailable, rejecting requests");
        }
    }

    pub(crate) fn mark_available(&self) {
        if self.unavailable.swap(false, Ordering::AcqRel) {
            *lock(&self.last_error) = None;
            tracing::warn!("store available again");
            self.recovered.notify_one();
        }
    }

    pub(crate) fn is_unavailable(&self) -> bool {
        self.unavailable.load(Ordering::Acquire)
    }

    /// Returns the store's error if it is unavailable.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        if !self.is_unavailable() {
            return Ok(());
        }
        lock(&self.last_error).clone().map_or(Ok(()), Err)
    }

    /// Waits until the store becomes available after an outage. Supports a single waiter.
    pub(crate) async fn recovered(&self) {
        self.recovered.notified().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn rejects_requests_during_an_outage_and_signals_recovery() {
        let availability = StoreAvailability::default();
        availability.mark_available();
        assert!(availability.check().is_ok());
        let detail = "no route".to_owned();
        availability.mark_unavailable(&StoreError::Unavailable { detail });
        assert!(availability.check().is_err());
        availability.mark_available();
        assert!(availability.check().is_ok());
        availability.recovered().await;
    }
}
