//! Whether the store is in reach. While it is away, requests are refused at once instead of waiting for it, and whoever
//! balances the load hears that this node is not ready; when it is back, runs that were lost meanwhile are looked for.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use everstep_store::StoreError;
use tokio::sync::Notify;

/// What the committer and the lease have last seen of the store.
#[derive(Default)]
pub(crate) struct Reach {
    /// So that requests take no lock while all is well.
    is_away: AtomicBool,
    why: Mutex<Option<StoreError>>,
    returned: Notify,
}

impl Reach {
    /// The store did not answer.
    pub(crate) fn lost(&self, error: &StoreError) {
        *self.why() = Some(error.clone());
        if !self.is_away.swap(true, Ordering::AcqRel) {
            tracing::error!(%error, "the store is out of reach; requests are refused until it is back");
        }
    }

    /// The store answered.
    pub(crate) fn found(&self) {
        if self.is_away.swap(false, Ordering::AcqRel) {
            *self.why() = None;
            tracing::warn!("the store is back");
            self.returned.notify_one();
        }
    }

    pub(crate) fn is_away(&self) -> bool {
        self.is_away.load(Ordering::Acquire)
    }

    /// Refuses what the store could not take.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        if !self.is_away() {
            return Ok(());
        }
        match &*self.why() {
            Some(error) => Err(error.clone()),
            None => Ok(()),
        }
    }

    /// Completes when the store is back after it was away. For one who waits.
    pub(crate) async fn returned(&self) {
        self.returned.notified().await;
    }

    fn why(&self) -> MutexGuard<'_, Option<StoreError>> {
        self.why.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_store_that_is_away_is_refused_for_and_its_return_is_heard_of() {
        let reach = Reach::default();
        reach.found();
        assert!(reach.check().is_ok());
        let detail = "no route".to_owned();
        reach.lost(&StoreError::Unavailable { detail });
        assert!(reach.check().is_err());
        reach.found();
        assert!(reach.check().is_ok());
        reach.returned().await;
    }
}
