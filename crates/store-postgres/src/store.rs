//! The [`Store`] contract of a PostgreSQL store.

use std::sync::Arc;

use everstep_model::{NodeId, StreamNumber};
use everstep_store::{
    BoxFuture, Commit, Count, Description, Head, Lease, ListPage, ListQuery, OutboxRow, Outcome,
    Page, ReadRequest, ReadyRun, Row, RowKey, RowRange, SharedRow, Store, StoreError, StreamRef,
    TimerQuery, TimerRow,
};

use crate::connection::argument::arguments;
use crate::connection::io::Io;
use crate::connection::options::Options;
use crate::connection::pool::is_true;
use crate::failure::CallError;
use crate::number::node;
use crate::read::{count, due, list, ranges, reading};
use crate::session::Session;
use crate::write::commit;

/// A store in a PostgreSQL database, which any number of nodes share. Dropping it closes its
/// connections.
pub struct PostgresStore {
    session: Arc<Session>,
    io: Io,
}

impl PostgresStore {
    /// Opens the store, and creates its tables if they do not exist.
    ///
    /// # Errors
    /// If the database cannot be reached, has another format, or could lose acknowledged commits.
    pub async fn open(options: Options) -> Result<Self, StoreError> {
        let io = Io::start()?;
        let session = io.run(Session::open(options)).await?;
        Ok(Self {
            session: Arc::new(session),
            io,
        })
    }

    /// Runs a call on the thread that runs the connections.
    fn run<T, F>(
        &self,
        call: impl FnOnce(Arc<Session>) -> F,
    ) -> BoxFuture<'_, Result<T, StoreError>>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, CallError>> + Send + 'static,
    {
        let session = self.session.clone();
        let call = call(session.clone());
        Box::pin(self.io.run(async move {
            match call.await {
                Ok(answer) => Ok(answer),
                Err(call_error) => Err(session.store_error(call_error).await),
            }
        }))
    }
}

impl std::fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PostgresStore({})", self.session.schema)
    }
}

impl Store for PostgresStore {
    fn commit<'a>(
        &'a self,
        batch: &'a [Commit],
    ) -> BoxFuture<'a, Result<Vec<Outcome>, StoreError>> {
        Box::pin(commit::commit(&self.io, &self.session, batch))
    }

    fn head(&self, stream: StreamRef) -> BoxFuture<'_, Result<Option<Head>, StoreError>> {
        self.run(|session| async move { reading::head(&session, stream).await })
    }

    fn read(&self, request: ReadRequest) -> BoxFuture<'_, Result<Option<Page>, StoreError>> {
        self.run(move |session| async move { reading::read(&session, request).await })
    }

    fn list(&self, query: ListQuery) -> BoxFuture<'_, Result<ListPage, StoreError>> {
        self.run(|session| async move { list::page(&session, query).await })
    }

    fn count(&self, query: ListQuery) -> BoxFuture<'_, Result<Count, StoreError>> {
        self.run(|session| async move { count::count(&session, query).await })
    }

    fn rows(&self, range: RowRange) -> BoxFuture<'_, Result<Vec<SharedRow>, StoreError>> {
        self.run(|session| async move { ranges::rows(&session, range).await })
    }

    fn timers(&self, query: TimerQuery) -> BoxFuture<'_, Result<Vec<TimerRow>, StoreError>> {
        self.run(|session| async move { due::timers(&session, query).await })
    }

    fn ready(
        &self,
        after: Option<StreamNumber>,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<ReadyRun>, StoreError>> {
        self.run(move |session| async move { due::ready(&session, after, limit).await })
    }

    fn outbox(
        &self,
        after: Option<(StreamNumber, String)>,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<OutboxRow>, StoreError>> {
        self.run(move |session| async move { due::outbox(&session, after, limit).await })
    }

    fn row(&self, key: RowKey) -> BoxFuture<'_, Result<Option<Row>, StoreError>> {
        self.run(|session| async move { reading::row(&session, key).await })
    }

    fn renew(&self, lease: Lease) -> BoxFuture<'_, Result<(), StoreError>> {
        self.run(move |session| async move { renew(session, lease).await })
    }

    fn retire(&self, id: NodeId) -> BoxFuture<'_, Result<(), StoreError>> {
        self.run(move |session| async move {
            let statement = format!("SELECT {}($1)::text", session.function("retire_node"));
            let id = node(id);
            session.reads.read(&statement, &arguments![id]).await?;
            Ok(())
        })
    }

    fn describe(&self) -> Description {
        Description {
            name: "postgres",
            durability: "crashes of every process and of the server, if its disk keeps what was synced; the loss of \
                         the server only with a synchronous standby",
            exclusive: false,
            spans_processes: true,
        }
    }

    fn host(&self, committer: BoxFuture<'static, ()>) -> Option<BoxFuture<'static, ()>> {
        self.io.spawn(committer);
        None
    }
}

/// Renews a lease. A renewal can be repeated, so a lost connection does no harm.
async fn renew(session: Arc<Session>, lease: Lease) -> Result<(), CallError> {
    let statement = format!("SELECT {}($1, $2, $3)", session.function("renew_lease"));
    let id = node(lease.node);
    let ttl = i64::try_from(lease.ttl.as_millis()).unwrap_or(i64::MAX);
    loop {
        let now = session.now();
        let arguments = arguments![now, id, ttl];
        match session.reads.read(&statement, &arguments).await {
            Ok(has_garbage) => {
                if is_true(&has_garbage) {
                    tokio::spawn(session.clone().clear_garbage());
                }
                return Ok(());
            }
            Err(CallError::HistoryChanged) => session.adopt_history().await?,
            Err(call_error) => return Err(call_error),
        }
    }
}
