//! Leases of nodes. Only one process has the store open, so they need not be durable.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use everstep_model::{NodeId, Timestamp};

#[derive(Default)]
pub(crate) struct Leases(Mutex<BTreeMap<NodeId, Timestamp>>);

impl Leases {
    fn until(&self) -> MutexGuard<'_, BTreeMap<NodeId, Timestamp>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn renew(&self, node: NodeId, until: Timestamp) {
        self.until().insert(node, until);
    }

    pub(crate) fn retire(&self, node: NodeId) {
        self.until().remove(&node);
    }

    pub(crate) fn is_alive(&self, node: NodeId, now: Timestamp) -> bool {
        self.until().get(&node).is_some_and(|until| now < *until)
    }
}
