//! Worlds whose store is a PostgreSQL database. Workflows, calls, crashes and checks are the same;
//! `check::restoring` compares the database with the memory store.
//!
//! The server is private and syncs nothing: nodes crash here, the server does not. A namespace is
//! emptied and used again by the next world, because creating one takes longer than most cases.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use everstep_private_postgres::Server;
use everstep_store::{Clock, Store};
use everstep_store_postgres::{Options, PostgresStore};
use everstep_store_testkit::Blocking;
use tokio::runtime::Runtime;
use tokio_postgres::{Client, NoTls};

use crate::stores::{ReplaceableClock, Stores};

/// Removes all data, including the sequence of stream numbers.
const EMPTY: &str = "DELETE FROM streams; DELETE FROM runs; DELETE FROM tags; DELETE FROM frames; DELETE FROM rows; \
    DELETE FROM nodes; DELETE FROM answers; DELETE FROM garbage; SELECT setval('numbers', 1, false);";

/// Settings for speed. Acknowledged data need not survive a power loss here.
const QUICK: [(&str, &str); 3] = [
    ("fsync", "off"),
    ("synchronous_commit", "off"),
    ("full_page_writes", "off"),
];

/// A server with its namespaces.
pub(super) struct OnPostgres {
    server: Server,
    made: AtomicU64,
    /// A namespace is free if no world has its store.
    namespaces: Mutex<Vec<Arc<Namespace>>>,
}

struct Namespace {
    store: Arc<Blocking>,
    /// The clock of the simulation that uses the namespace.
    clock: Arc<ReplaceableClock>,
    runtime: Runtime,
    sql: Client,
}

impl OnPostgres {
    pub(super) fn start() -> Self {
        Self {
            server: Server::start(&QUICK),
            made: AtomicU64::new(0),
            namespaces: Mutex::default(),
        }
    }

    fn make(&self, clock: Arc<dyn Clock>) -> Result<Namespace, String> {
        let number = self.made.fetch_add(1, Ordering::Relaxed);
        let name = format!("world_{number}");
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .map_err(|error| error.to_string())?;
        let clock = Arc::new(ReplaceableClock::new(clock));
        let options = Options::new(&self.server.url()).and_then(|it| it.namespace(&name));
        let options = options.map_err(|error| error.to_string())?;
        let options = options.allow_lossy(true).lease_clock(clock.clone());
        let store = runtime.block_on(PostgresStore::open(options));
        let store = store.map_err(|error| error.to_string())?;
        let sql = runtime.block_on(async {
            let (client, connection) = tokio_postgres::connect(&self.server.url(), NoTls).await?;
            tokio::spawn(connection);
            let path = format!("SET search_path = {name}");
            client.batch_execute(&path).await?;
            Ok::<_, tokio_postgres::Error>(client)
        });
        Ok(Namespace {
            store: Arc::new(Blocking::new(store)),
            clock,
            runtime,
            sql: sql.map_err(|error| error.to_string())?,
        })
    }

    /// Returns a free namespace. Holding its store reserves it.
    fn free(&self) -> Option<(Arc<Namespace>, Arc<dyn Store>)> {
        let namespaces = lock(&self.namespaces);
        let free = namespaces
            .iter()
            .find(|namespace| Arc::strong_count(&namespace.store) == 1)?;
        Some((free.clone(), free.store.clone()))
    }

    fn try_empty(&self, clock: Arc<dyn Clock>) -> Result<Arc<dyn Store>, String> {
        if let Some((namespace, store)) = self.free() {
            namespace.clock.replace(clock);
            let emptied = namespace.sql.batch_execute(EMPTY);
            let emptied = namespace.runtime.block_on(emptied);
            return emptied.map(|()| store).map_err(|error| error.to_string());
        }
        let namespace = self.make(clock)?;
        let store = namespace.store.clone();
        lock(&self.namespaces).push(Arc::new(namespace));
        Ok(store)
    }
}

impl Stores for OnPostgres {
    /// # Panics
    /// If the database is not available.
    fn empty(&self, clock: Arc<dyn Clock>) -> Arc<dyn Store> {
        self.try_empty(clock)
            .unwrap_or_else(|error| panic!("no database for a world: {error}"))
    }
}

fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
