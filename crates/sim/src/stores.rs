//! Where the worlds of a simulation keep what is durable: in memory, unless a survey brings something else.

use std::sync::Arc;

use everstep_store::{Clock, MemoryStore, Store};

/// Gives worlds their stores.
pub trait Stores: Sync {
    /// An empty store with this clock, for one world. Its calls are over when they return.
    fn empty(&self, clock: Arc<dyn Clock>) -> Arc<dyn Store>;
}

/// Memory, which every world has of its own.
#[derive(Clone, Copy, Debug)]
pub struct InMemory;

impl Stores for InMemory {
    fn empty(&self, clock: Arc<dyn Clock>) -> Arc<dyn Store> {
        Arc::new(MemoryStore::new(clock))
    }
}
