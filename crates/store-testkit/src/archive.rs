//! A store that remembers every record it ever took, to compare a journal with all that was written
//! to it.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use everstep_model::{Entry, NodeId, Record, RecordNumber, StreamName, StreamNumber};
use everstep_store::{
    BoxFuture, Commit, Count, Description, Head, Lease, ListPage, ListQuery, OutboxRow, Outcome,
    Page, ReadRequest, ReadyRun, Row, RowKey, RowRange, SharedRow, Store, StoreError, StreamRef,
    TimerQuery, TimerRow,
};

/// Remembers what is committed to a store: also records that are dropped later.
pub struct Archive<S> {
    inner: S,
    streams: Mutex<Streams>,
}

#[derive(Default)]
struct Streams {
    numbers: BTreeMap<StreamName, StreamNumber>,
    records: BTreeMap<(StreamNumber, RecordNumber), Record>,
}

impl<S> Archive<S> {
    /// Remembers what is committed to `inner` from now on.
    pub fn new(inner: S) -> Self {
        Self {
            inner,
            streams: Mutex::default(),
        }
    }

    /// Everything that was ever written to a stream, in order and without gaps; empty for one that
    /// never was.
    pub fn written(&self, stream: &StreamName) -> Vec<Entry> {
        let streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(number) = streams.numbers.get(stream) else {
            return Vec::new();
        };
        let first = (*number, RecordNumber(0));
        let records = streams.records.range(first..);
        records
            .take_while(|((stream, _), _)| stream == number)
            .map(|((_, number), record)| Entry {
                number: *number,
                record: record.clone(),
            })
            .collect()
    }

    fn remember(&self, written: Vec<(Option<StreamName>, Vec<Record>)>, outcomes: &[Outcome]) {
        let mut streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        for ((created, records), outcome) in written.into_iter().zip(outcomes) {
            let Outcome::Committed { stream, first, .. } = outcome else {
                continue;
            };
            if let Some(name) = created {
                streams.numbers.insert(name, *stream);
            }
            for (index, record) in records.into_iter().enumerate() {
                streams.records.insert((*stream, first.plus(index)), record);
            }
        }
    }
}

impl<S> std::fmt::Debug for Archive<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        write!(f, "Archive({} records)", streams.records.len())
    }
}

impl<S: Store> Store for Archive<S> {
    fn commit<'a>(
        &'a self,
        batch: &'a [Commit],
    ) -> BoxFuture<'a, Result<Vec<Outcome>, StoreError>> {
        let parts = batch
            .iter()
            .map(|commit| (commit.created().cloned(), commit.records().to_vec()));
        let written = parts.collect();
        let committing = self.inner.commit(batch);
        Box::pin(async move {
            let outcomes = committing.await?;
            self.remember(written, &outcomes);
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
