//! A store whose commits fail by a schedule, before or after they took effect: the caller cannot
//! tell which, or never hears of them at all.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use everstep_model::{NodeId, StreamNumber};
use everstep_store::{
    BoxFuture, Commit, Count, Description, Head, Lease, ListPage, ListQuery, OutboxRow, Outcome,
    Page, ReadRequest, ReadyRun, Row, RowKey, RowRange, SharedRow, Store, StoreError, StreamRef,
    TimerQuery, TimerRow,
};

/// What happens to one call of `commit`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fault {
    /// Nothing.
    #[default]
    None,
    /// It fails and has changed nothing.
    Before,
    /// It takes effect, and its outcome is lost.
    After,
    /// It changes nothing and never returns: the process that made it is dead.
    HangBefore,
    /// It takes effect and never returns.
    HangAfter,
}

/// Fails the commits of a store by a schedule. Everything else passes through.
pub struct Faulty<S: ?Sized> {
    inner: Arc<S>,
    schedule: Box<dyn Fn(u64) -> Fault + Send + Sync>,
    calls: AtomicU64,
    one_by_one: bool,
    hangs: Option<Box<dyn Fn() + Send + Sync>>,
}

impl<S> Faulty<S> {
    /// `schedule` is asked with the number of each call of `commit`, from 0.
    pub fn new(inner: S, schedule: impl Fn(u64) -> Fault + Send + Sync + 'static) -> Self {
        Self::over(Arc::new(inner), schedule)
    }
}

impl<S: ?Sized> Faulty<S> {
    /// The same with a store that others use too.
    pub fn over(inner: Arc<S>, schedule: impl Fn(u64) -> Fault + Send + Sync + 'static) -> Self {
        Self {
            inner,
            schedule: Box::new(schedule),
            calls: AtomicU64::new(0),
            one_by_one: false,
            hangs: None,
        }
    }

    /// The commits of a batch take effect one by one, and the schedule is asked for each, so that a
    /// process may die between any two of them.
    #[must_use]
    pub fn one_by_one(mut self) -> Self {
        self.one_by_one = true;
        self
    }

    /// Calls this when a commit hangs, after what effect it has.
    #[must_use]
    pub fn on_hang(mut self, hangs: impl Fn() + Send + Sync + 'static) -> Self {
        self.hangs = Some(Box::new(hangs));
        self
    }

    /// The store itself, which does not fail.
    pub fn inner(&self) -> &S {
        &self.inner
    }

    async fn hang<T>(&self) -> T {
        if let Some(hangs) = &self.hangs {
            hangs();
        }
        std::future::pending().await
    }
}

impl<S: Store + ?Sized> Faulty<S> {
    async fn strike(&self, batch: &[Commit]) -> Result<Vec<Outcome>, StoreError> {
        let call = self.calls.fetch_add(1, Ordering::SeqCst);
        match (self.schedule)(call) {
            Fault::None => self.inner.commit(batch).await,
            Fault::Before => Err(lost()),
            Fault::After => {
                self.inner.commit(batch).await?;
                Err(lost())
            }
            Fault::HangBefore => self.hang().await,
            Fault::HangAfter => {
                self.inner.commit(batch).await?;
                self.hang().await
            }
        }
    }
}

impl<S: ?Sized> std::fmt::Debug for Faulty<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let calls = self.calls.load(Ordering::SeqCst);
        f.debug_struct("Faulty").field("calls", &calls).finish()
    }
}

fn lost() -> StoreError {
    StoreError::Unavailable {
        detail: "a fault of the test's schedule".to_owned(),
    }
}

impl<S: Store + ?Sized> Store for Faulty<S> {
    fn commit<'a>(
        &'a self,
        batch: &'a [Commit],
    ) -> BoxFuture<'a, Result<Vec<Outcome>, StoreError>> {
        if !self.one_by_one {
            return Box::pin(self.strike(batch));
        }
        Box::pin(async move {
            let mut outcomes = Vec::new();
            for commit in batch {
                outcomes.extend(self.strike(std::slice::from_ref(commit)).await?);
            }
            Ok(outcomes)
        })
    }

    fn head(&self, stream: StreamRef) -> BoxFuture<'_, Result<Option<Head>, StoreError>> {
        self.inner.head(stream)
    }

    fn read(&self, request: ReadRequest) -> BoxFuture<'_, Result<Option<Page>, StoreError>> {
        self.inner.read(request)
    }

    fn list(&self, query: ListQuery) -> BoxFuture<'_, Result<ListPage, StoreError>> {
        self.inner.list(query)
    }

    fn count(&self, query: ListQuery) -> BoxFuture<'_, Result<Count, StoreError>> {
        self.inner.count(query)
    }

    fn timers(&self, query: TimerQuery) -> BoxFuture<'_, Result<Vec<TimerRow>, StoreError>> {
        self.inner.timers(query)
    }

    fn ready(
        &self,
        after: Option<StreamNumber>,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<ReadyRun>, StoreError>> {
        self.inner.ready(after, limit)
    }

    fn outbox(
        &self,
        after: Option<(StreamNumber, String)>,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<OutboxRow>, StoreError>> {
        self.inner.outbox(after, limit)
    }

    fn rows(&self, range: RowRange) -> BoxFuture<'_, Result<Vec<SharedRow>, StoreError>> {
        self.inner.rows(range)
    }

    fn row(&self, key: RowKey) -> BoxFuture<'_, Result<Option<Row>, StoreError>> {
        self.inner.row(key)
    }

    fn renew(&self, lease: Lease) -> BoxFuture<'_, Result<(), StoreError>> {
        self.inner.renew(lease)
    }

    fn retire(&self, node: NodeId) -> BoxFuture<'_, Result<(), StoreError>> {
        self.inner.retire(node)
    }

    fn describe(&self) -> Description {
        self.inner.describe()
    }
}
