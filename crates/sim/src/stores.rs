//! The stores of simulations: in memory, unless a survey uses another backend.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use everstep_model::Timestamp;
use everstep_store::{Clock, MemoryStore, Store, StoreError};
use futures_util::FutureExt as _;

/// Creates the stores of simulations.
pub trait Stores: Sync {
    /// Returns an empty store with this clock, for one simulation. Its calls must be complete when
    /// they return.
    fn empty(&self, clock: Arc<dyn Clock>) -> Arc<dyn Store>;
}

/// A new memory store for each simulation.
#[derive(Clone, Copy, Debug)]
pub struct InMemory;

impl Stores for InMemory {
    fn empty(&self, clock: Arc<dyn Clock>) -> Arc<dyn Store> {
        Arc::new(MemoryStore::new(clock))
    }
}

/// A clock that can be replaced by another one while a store uses it.
pub(crate) struct ReplaceableClock(Mutex<Arc<dyn Clock>>);

impl ReplaceableClock {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        Self(Mutex::new(clock))
    }

    /// Replaces the clock and returns the previous one.
    pub(crate) fn replace(&self, clock: Arc<dyn Clock>) -> Arc<dyn Clock> {
        std::mem::replace(&mut *self.lock(), clock)
    }

    fn lock(&self) -> MutexGuard<'_, Arc<dyn Clock>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock for ReplaceableClock {
    fn now(&self) -> Timestamp {
        self.lock().now()
    }
}

/// Polls a call once. The stores of a simulation answer immediately.
pub(crate) fn at_once<T>(
    answer: impl Future<Output = Result<T, StoreError>>,
) -> Result<T, StoreError> {
    answer.now_or_never().unwrap_or_else(|| {
        Err(StoreError::Unavailable {
            detail: "the store did not answer immediately".to_owned(),
        })
    })
}
