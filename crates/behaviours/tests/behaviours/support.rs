//! Shared by the behaviour tests. Every test runs on each store, in virtual time.
//!
//! With `EVERSTEP_TEST_STORE=postgres`, the tests use PostgreSQL on a private server instead of the
//! other stores. Its calls block until they are complete; otherwise the virtual clock would advance
//! while a response is in transit.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use everstep::journal::Timestamp;
use everstep::schemars::{self, JsonSchema};
use everstep::testing::{TestEngine, TestEngineBuilder, VirtualRuntime, virtual_time};
use everstep::{Error, Event, Failure, Payload, Result, RunHandle, WaitError};
use everstep_private_postgres::Server;
use everstep_store::{MemoryStore, OutboxRow, Store, TimerQuery, TimerRow};
use everstep_store_postgres::{self as postgres, PostgresStore};
use everstep_store_testkit::{Blocking, block_on};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The store a test runs on.
pub(crate) enum TestStore {
    Memory(MemoryStore),
    Directory(tempfile::TempDir, Arc<VirtualRuntime>),
    Postgres(Arc<Blocking>),
    /// In memory, with a worker that executes the workflows over HTTP.
    Served(MemoryStore),
}

impl TestStore {
    pub(crate) fn engine(&self) -> TestEngineBuilder {
        let builder = TestEngine::builder();
        match self {
            Self::Memory(store) => builder.store(Arc::new(store.clone())),
            Self::Directory(directory, _) => builder.directory(directory.path()),
            Self::Postgres(store) => builder.store(store.clone()),
            Self::Served(store) => builder
                .store(Arc::new(store.clone()))
                .served(crate::served::serve),
        }
    }

    /// Whether the workflows are in a worker. A server has only the descriptions that the worker
    /// sent, which contain less than the types, and stores them.
    pub(crate) fn is_served(&self) -> bool {
        match self {
            Self::Memory(_) | Self::Postgres(_) => false,
            Self::Directory(..) => false,
            Self::Served(_) => true,
        }
    }

    /// Whether the description of a workflow outlives its worker: a server and nodes with a shared
    /// database store it.
    pub(crate) fn remembers_workflows(&self) -> bool {
        self.is_served() || matches!(self, Self::Postgres(_))
    }

    /// Returns the timers that remain in the store after the engine has shut down.
    pub(crate) async fn timers_left(&self, test: TestEngine) -> Vec<TimerRow> {
        test.shutdown().await;
        drop(test);
        let store = self.open();
        let everything = TimerQuery {
            until: Timestamp::from_millis(u64::MAX),
            after: None,
            limit: usize::MAX,
        };
        store.timers(everything).await.unwrap()
    }

    /// Returns the effects on other runs that remain in the store after the engine has shut down.
    pub(crate) async fn outbox_left(&self, test: TestEngine) -> Vec<OutboxRow> {
        test.shutdown().await;
        drop(test);
        self.open().outbox(None, usize::MAX).await.unwrap()
    }

    /// Opens the store. No engine may have it open.
    pub(crate) fn open(&self) -> Arc<dyn Store> {
        match self {
            Self::Memory(store) => Arc::new(store.clone()),
            Self::Served(store) => Arc::new(store.clone()),
            Self::Directory(directory, clock) => {
                let store =
                    everstep_store_embedded::EmbeddedStore::open(directory.path(), clock.clone());
                Arc::new(store.unwrap())
            }
            Self::Postgres(store) => store.clone(),
        }
    }
}

/// Runs a test in memory, on disk, and with its workflows in a worker; or on PostgreSQL.
pub(crate) fn for_each_store(test: impl AsyncFn(&TestStore)) {
    for_each_store_in_process(&test);
    if !on_postgres() {
        virtual_time(async {
            println!("served");
            let clock = Arc::new(VirtualRuntime::new(0));
            test(&TestStore::Served(MemoryStore::new(clock))).await;
        });
    }
}

/// Runs a test in memory and on disk, or on PostgreSQL, for features that a server with a worker
/// does not have.
pub(crate) fn for_each_store_in_process(test: impl AsyncFn(&TestStore)) {
    if on_postgres() {
        return virtual_time(async { test(&postgres().await).await });
    }
    println!("in memory");
    virtual_time(async {
        let clock = Arc::new(VirtualRuntime::new(0));
        test(&TestStore::Memory(MemoryStore::new(clock))).await;
    });
    virtual_time(async {
        println!("embedded");
        let clock = Arc::new(VirtualRuntime::new(0));
        test(&TestStore::Directory(tempfile::tempdir().unwrap(), clock)).await;
    });
}

/// Whether the tests are to run on PostgreSQL.
fn on_postgres() -> bool {
    std::env::var("EVERSTEP_TEST_STORE").is_ok_and(|store| store == "postgres")
}

/// A PostgreSQL store of the test's own, whose leases are judged by the virtual clock.
async fn postgres() -> TestStore {
    static MADE: AtomicU32 = AtomicU32::new(0);
    let namespace = format!("test_{}", MADE.fetch_add(1, Ordering::Relaxed));
    let options = postgres::Options::new(&Server::shared().url()).unwrap();
    let options = options.namespace(&namespace).unwrap();
    let options = options.lease_clock(Arc::new(VirtualRuntime::new(0)));
    let store = block_on(PostgresStore::open(options)).unwrap();
    TestStore::Postgres(Arc::new(Blocking::new(store)))
}

pub(crate) fn json(value: &(impl Serialize + ?Sized)) -> Payload {
    Payload::from_value(value).unwrap()
}

/// A step's work that succeeds.
pub(crate) async fn ok<T>(value: T) -> Result<T> {
    Ok(value)
}

/// A step's work that fails and may be retried.
pub(crate) async fn fail(message: &str) -> Result<u32> {
    Err(Error::new(message))
}

/// Starts run `r` of workflow `w` without input.
pub(crate) async fn start(test: &TestEngine) -> RunHandle {
    start_with(test, &()).await
}

/// Starts run `r` of workflow `w`.
pub(crate) async fn start_with(test: &TestEngine, input: &(impl Serialize + ?Sized)) -> RunHandle {
    test.start_by_name("w", json(input)).id("r").await.unwrap()
}

/// Crashes and restarts the engine, and returns run `r`.
pub(crate) async fn restart(test: &mut TestEngine) -> RunHandle {
    test.restart().await;
    test.run("r").await.unwrap()
}

/// Returns the result of a run.
pub(crate) async fn output<T: DeserializeOwned>(run: &RunHandle) -> T {
    run.wait_json().await.unwrap().decode().unwrap()
}

/// Returns the failure of a run.
pub(crate) async fn failure(run: &RunHandle) -> Failure {
    match run.wait_json().await {
        Err(WaitError::Failed(failure)) => failure,
        other => panic!("the run did not fail: {other:?}"),
    }
}

/// Values that workflow code observed, over all its executions.
pub(crate) struct Seen<T>(Arc<Mutex<Vec<T>>>);

impl<T> Seen<T> {
    pub(crate) fn new() -> Self {
        Self(Arc::default())
    }

    pub(crate) fn add(&self, value: T) {
        self.0.lock().unwrap().push(value);
    }

    pub(crate) fn take(&self) -> Vec<T> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

impl<T> Clone for Seen<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

/// An event with a number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Ping(pub(crate) u32);

impl Event for Ping {
    const NAME: &'static str = "ping";
}

/// Sends [`Ping`] to an untyped run.
pub(crate) async fn ping(run: &RunHandle, n: u32) {
    run.send_by_name(Ping::NAME, json(&Ping(n)), None)
        .await
        .unwrap();
}
