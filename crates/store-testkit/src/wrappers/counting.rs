//! A store that counts its calls, for tests that limit how often a store is called.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use everstep_store::{Call, Description, Intercept, Store, StoreError};

/// The number of calls by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "a field counts the calls of the same name")]
pub struct Calls {
    pub batches: u64,
    /// The commits of all batches.
    pub commits: u64,
    pub heads: u64,
    pub reads: u64,
    /// `list` and `count`.
    pub lists: u64,
    pub timers: u64,
    pub ready: u64,
    pub outbox: u64,
    /// `row` and `rows`.
    pub rows: u64,
    /// `renew` and `retire`.
    pub leases: u64,
}

impl Calls {
    /// All calls. A batch counts as one, however many commits it has.
    #[must_use]
    pub fn total(&self) -> u64 {
        let queries = self.heads + self.reads + self.lists + self.timers + self.ready;
        self.batches + queries + self.outbox + self.rows + self.leases
    }

    fn add(&mut self, call: &Call) {
        let counter = match call {
            Call::Commit { batch } => {
                self.commits += batch.len() as u64;
                &mut self.batches
            }
            Call::Head { .. } => &mut self.heads,
            Call::Read { .. } => &mut self.reads,
            Call::List { .. } | Call::Count { .. } => &mut self.lists,
            Call::Timers { .. } => &mut self.timers,
            Call::Ready { .. } => &mut self.ready,
            Call::Outbox { .. } => &mut self.outbox,
            Call::Row { .. } | Call::Rows { .. } => &mut self.rows,
            Call::Renew { .. } | Call::Retire { .. } => &mut self.leases,
        };
        *counter += 1;
    }
}

/// Counts the calls of a store.
pub struct Counting {
    inner: Arc<dyn Store>,
    calls: Mutex<Calls>,
}

impl Counting {
    pub fn new(inner: impl Store) -> Self {
        Self {
            inner: Arc::new(inner),
            calls: Mutex::default(),
        }
    }

    /// The wrapped store. Its calls are not counted.
    pub fn inner(&self) -> &dyn Store {
        &*self.inner
    }

    /// The calls so far.
    pub fn calls(&self) -> Calls {
        *self.lock()
    }

    fn lock(&self) -> MutexGuard<'_, Calls> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Intercept for Counting {
    fn target(&self) -> Result<Arc<dyn Store>, StoreError> {
        Ok(self.inner.clone())
    }

    fn description(&self) -> Description {
        self.inner.describe()
    }

    fn before(&self, call: &Call) -> Result<(), StoreError> {
        self.lock().add(call);
        Ok(())
    }
}

impl std::fmt::Debug for Counting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.calls().fmt(f)
    }
}
