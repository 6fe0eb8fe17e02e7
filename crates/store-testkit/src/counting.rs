//! A store that counts what it is asked, to show that something is not asked too often.

use std::sync::atomic::{AtomicU64, Ordering};

use everstep_model::{NodeId, StreamNumber};
use everstep_store::{
    BoxFuture, Commit, Count, Description, Head, Lease, ListPage, ListQuery, OutboxRow, Outcome,
    Page, ReadRequest, ReadyRun, Row, RowKey, RowRange, SharedRow, Store, StoreError, StreamRef,
    TimerQuery, TimerRow,
};

/// How often each method was called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Calls {
    /// Batches.
    pub batches: u64,
    /// Commits in all batches.
    pub commits: u64,
    /// Heads.
    pub heads: u64,
    /// Pages of journals.
    pub reads: u64,
    /// Pages of the list.
    pub lists: u64,
    /// Timer queries.
    pub timers: u64,
    /// Ready queries.
    pub ready: u64,
    /// Outbox queries.
    pub outbox: u64,
    /// Rows.
    pub rows: u64,
    /// Signs of life, and of leaving.
    pub leases: u64,
}

impl Calls {
    /// All calls; a batch is one, however many commits it has.
    #[must_use]
    pub fn total(&self) -> u64 {
        let Self {
            batches,
            commits: _,
            heads,
            reads,
            lists,
            timers,
            ready,
            outbox,
            rows,
            leases,
        } = self;
        batches + heads + reads + lists + timers + ready + outbox + rows + leases
    }
}

#[derive(Default)]
struct Counters {
    batches: AtomicU64,
    commits: AtomicU64,
    heads: AtomicU64,
    reads: AtomicU64,
    lists: AtomicU64,
    timers: AtomicU64,
    ready: AtomicU64,
    outbox: AtomicU64,
    rows: AtomicU64,
    leases: AtomicU64,
}

/// Counts the calls to a store.
pub struct Counting<S> {
    inner: S,
    counters: Counters,
}

impl<S> Counting<S> {
    /// Counts the calls to `inner`.
    pub fn new(inner: S) -> Self {
        Self {
            inner,
            counters: Counters::default(),
        }
    }

    /// The store itself; calls to it are not counted.
    pub fn inner(&self) -> &S {
        &self.inner
    }

    /// The calls so far.
    pub fn calls(&self) -> Calls {
        let read = |counter: &AtomicU64| counter.load(Ordering::SeqCst);
        Calls {
            batches: read(&self.counters.batches),
            commits: read(&self.counters.commits),
            heads: read(&self.counters.heads),
            reads: read(&self.counters.reads),
            lists: read(&self.counters.lists),
            timers: read(&self.counters.timers),
            ready: read(&self.counters.ready),
            outbox: read(&self.counters.outbox),
            rows: read(&self.counters.rows),
            leases: read(&self.counters.leases),
        }
    }
}

fn count(counter: &AtomicU64, by: usize) {
    counter.fetch_add(by as u64, Ordering::SeqCst);
}

impl<S> std::fmt::Debug for Counting<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.calls().fmt(f)
    }
}

impl<S: Store> Store for Counting<S> {
    fn commit<'a>(
        &'a self,
        batch: &'a [Commit],
    ) -> BoxFuture<'a, Result<Vec<Outcome>, StoreError>> {
        count(&self.counters.batches, 1);
        count(&self.counters.commits, batch.len());
        self.inner.commit(batch)
    }

    fn head(&self, stream: StreamRef) -> BoxFuture<'_, Result<Option<Head>, StoreError>> {
        count(&self.counters.heads, 1);
        self.inner.head(stream)
    }

    fn read(&self, request: ReadRequest) -> BoxFuture<'_, Result<Option<Page>, StoreError>> {
        count(&self.counters.reads, 1);
        self.inner.read(request)
    }

    fn list(&self, query: ListQuery) -> BoxFuture<'_, Result<ListPage, StoreError>> {
        count(&self.counters.lists, 1);
        self.inner.list(query)
    }

    fn count(&self, query: ListQuery) -> BoxFuture<'_, Result<Count, StoreError>> {
        count(&self.counters.lists, 1);
        self.inner.count(query)
    }

    fn timers(&self, query: TimerQuery) -> BoxFuture<'_, Result<Vec<TimerRow>, StoreError>> {
        count(&self.counters.timers, 1);
        self.inner.timers(query)
    }

    fn ready(
        &self,
        after: Option<StreamNumber>,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<ReadyRun>, StoreError>> {
        count(&self.counters.ready, 1);
        self.inner.ready(after, limit)
    }

    fn outbox(
        &self,
        after: Option<(StreamNumber, String)>,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<OutboxRow>, StoreError>> {
        count(&self.counters.outbox, 1);
        self.inner.outbox(after, limit)
    }

    fn rows(&self, range: RowRange) -> BoxFuture<'_, Result<Vec<SharedRow>, StoreError>> {
        count(&self.counters.rows, 1);
        self.inner.rows(range)
    }

    fn row(&self, key: RowKey) -> BoxFuture<'_, Result<Option<Row>, StoreError>> {
        count(&self.counters.rows, 1);
        self.inner.row(key)
    }

    fn renew(&self, lease: Lease) -> BoxFuture<'_, Result<(), StoreError>> {
        count(&self.counters.leases, 1);
        self.inner.renew(lease)
    }

    fn retire(&self, node: NodeId) -> BoxFuture<'_, Result<(), StoreError>> {
        count(&self.counters.leases, 1);
        self.inner.retire(node)
    }

    fn describe(&self) -> Description {
        self.inner.describe()
    }
}
