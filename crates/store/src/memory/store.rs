//! The [`Store`] contract of a memory store.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use everstep_model::{NodeId, StreamNumber, Timestamp};

use super::state::State;
use crate::clock::Clock;
use crate::commit::Commit;
use crate::contract::{
    BoxFuture, Description, Lease, Page, ReadRequest, ReadyRun, Store, StreamRef, TimerQuery,
};
use crate::error::StoreError;
use crate::head::Head;
use crate::list::{Count, ListPage, ListQuery};
use crate::outcome::Outcome;
use crate::row::{OutboxRow, Row, RowKey, TimerRow};
use crate::shared_row::{RowRange, SharedRow};

/// A store in memory. Clones share their data, so several engines of one process can work on the
/// same runs.
#[derive(Clone)]
pub struct MemoryStore {
    shared: Arc<Shared>,
}

struct Shared {
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
}

impl MemoryStore {
    /// Creates an empty store. `clock` is the store's own clock.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            shared: Arc::new(Shared {
                clock,
                state: Mutex::default(),
            }),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Even after a panic, the maps themselves are well-formed.
        let state = self.shared.state.lock();
        state.unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> Timestamp {
        self.shared.clock.now()
    }
}

impl std::fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("MemoryStore")
    }
}

fn done<'a, T: Send + 'a>(value: T) -> BoxFuture<'a, Result<T, StoreError>> {
    Box::pin(std::future::ready(Ok(value)))
}

impl Store for MemoryStore {
    fn commit<'a>(
        &'a self,
        batch: &'a [Commit],
    ) -> BoxFuture<'a, Result<Vec<Outcome>, StoreError>> {
        let now = self.now();
        let mut state = self.state();
        done(state.commit(batch, now))
    }

    fn head(&self, stream: StreamRef) -> BoxFuture<'_, Result<Option<Head>, StoreError>> {
        done(self.state().head(&stream).cloned())
    }

    fn read(&self, request: ReadRequest) -> BoxFuture<'_, Result<Option<Page>, StoreError>> {
        done(self.state().read(request))
    }

    fn list(&self, query: ListQuery) -> BoxFuture<'_, Result<ListPage, StoreError>> {
        done(self.state().list(&query))
    }

    fn count(&self, query: ListQuery) -> BoxFuture<'_, Result<Count, StoreError>> {
        done(self.state().count(&query))
    }

    fn rows(&self, range: RowRange) -> BoxFuture<'_, Result<Vec<SharedRow>, StoreError>> {
        done(self.state().shared_rows(&range))
    }

    fn timers(&self, query: TimerQuery) -> BoxFuture<'_, Result<Vec<TimerRow>, StoreError>> {
        done(self.state().timers(&query))
    }

    fn ready(
        &self,
        after: Option<StreamNumber>,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<ReadyRun>, StoreError>> {
        done(self.state().ready(after, limit, self.now()))
    }

    fn outbox(
        &self,
        after: Option<(StreamNumber, String)>,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<OutboxRow>, StoreError>> {
        done(self.state().outbox(after, limit))
    }

    fn row(&self, key: RowKey) -> BoxFuture<'_, Result<Option<Row>, StoreError>> {
        done(self.state().row(&key))
    }

    fn renew(&self, lease: Lease) -> BoxFuture<'_, Result<(), StoreError>> {
        self.state().renew(lease.node, self.now().after(lease.ttl));
        done(())
    }

    fn retire(&self, node: NodeId) -> BoxFuture<'_, Result<(), StoreError>> {
        self.state().retire(node);
        done(())
    }

    fn describe(&self) -> Description {
        Description {
            name: "memory",
            durability: "no failure: the data is lost when the process ends",
            exclusive: false,
            spans_processes: false,
        }
    }
}
