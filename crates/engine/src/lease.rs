//! The node's sign of life. Safety rests on the fence alone; leases only say when somebody else may go on.

use std::sync::Arc;
use std::time::Duration;

use everstep_store::{Lease, StoreError};

use crate::core::Core;

/// A store for one process has nobody to take over while that process lives: its lease needs no renewal.
const FOR_EVER: Duration = Duration::from_secs(100 * 365 * 24 * 3_600);
/// How often a store that is away is looked for.
const LOOK_FOR_STORE_EVERY: Duration = Duration::from_millis(500);

impl Core {
    pub(crate) async fn renew_lease(&self) -> Result<(), StoreError> {
        let exclusive = self.store.describe().exclusive;
        let ttl = if exclusive {
            FOR_EVER
        } else {
            self.settings.lease_ttl
        };
        let node = self.node;
        self.store.renew(Lease { node, ttl }).await
    }

    /// Renews the lease three times per ttl, so that two lost renewals do no harm.
    pub(crate) async fn keep_lease(self: Arc<Self>) {
        if self.store.describe().exclusive {
            return;
        }
        while !self.is_closing() {
            let usual = self.settings.lease_ttl / 3;
            let rest = match self.reach.is_away() {
                true => usual.min(LOOK_FOR_STORE_EVERY),
                false => usual,
            };
            self.rest(rest).await;
            match self.renew_lease().await {
                Ok(()) => self.reach.found(),
                Err(error) => {
                    tracing::warn!(%error, "the lease could not be renewed; other nodes may take over");
                    if matches!(error, StoreError::Unavailable { .. }) {
                        self.reach.lost(&error);
                    }
                }
            }
        }
    }
}
