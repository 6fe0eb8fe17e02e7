//! The [`Store`] contract of an embedded store. Every call runs on the calling thread.

use std::path::Path;
use std::sync::Arc;

use everstep_model::{NodeId, StreamNumber};
use everstep_store::{
    BoxFuture, Clock, Commit, Count, Description, Head, Lease, ListPage, ListQuery, OutboxRow,
    Outcome, Page, ReadRequest, ReadyRun, Row, RowKey, RowRange, SharedRow, Store, StoreError,
    StreamRef, TimerQuery, TimerRow,
};

use crate::failure;
use crate::open;
use crate::options::Options;
use crate::read::{frames, list, ranges};
use crate::state::inner::Inner;
use crate::storage::view::View;
use crate::write::commit;

/// A store in one directory. Only one process, and one handle in it, can have it open at a time;
/// dropping the handle closes the store.
///
/// `commit` blocks the calling thread for one `fdatasync`, so call it from a thread that may block.
pub struct EmbeddedStore(pub(crate) Inner);

impl EmbeddedStore {
    /// Opens or creates the store in `path`. `clock` is the store's own clock.
    pub fn open(path: impl AsRef<Path>, clock: Arc<dyn Clock>) -> Result<Self, StoreError> {
        Self::open_with(path, clock, Options::default())
    }

    /// Opens or creates the store in `path` with these options.
    pub fn open_with(
        path: impl AsRef<Path>,
        clock: Arc<dyn Clock>,
        options: Options,
    ) -> Result<Self, StoreError> {
        open::open(path.as_ref(), clock, &options).map(Self)
    }

    fn head_of(&self, stream: &StreamRef) -> Result<Option<Arc<Head>>, StoreError> {
        let number = match stream {
            StreamRef::Number(number) => *number,
            StreamRef::Name(name) => match View::new(&self.0.tables).number(name.as_str())? {
                Some(number) => number,
                None => return Ok(None),
            },
        };
        match self.0.cache.get(&number) {
            Some(head) => Ok(Some(head)),
            None => Ok(View::new(&self.0.tables).head(number)?.map(Arc::new)),
        }
    }

    fn read_page(&self, request: ReadRequest) -> Result<Option<Page>, StoreError> {
        let Some(head) = self.head_of(&StreamRef::Number(request.stream))? else {
            return Ok(None);
        };
        // Opened after the head was read, so that it contains all records of the head.
        let view = View::new(&self.0.tables);
        frames::page(&view, &head, request).map(Some)
    }

    fn ready_runs(
        &self,
        after: Option<StreamNumber>,
        limit: usize,
    ) -> Result<Vec<ReadyRun>, StoreError> {
        let mut runs = Vec::new();
        let mut last = after;
        while runs.len() < limit {
            let marked = self.0.due.ready(last, limit);
            if marked.is_empty() {
                break;
            }
            last = marked.last().copied();
            for number in marked {
                match self.ready_run(number) {
                    Err(error) if error.is_damage() => failure::log_skipped("ready runs", &error),
                    run => runs.extend(run?),
                }
            }
        }
        runs.truncate(limit);
        Ok(runs)
    }

    fn ready_run(&self, number: StreamNumber) -> Result<Option<ReadyRun>, StoreError> {
        let head = self.head_of(&StreamRef::Number(number))?;
        let Some(head) = head.filter(|head| head.ready) else {
            return Ok(None);
        };
        let now = self.0.clock.now();
        let owner = head.owner.map(|owner| owner.node);
        Ok(head.run.as_ref().map(|run| ReadyRun {
            stream: number,
            workflow: run.workflow.clone(),
            version: run.version,
            executed_by: owner.filter(|node| self.0.leases.is_alive(*node, now)),
        }))
    }
}

impl std::fmt::Debug for EmbeddedStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "EmbeddedStore({})", self.0.tables.place)
    }
}

fn done<'a, T: Send + 'a>(result: Result<T, StoreError>) -> BoxFuture<'a, Result<T, StoreError>> {
    Box::pin(std::future::ready(result))
}

impl Store for EmbeddedStore {
    fn commit<'a>(
        &'a self,
        batch: &'a [Commit],
    ) -> BoxFuture<'a, Result<Vec<Outcome>, StoreError>> {
        done(commit::commit(&self.0, batch))
    }

    fn head(&self, stream: StreamRef) -> BoxFuture<'_, Result<Option<Head>, StoreError>> {
        let head = self.head_of(&stream);
        done(head.map(|head| head.map(Arc::unwrap_or_clone)))
    }

    fn read(&self, request: ReadRequest) -> BoxFuture<'_, Result<Option<Page>, StoreError>> {
        done(self.read_page(request))
    }

    fn list(&self, query: ListQuery) -> BoxFuture<'_, Result<ListPage, StoreError>> {
        // Runs when it is polled, on a thread of the caller's choice.
        Box::pin(async move { list::page(&View::new(&self.0.tables), &query) })
    }

    fn count(&self, query: ListQuery) -> BoxFuture<'_, Result<Count, StoreError>> {
        Box::pin(async move { list::count(&View::new(&self.0.tables), &query) })
    }

    fn rows(&self, range: RowRange) -> BoxFuture<'_, Result<Vec<SharedRow>, StoreError>> {
        done(ranges::rows(&View::new(&self.0.tables), &range))
    }

    fn timers(&self, query: TimerQuery) -> BoxFuture<'_, Result<Vec<TimerRow>, StoreError>> {
        done(self.0.due.timers(&self.0.tables, &query))
    }

    fn ready(
        &self,
        after: Option<StreamNumber>,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<ReadyRun>, StoreError>> {
        done(self.ready_runs(after, limit))
    }

    fn outbox(
        &self,
        after: Option<(StreamNumber, String)>,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<OutboxRow>, StoreError>> {
        done(self.0.effects.rows(&self.0.tables, after, limit))
    }

    fn row(&self, key: RowKey) -> BoxFuture<'_, Result<Option<Row>, StoreError>> {
        done(View::new(&self.0.tables).row(&key))
    }

    fn renew(&self, lease: Lease) -> BoxFuture<'_, Result<(), StoreError>> {
        let until = self.0.clock.now().after(lease.ttl);
        self.0.leases.renew(lease.node, until);
        done(Ok(()))
    }

    fn retire(&self, node: NodeId) -> BoxFuture<'_, Result<(), StoreError>> {
        self.0.leases.retire(node);
        done(Ok(()))
    }

    fn describe(&self) -> Description {
        Description {
            name: "embedded",
            durability: "crashes of the process and, if the disk honours fdatasync, of the machine; \
                         not the loss of the disk",
            exclusive: true,
            spans_processes: false,
        }
    }
}
