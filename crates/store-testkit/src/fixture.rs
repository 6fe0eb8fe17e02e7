//! What a case is given: a fresh store, the clock it judges leases by, and short words for what
//! cases do all the time.

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

/// A place that keeps a store's data: opened, dropped and opened again, it must hold what was
/// acknowledged.
pub trait Reopen {
    /// The store.
    type Store: Store;
    /// Opens it; the previous opening has been dropped.
    fn open(&self) -> Self::Store;
}

/// A store under test.
#[derive(Debug)]
pub struct Fixture<S> {
    /// The store.
    pub store: S,
    /// Its clock.
    pub clock: Arc<TestClock>,
}

/// A case as the macros call it.
pub type Case<'a> = Pin<Box<dyn Future<Output = ()> + 'a>>;

/// Commits of several kinds as one batch.
#[macro_export]
macro_rules! batch {
    ($($commit:expr),* $(,)?) => {
        vec![$(::everstep_store::Commit::from($commit)),*]
    };
}

/// Runs one case on a fresh store. The guard lives until the case is over and the store is dropped.
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

/// Runs one reopening case on a fresh place.
pub fn run_reopening<R: Reopen>(
    place: impl FnOnce(Arc<dyn Clock>) -> R,
    case: impl for<'a> FnOnce(&'a R, Arc<TestClock>) -> Case<'a>,
) {
    let clock = Arc::new(TestClock::new());
    let place = place(clock.clone());
    block_on(case(&place, clock));
}

impl<S: Store> Fixture<S> {
    /// Opens a place.
    pub fn open(place: &impl Reopen<Store = S>, clock: &Arc<TestClock>) -> Self {
        Self {
            store: place.open(),
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

    /// Commits one that must be refused; gives the reason.
    pub async fn refuse(&self, commit: impl Into<Commit>) -> Refusal {
        match self.commit_one(commit).await {
            Outcome::Refused(refusal) => refusal,
            other => panic!("not refused: {other:?}"),
        }
    }

    /// Creates a stream with one `created` record and no list row.
    pub async fn create(&self, name: &str) -> StreamNumber {
        self.create_with(sample::creation(name)).await
    }

    /// Creates a stream by this commit.
    pub async fn create_with(&self, commit: impl Into<Commit>) -> StreamNumber {
        match self.commit_one(commit).await {
            Outcome::Committed { stream, .. } => stream,
            other => panic!("not created: {other:?}"),
        }
    }

    /// A node shows that it lives.
    pub async fn renew(&self, node: NodeId, ttl: Duration) {
        self.store.renew(Lease { node, ttl }).await.unwrap();
    }

    /// Takes the right to execute, which must be free, for a node that is then alive for a minute.
    pub async fn take(&self, stream: StreamNumber, node: NodeId, nonce: Nonce) -> Fence {
        let fence = self.try_take(stream, node, nonce).await.expect("free");
        self.renew(node, Duration::from_secs(60)).await;
        fence
    }

    /// Asks for the right to execute.
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

    /// The head of a stream that exists.
    pub async fn head(&self, stream: StreamNumber) -> Head {
        let head = self.store.head(StreamRef::Number(stream)).await.unwrap();
        head.expect("the stream exists")
    }

    /// The head of a stream by name.
    pub async fn head_of(&self, name: &str) -> Option<Head> {
        let name = StreamName::from_stored(name);
        self.store.head(StreamRef::Name(name)).await.unwrap()
    }

    /// One page of a stream that exists.
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

    /// Every record of a stream, read in pages of three.
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

    /// The numbers of every record of a stream.
    pub async fn numbers(&self, stream: StreamNumber) -> Vec<u64> {
        let entries = self.entries(stream).await;
        entries.iter().map(|entry| entry.number.0).collect()
    }

    /// One page of the list.
    pub async fn list(&self, query: ListQuery) -> ListPage {
        self.store.list(query).await.unwrap()
    }

    /// Timers due by `until`, all of them.
    pub async fn timers(&self, until: Timestamp) -> Vec<TimerRow> {
        let query = TimerQuery {
            until,
            after: None,
            limit: 1_000,
        };
        self.store.timers(query).await.unwrap()
    }

    /// All runs with a ready mark.
    pub async fn ready(&self) -> Vec<ReadyRun> {
        self.store.ready(None, 1_000).await.unwrap()
    }

    /// All effects that are not delivered.
    pub async fn outbox(&self) -> Vec<OutboxRow> {
        self.store.outbox(None, 1_000).await.unwrap()
    }

    /// A range of shared rows.
    pub async fn rows(&self, range: RowRange) -> Vec<SharedRow> {
        self.store.rows(range).await.unwrap()
    }

    /// One row.
    pub async fn row(&self, key: RowKey) -> Option<Row> {
        self.store.row(key).await.unwrap()
    }
}
