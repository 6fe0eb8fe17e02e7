//! The node's sign of life. Safety rests on the fence alone; leases only say when somebody else may go on.

use std::sync::Arc;

use everstep_store::{Lease, StoreError};

use crate::core::Core;

impl Core {
    pub(crate) async fn renew_lease(&self) -> Result<(), StoreError> {
        let lease = Lease {
            node: self.node,
            ttl: self.settings.lease_ttl,
        };
        self.store.renew(lease).await
    }

    /// Renews the lease three times per ttl, so that two lost renewals do no harm.
    pub(crate) async fn keep_lease(self: Arc<Self>) {
        while !self.is_closing() {
            self.rest(self.settings.lease_ttl / 3).await;
            if let Err(error) = self.renew_lease().await {
                tracing::warn!(%error, "the lease could not be renewed; other nodes may take over");
            }
        }
    }
}
