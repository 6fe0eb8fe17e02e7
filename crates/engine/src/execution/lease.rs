//! The lease of this node. Safety depends on fences alone; leases only determine when another node
//! may take over.

use std::sync::Arc;
use std::time::Duration;

use everstep_store::{Lease, StoreError};

use crate::commit::StoreAvailability;
use crate::node::Node;

/// No other process can take over from the user of an exclusive store, so its lease never expires.
const FOREVER: Duration = Duration::from_secs(100 * 365 * 24 * 3_600);
/// The interval at which an unavailable store is tried again.
const RETRY_INTERVAL: Duration = Duration::from_millis(500);

pub(crate) struct NodeLease {
    pub(crate) node: Arc<Node>,
    pub(crate) availability: Arc<StoreAvailability>,
}

impl NodeLease {
    pub(crate) async fn renew(&self) -> Result<(), StoreError> {
        let ttl = match self.node.is_shared {
            true => self.node.settings.lease_ttl,
            false => FOREVER,
        };
        let node = self.node.id;
        self.node.store.renew(Lease { node, ttl }).await
    }

    /// Renews the lease three times per ttl, so that two lost renewals do no harm.
    pub(crate) async fn keep(self: Arc<Self>) {
        if !self.node.is_shared {
            return;
        }
        while !self.node.is_closing() {
            let usual = self.node.settings.lease_ttl / 3;
            let interval = match self.availability.is_unavailable() {
                true => usual.min(RETRY_INTERVAL),
                false => usual,
            };
            self.node.rest(interval).await;
            match self.renew().await {
                Ok(()) => self.availability.mark_available(),
                Err(error) => {
                    tracing::warn!(%error, "cannot renew the lease, other nodes may take over");
                    if matches!(error, StoreError::Unavailable { .. }) {
                        self.availability.mark_unavailable(&error);
                    }
                }
            }
        }
    }

    /// Renews the lease forever, while the engine drains.
    pub(crate) async fn keep_while_draining(&self) {
        loop {
            if let Err(error) = self.renew().await {
                tracing::warn!(%error, "cannot renew the lease, other nodes may take over");
            }
            let interval = self.node.settings.lease_ttl / 3;
            self.node.runtime.sleep(interval).await;
        }
    }
}
