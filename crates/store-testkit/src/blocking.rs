//! A store whose calls are over when they return: for virtual clocks, which would run ahead while
//! an answer is on its way.

use everstep_model::{NodeId, StreamNumber};
use everstep_store::{
    BoxFuture, Commit, Count, Description, Head, Lease, ListPage, ListQuery, OutboxRow, Outcome,
    Page, ReadRequest, ReadyRun, Row, RowKey, RowRange, SharedRow, Store, StoreError, StreamRef,
    TimerQuery, TimerRow,
};

use crate::block_on::block_on;

/// Waits for each call on the calling thread. The store below must not need that thread.
#[derive(Debug)]
pub struct Blocking<S>(
    /// The store below.
    pub S,
);

fn done<'a, T: Send + 'a>(
    call: BoxFuture<'_, Result<T, StoreError>>,
) -> BoxFuture<'a, Result<T, StoreError>> {
    Box::pin(std::future::ready(block_on(call)))
}

impl<S: Store> Store for Blocking<S> {
    fn commit<'a>(
        &'a self,
        batch: &'a [Commit],
    ) -> BoxFuture<'a, Result<Vec<Outcome>, StoreError>> {
        done(self.0.commit(batch))
    }

    fn head(&self, stream: StreamRef) -> BoxFuture<'_, Result<Option<Head>, StoreError>> {
        done(self.0.head(stream))
    }

    fn read(&self, request: ReadRequest) -> BoxFuture<'_, Result<Option<Page>, StoreError>> {
        done(self.0.read(request))
    }

    fn list(&self, query: ListQuery) -> BoxFuture<'_, Result<ListPage, StoreError>> {
        done(self.0.list(query))
    }

    fn count(&self, query: ListQuery) -> BoxFuture<'_, Result<Count, StoreError>> {
        done(self.0.count(query))
    }

    fn timers(&self, query: TimerQuery) -> BoxFuture<'_, Result<Vec<TimerRow>, StoreError>> {
        done(self.0.timers(query))
    }

    fn ready(
        &self,
        after: Option<StreamNumber>,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<ReadyRun>, StoreError>> {
        done(self.0.ready(after, limit))
    }

    fn outbox(
        &self,
        after: Option<(StreamNumber, String)>,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<OutboxRow>, StoreError>> {
        done(self.0.outbox(after, limit))
    }

    fn rows(&self, range: RowRange) -> BoxFuture<'_, Result<Vec<SharedRow>, StoreError>> {
        done(self.0.rows(range))
    }

    fn row(&self, key: RowKey) -> BoxFuture<'_, Result<Option<Row>, StoreError>> {
        done(self.0.row(key))
    }

    fn renew(&self, lease: Lease) -> BoxFuture<'_, Result<(), StoreError>> {
        done(self.0.renew(lease))
    }

    fn retire(&self, node: NodeId) -> BoxFuture<'_, Result<(), StoreError>> {
        done(self.0.retire(node))
    }

    fn describe(&self) -> Description {
        self.0.describe()
    }
}
