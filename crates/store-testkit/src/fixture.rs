//! A store under test, its clock, and short methods for frequent calls.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use everstep_model::{Entry, NodeId, Nonce, RecordNumber, StreamName, StreamNumber, Timestamp};
use everstep_store::{
    Claim, Clock, Commit, Fence, Head, InboxLease, Lease, ListPage, ListQuery, OutboxRow, Outcome,
    Page, ReadRequest, ReadyRun, Refusal, Row, RowKey, RowRange, SharedRow, Store, StreamRef,
    TimerQuery, TimerRow,
};

use crate::block_on::block_on;
use crate::clock::TestClock;
use crate::sample;

/// The storage behind a store. After the store is dropped and opened again, it must contain all
/// acknowledged data.
pub trait Reopen {
    type Store: Store;
    /// Opens the store. The previous one has been dropped.
    fn open(&self) -> Self::Store;
}

/// A store under test.
#[derive(Debug)]
pub struct Fixture<S> {
    pub store: S,
    /// The store's own clock.
    pub clock: Arc<TestClock>,
}

/// The future of a case.
pub type Case<'a> = Pin<Box<dyn Future<Output = ()> + 'a>>;

/// Builds a batch of commits of several kinds.
#[macro_export]
macro_rules! batch {
    ($($commit:expr),* $(,)?) => {
        vec![$(::everstep_store::Commit::from($commit)),*]
    };
}

/// Runs one case on a fresh store. The guard is dropped after the store.
pub fn run_case<S: Store, G>(
    open: impl FnOnce(Arc<dyn Clock>) -> (S, G),
    case: impl for<'a> FnOnce(&'a Fixture<S>) -> Case<'a>,
) {
    let clock = Arc::new(TestClock::new());
    let (store, guard) = open(clock.clone());
    let fixture = Fixture { store, clock };
    block_on(case(&fixture));
    drop(fixture);
    drop(guard);
}

/// Runs one case of reopening on fresh storage.
pub fn run_reopening<R: Reopen>(
    storage: impl FnOnce(Arc<dyn Clock>) -> R,
    case: impl for<'a> FnOnce(&'a R, Arc<TestClock>) -> Case<'a>,
) {
    let clock = Arc::new(TestClock::new());
    let storage = storage(clock.clone());
    block_on(case(&storage, clock));
}

impl<S: Store> Fixture<S> {
    /// Opens a storage.
    pub fn open(storage: &impl Reopen<Store = S>, clock: &Arc<TestClock>) -> Self {
        Self {
            store: storage.open(),
            clock: clock.clone(),
        }
    }

    /// The time.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Commits a batch.
    pub async fn commit(&self, batch: Vec<impl Into<Commit>>) -> Vec<Outcome> {
        let batch: Vec<Commit> = batch.into_iter().map(Into::into).collect();
        let expected = batch.len();
        let outcomes = self.store.commit(&batch).await.unwrap();
        assert_eq!(outcomes.len(), expected, "one outcome per commit");
        outcomes
    }

    /// Commits a batch of one.
    pub async fn commit_one(&self, commit: impl Into<Commit>) -> Outcome {
        self.commit(vec![commit]).await.remove(0)
    }

    /// Commits one that must be accepted; gives the number of its first record.
    pub async fn accept(&self, commit: impl Into<Commit>) -> RecordNumber {
        match self.commit_one(commit).await {
            Outcome::Committed { first, .. } => first,
            other => panic!("not committed: {other:?}"),
        }
    }

    /// Sends a commit that must be refused, and returns the reason.
    pub async fn refuse(&self, commit: impl Into<Commit>) -> Refusal {
        match self.commit_one(commit).await {
            Outcome::Refused(refusal) => refusal,
            other => panic!("not refused: {other:?}"),
        }
    }

    /// Sends a commit that must be a duplicate. Returns the first record of the original and the
    /// records before it.
    pub async fn repeat(&self, commit: impl Into<Commit>) -> (RecordNumber, Vec<Entry>) {
        match self.commit_one(commit).await {
            Outcome::Duplicate { first, before, .. } => (first, before),
            other => panic!("not a duplicate: {other:?}"),
        }
    }

    /// Creates a stream with one `created` record and no list row.
    pub async fn create(&self, name: &str) -> StreamNumber {
        self.create_with(sample::creation(name)).await
    }

    /// Sends a creation that must succeed.
    pub async fn create_with(&self, commit: impl Into<Commit>) -> StreamNumber {
        match self.commit_one(commit).await {
            Outcome::Committed { stream, .. } => stream,
            other => panic!("not created: {other:?}"),
        }
    }

    pub async fn renew(&self, node: NodeId, ttl: Duration) {
        self.store.renew(Lease { node, ttl }).await.unwrap();
    }

    /// Creates a stream with one record and claims it for [`sample::NODE`].
    pub async fn create_claimed(&self, name: &str) -> (StreamNumber, Fence) {
        let stream = self.create(name).await;
        let fence = self.take(stream, sample::NODE, sample::NONCE).await;
        (stream, fence)
    }

    /// Claims a run, which must be free, and renews the lease of the node for a minute.
    pub async fn take(&self, stream: StreamNumber, node: NodeId, nonce: Nonce) -> Fence {
        let fence = self.try_take(stream, node, nonce).await.expect("free");
        self.renew(node, Duration::from_secs(60)).await;
        fence
    }

    /// Claims a run. Returns `None` if another node holds it.
    pub async fn try_take(
        &self,
        stream: StreamNumber,
        node: NodeId,
        nonce: Nonce,
    ) -> Option<Fence> {
        let mut claim = sample::inbox(stream, vec![]);
        claim.lease = InboxLease::Claim(Claim { node, nonce });
        match self.commit_one(claim).await {
            Outcome::Committed { taken, .. } => taken,
            other => panic!("not committed: {other:?}"),
        }
    }

    /// Returns the head of a stream that must exist.
    pub async fn head(&self, stream: StreamNumber) -> Head {
        let head = self.store.head(StreamRef::Number(stream)).await.unwrap();
        head.expect("the stream exists")
    }

    /// Returns the head of a stream by name.
    pub async fn head_of(&self, name: &str) -> Option<Head> {
        let name = StreamName::from_stored(name);
        self.store.head(StreamRef::Name(name)).await.unwrap()
    }

    /// Returns one page of a stream that must exist.
    pub async fn page(&self, stream: StreamNumber, from: u64, limit: usize) -> Page {
        let request = ReadRequest {
            stream,
            from: RecordNumber(from),
            limit,
            bytes: usize::MAX,
        };
        let page = self.store.read(request).await.unwrap();
        page.expect("the stream exists")
    }

    /// Reads all records of a stream in pages of three.
    pub async fn entries(&self, stream: StreamNumber) -> Vec<Entry> {
        let mut entries: Vec<Entry> = Vec::new();
        loop {
            let from = entries.last().map_or(0, |last| last.number.0 + 1);
            let page = self.page(stream, from, 3).await;
            if page.entries.is_empty() {
                return entries;
            }
            entries.extend(page.entries);
        }
    }

    /// Returns the numbers of all records of a stream.
    pub async fn numbers(&self, stream: StreamNumber) -> Vec<u64> {
        let entries = self.entries(stream).await;
        entries.iter().map(|entry| entry.number.0).collect()
    }

    pub async fn list(&self, query: ListQuery) -> ListPage {
        self.store.list(query).await.unwrap()
    }

    /// Returns all timers that are due by `until`.
    pub async fn timers(&self, until: Timestamp) -> Vec<TimerRow> {
        let query = TimerQuery {
            until,
            after: None,
            limit: 1_000,
        };
        self.store.timers(query).await.unwrap()
    }

    pub async fn ready(&self) -> Vec<ReadyRun> {
        self.store.ready(None, 1_000).await.unwrap()
    }

    pub async fn outbox(&self) -> Vec<OutboxRow> {
        self.store.outbox(None, 1_000).await.unwrap()
    }

    pub async fn rows(&self, range: RowRange) -> Vec<SharedRow> {
        self.store.rows(range).await.unwrap()
    }

    pub async fn row(&self, key: RowKey) -> Option<Row> {
        self.store.row(key).await.unwrap()
    }
}
