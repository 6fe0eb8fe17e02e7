//! A namespace for each test, on a server that all tests share.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use everstep_model::{NodeId, Record, StreamName, StreamNumber};
use everstep_private_postgres::Server;
use everstep_store::{Clock, Commit, CommitId, Outcome, ReadRequest, Store, StoreError, StreamRef};
use everstep_store_postgres::{Options, PostgresStore};
use everstep_store_testkit::{Reopen, block_on, sample};
use tokio_postgres::{Client, NoTls};

/// An installation for one test.
#[derive(Clone)]
pub(crate) struct Installation {
    url: String,
    namespace: String,
    clock: Option<Arc<dyn Clock>>,
}

impl Installation {
    /// On the shared server. The database judges leases.
    pub(crate) fn new() -> Self {
        Self::on(Server::shared())
    }

    /// On another server.
    pub(crate) fn on(server: &Server) -> Self {
        Self::at(server.url())
    }

    /// At this address.
    pub(crate) fn at(url: String) -> Self {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        Self {
            url,
            namespace: format!("test_{number}"),
            clock: None,
        }
    }

    /// On the shared server. This clock judges leases.
    pub(crate) fn with_clock(clock: Arc<dyn Clock>) -> Self {
        Self::new().judged_by(clock)
    }

    /// Judges leases by this clock.
    pub(crate) fn judged_by(self, clock: Arc<dyn Clock>) -> Self {
        let clock = Some(clock);
        Self { clock, ..self }
    }

    pub(crate) fn options(&self) -> Options {
        // Identifies its connections.
        let url = format!("{}?application_name={}", self.url, self.namespace);
        let options = Options::new(&url).unwrap();
        let options = options.namespace(&self.namespace).unwrap();
        match &self.clock {
            Some(clock) => options.lease_clock(clock.clone()),
            None => options,
        }
    }

    pub(crate) async fn store(&self) -> Arc<PostgresStore> {
        Arc::new(PostgresStore::open(self.options()).await.unwrap())
    }

    /// A separate connection, whose search path is the schema.
    pub(crate) async fn sql(&self) -> Client {
        let (client, connection) = tokio_postgres::connect(&self.url, NoTls).await.unwrap();
        tokio::spawn(connection);
        let path = format!("SET search_path = {}", self.namespace);
        client.batch_execute(&path).await.unwrap();
        client
    }

    pub(crate) fn namespace(&self) -> &str {
        &self.namespace
    }
}

impl Reopen for Installation {
    type Store = PostgresStore;

    fn open(&self) -> PostgresStore {
        block_on(PostgresStore::open(self.options())).unwrap()
    }
}

/// Runs a test on several threads.
pub(crate) fn in_parallel(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    runtime.unwrap().block_on(test);
}

/// Numbers commits and sends them until their outcome is known, like the engine's committer.
pub(crate) struct Sender {
    store: Arc<PostgresStore>,
    node: NodeId,
    sent: u64,
    /// The number of repeated batches.
    pub(crate) repeated: u64,
}

impl Sender {
    pub(crate) fn new(store: Arc<PostgresStore>) -> Self {
        static NODES: AtomicU64 = AtomicU64::new(1);
        Self {
            store,
            node: NodeId(NODES.fetch_add(1, Ordering::Relaxed)),
            sent: 0,
            repeated: 0,
        }
    }

    pub(crate) fn node(&self) -> NodeId {
        self.node
    }

    /// The id of the last commit.
    pub(crate) fn last_id(&self) -> CommitId {
        CommitId {
            node: self.node,
            number: self.sent,
        }
    }

    pub(crate) async fn send(&mut self, batch: Vec<impl Into<Commit>>) -> Vec<Outcome> {
        let mut batch: Vec<Commit> = batch.into_iter().map(Into::into).collect();
        for commit in &mut batch {
            self.sent += 1;
            commit.set_id(self.last_id());
        }
        loop {
            match self.store.commit(&batch).await {
                Ok(outcomes) => return outcomes,
                Err(StoreError::Unavailable { .. }) => {
                    self.repeated += 1;
                    tokio::task::yield_now().await;
                }
                Err(error) => panic!("{error}"),
            }
        }
    }

    /// Sends one commit.
    pub(crate) async fn send_one(&mut self, commit: impl Into<Commit>) -> Outcome {
        self.send(vec![commit]).await.remove(0)
    }
}

/// Creates streams of these names.
pub(crate) async fn create(store: &PostgresStore, names: &[&str]) -> Vec<StreamNumber> {
    let creations: Vec<Commit> = names
        .iter()
        .map(|name| sample::creation(name).into())
        .collect();
    let outcomes = store.commit(&creations).await.unwrap();
    let created = outcomes.into_iter().map(|outcome| match outcome {
        Outcome::Committed { stream, .. } => stream,
        other => panic!("not created: {other:?}"),
    });
    created.collect()
}

/// Reads all records of a stream, which must have no gaps.
pub(crate) async fn records(store: &PostgresStore, stream: StreamNumber) -> Vec<Record> {
    let head = store
        .head(StreamRef::Number(stream))
        .await
        .unwrap()
        .unwrap();
    let mut records = Vec::new();
    while (records.len() as u64) < head.next.0 {
        let request = ReadRequest {
            stream,
            from: everstep_model::RecordNumber(records.len() as u64),
            limit: 1_000,
            bytes: usize::MAX,
        };
        let page = store.read(request).await.unwrap().unwrap();
        assert!(!page.entries.is_empty(), "a gap at {}", records.len());
        for entry in page.entries {
            assert_eq!(
                entry.number.0,
                records.len() as u64,
                "numbered without gaps"
            );
            records.push(entry.record);
        }
    }
    records
}

/// The number of the stream with this name.
pub(crate) async fn number_of(store: &PostgresStore, name: &str) -> Option<StreamNumber> {
    let name = StreamRef::Name(StreamName::from_stored(name));
    let head = store.head(name).await.unwrap();
    head.map(|head| head.number)
}
