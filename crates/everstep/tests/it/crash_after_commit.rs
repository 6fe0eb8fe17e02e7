//! The process dies after its n-th commit, for every n: the commit is durable, and nobody hears of it.
//!
//! [`die_after_every_commit`] runs a story again and again on a fresh store. Each time the process ends one commit later,
//! another one opens what is left and the story goes on, until a story needs no more commits than that.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use everstep::testing::{VirtualRuntime, virtual_time};
use everstep::{Engine, EngineBuilder, Settings, millis};
use everstep_model::{NodeId, StreamNumber};
use everstep_store::{
    BoxFuture, Commit, Description, Head, Lease, ListPage, ListQuery, MemoryStore, OutboxRow,
    Outcome, Page, ReadRequest, ReadyRun, Row, RowKey, Store, StoreError, StreamRef, TimerQuery,
    TimerRow,
};
use futures_util::future::{Either, select};
use tokio::sync::Notify;

/// More commits than any story needs.
const COMMITS_MAX: u64 = 500;

/// Longer than any story takes.
const PATIENCE: Duration = Duration::from_secs(1_200);

/// A store whose process dies after so many commits.
pub(crate) struct Mortal {
    inner: Arc<dyn Store>,
    left: AtomicU64,
    /// Told when it does.
    pub(crate) died: Notify,
}

impl Mortal {
    pub(crate) fn new(inner: Arc<dyn Store>, commits: u64) -> Arc<Self> {
        Arc::new(Self {
            inner,
            left: AtomicU64::new(commits),
            died: Notify::new(),
        })
    }
}

impl Store for Mortal {
    /// Commits of a batch take effect one by one, so that a process may die between any two of them.
    fn commit<'a>(
        &'a self,
        batch: &'a [Commit],
    ) -> BoxFuture<'a, Result<Vec<Outcome>, StoreError>> {
        Box::pin(async move {
            let mut outcomes = Vec::new();
            for commit in batch {
                outcomes.extend(self.inner.commit(std::slice::from_ref(commit)).await?);
                if self.left.fetch_sub(1, Ordering::Relaxed) == 1 {
                    self.died.notify_one();
                    std::future::pending::<()>().await;
                }
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

/// Where a story's store lives.
enum Place {
    Memory(MemoryStore),
    #[cfg(feature = "embedded")]
    Directory(tempfile::TempDir),
}

impl Place {
    fn open(&self, process: &Arc<VirtualRuntime>) -> Arc<dyn Store> {
        match self {
            Self::Memory(store) => Arc::new(store.clone()),
            #[cfg(feature = "embedded")]
            Self::Directory(directory) => {
                let clock = process.clone();
                let opened = everstep_store_embedded::EmbeddedStore::open(directory.path(), clock);
                Arc::new(opened.unwrap())
            }
        }
    }
}

/// What happens, and what must be true in the end.
pub(crate) struct Story<Define, Tell> {
    /// Registers the workflows.
    pub(crate) define: Define,
    /// Drives the runs to their end and checks them. It is told again from the beginning after the process died, so it
    /// starts runs by id.
    pub(crate) tell: Tell,
    /// How long the machine is down after the process died.
    pub(crate) downtime: Duration,
}

/// Tells a story on both stores, with the process dying after each of its commits in turn.
pub(crate) fn die_after_every_commit<Define, Tell>(story: &Story<Define, Tell>)
where
    Define: Fn(EngineBuilder) -> EngineBuilder,
    Tell: AsyncFn(Engine),
{
    println!("in memory");
    let stories = (1..COMMITS_MAX).find(|commits| {
        !virtual_time(async {
            let process = Arc::new(VirtualRuntime::new(7));
            let store = MemoryStore::new(process.clone());
            tell_dying_after(story, &Place::Memory(store), process, *commits).await
        })
    });
    let stories = stories.expect("the story never ends");
    println!("it takes {stories} commits");
    #[cfg(feature = "embedded")]
    for commits in 1..stories {
        virtual_time(async {
            let process = Arc::new(VirtualRuntime::new(7));
            let place = Place::Directory(tempfile::tempdir().unwrap());
            tell_dying_after(story, &place, process, commits).await
        });
    }
}

/// Tells the story once; says whether the process died.
async fn tell_dying_after<Define, Tell>(
    story: &Story<Define, Tell>,
    place: &Place,
    process: Arc<VirtualRuntime>,
    commits: u64,
) -> bool
where
    Define: Fn(EngineBuilder) -> EngineBuilder,
    Tell: AsyncFn(Engine),
{
    println!("dying after commit {commits}");
    let store = Mortal::new(place.open(&process), commits);
    let told = async {
        let engine = open(story, store.clone(), process.clone()).await;
        (story.tell)(engine).await;
    };
    let died = store.died.notified();
    let has_died = match select(Box::pin(told), Box::pin(died)).await {
        Either::Left(_) => false,
        Either::Right(_) => true,
    };
    process.crash().await;
    drop(store);
    if !has_died {
        return false;
    }
    tokio::time::sleep(story.downtime).await;
    let process = Arc::new(process.successor());
    let store = place.open(&process);
    let engine = open(story, store.clone(), process.clone()).await;
    let told = (story.tell)(engine.clone());
    let told = tokio::time::timeout(PATIENCE, told).await;
    assert!(told.is_ok(), "the story does not go on");
    tokio::time::sleep(millis(100)).await;
    let left = store.outbox(None, usize::MAX).await.unwrap();
    assert!(left.is_empty(), "not delivered: {left:?}");
    engine.shutdown().await;
    process.crash().await;
    true
}

async fn open<Define, Tell>(
    story: &Story<Define, Tell>,
    store: Arc<dyn Store>,
    process: Arc<VirtualRuntime>,
) -> Engine
where
    Define: Fn(EngineBuilder) -> EngineBuilder,
{
    let settings = Settings {
        lease_ttl: millis(30),
        sweep_interval: millis(20),
        ..Settings::default()
    };
    let builder = Engine::on_store(store).runtime(process).settings(settings);
    (story.define)(builder).start().await.unwrap()
}
