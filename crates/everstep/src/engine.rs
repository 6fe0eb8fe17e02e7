//! Configures and opens an engine in this process.

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use everstep_engine::{
    CodedError, Emissions, EngineParts, FailureEvent, FailureHook, Retention, Roles, Runtime,
    Settings, Stats, TokioRuntime, Unavailable, Worker,
};
use everstep_model::{ErrorCode, Name, RecordFeed, RunId};
use everstep_store::{Bus, Clock, LocalBus, MemoryStore, Store, StoreError};

use crate::client::Client;
use crate::declaration::Declaration;
use crate::execution::Mocks;
use crate::options::Options;
use crate::workflow::{RegisterError, Registry, Workflows};

/// Why an engine could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages explain the variants")]
pub enum OpenError {
    #[error(transparent)]
    Workflows(#[from] RegisterError),
    #[error("an engine must be opened inside a tokio runtime")]
    NoRuntime,
    /// The store could not be opened.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The state in the store could not be recovered.
    #[error(transparent)]
    Engine(#[from] Unavailable),
}

impl OpenError {
    /// Returns the stable code of the error.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Workflows(error) => error.code(),
            Self::NoRuntime => ErrorCode::InvalidOptions,
            Self::Store(error) => error.code(),
            Self::Engine(error) => error.code(),
        }
    }
}

/// Executes workflows. Clones share one engine, which runs until it is shut down.
#[derive(Clone)]
pub struct Engine {
    pub(crate) inner: everstep_engine::Engine,
    pub(crate) registry: Arc<Registry>,
    client: Client,
}

/// The client of the engine's own runs.
impl Deref for Engine {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.inner.fmt(f)
    }
}

/// Where an engine stores its runs.
#[derive(Clone)]
pub(crate) enum Storage {
    #[cfg(feature = "embedded")]
    Directory(std::path::PathBuf),
    Memory,
    Store(Arc<dyn Store>),
}

impl Storage {
    pub(crate) fn open(self, clock: Arc<dyn Clock>) -> Result<Arc<dyn Store>, StoreError> {
        Ok(match self {
            #[cfg(feature = "embedded")]
            Self::Directory(path) => {
                Arc::new(everstep_store_embedded::EmbeddedStore::open(path, clock)?)
            }
            Self::Memory => Arc::new(MemoryStore::new(clock)),
            Self::Store(store) => store,
        })
    }
}

/// Configures an [`Engine`].
#[derive(Clone)]
#[must_use = "nothing runs until it is started"]
pub struct EngineBuilder {
    pub(crate) storage: Storage,
    pub(crate) settings: Settings,
    pub(crate) defaults: Options,
    pub(crate) workflows: Workflows,
    mocks: Option<Arc<dyn Mocks>>,
    bus: Option<Arc<dyn Bus>>,
    runtime: Option<Arc<dyn Runtime>>,
    failure_hooks: Vec<FailureHook>,
}

/// The underlying engine, for servers.
impl AsRef<everstep_engine::Engine> for Engine {
    fn as_ref(&self) -> &everstep_engine::Engine {
        &self.inner
    }
}

impl Engine {
    /// Configures an engine that stores its runs in a directory, which is created if it does not
    /// exist.
    #[cfg(feature = "embedded")]
    #[allow(clippy::new_ret_no_self, reason = "opening needs the workflows first")]
    pub fn open(path: impl Into<std::path::PathBuf>) -> EngineBuilder {
        EngineBuilder::new(Storage::Directory(path.into()))
    }

    /// Configures an engine that stores its runs in memory.
    pub fn in_memory() -> EngineBuilder {
        EngineBuilder::new(Storage::Memory)
    }

    /// Configures an engine with another store.
    pub fn on_store(store: Arc<dyn Store>) -> EngineBuilder {
        EngineBuilder::new(Storage::Store(store))
    }

    /// Shuts the engine down: it accepts nothing new, lets steps finish, and releases its runs.
    pub async fn shutdown(&self) {
        self.inner.shutdown().await;
    }

    /// Completes when the store accepts no more writes, for instance because its disk was full. The
    /// program should then shut the engine down and end with an error, so that a supervisor starts
    /// it again, or open a new engine. Nothing that was acknowledged is lost.
    pub async fn store_ended(&self) -> StoreError {
        self.inner.store_ended().await
    }

    /// Subscribes to what workflows emit from now on. Best effort: a subscriber that falls far
    /// behind misses some.
    #[must_use]
    pub fn subscribe(&self) -> Emissions {
        self.inner.emissions()
    }

    /// Returns the number of runs in memory.
    #[must_use]
    pub fn hot_runs(&self) -> usize {
        self.inner.hot_runs()
    }

    /// Returns what the engine has done since it was opened, as counts.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.inner.stats()
    }

    /// Deletes the finished runs whose retention has expired. Returns their ids.
    pub async fn apply_retention(&self) -> Result<Vec<RunId>, Unavailable> {
        self.inner.apply_retention().await
    }

    /// Replaces the client, so that requests do not go directly to the engine.
    #[cfg(feature = "testing")]
    pub(crate) fn with_client(self, client: Client) -> Self {
        Self { client, ..self }
    }

    /// Returns the declaration of a workflow that is registered here.
    #[must_use]
    pub fn declaration(&self, workflow: &Name) -> Option<&Declaration> {
        self.registry
            .find(workflow)
            .map(|definition| &*definition.declaration)
    }
}

impl EngineBuilder {
    fn new(storage: Storage) -> Self {
        Self {
            storage,
            settings: Settings::default(),
            defaults: Options::new(),
            workflows: Workflows::new(),
            mocks: None,
            bus: None,
            runtime: None,
            failure_hooks: Vec::new(),
        }
    }

    /// Registers workflows. A second call adds to the first.
    pub fn workflows(mut self, workflows: Workflows) -> Self {
        self.workflows = self.workflows.and(workflows);
        self
    }

    /// Sets defaults for all steps and runs.
    pub fn defaults(mut self, defaults: Options) -> Self {
        self.defaults = defaults;
        self
    }

    /// Replays each activation a second time, and parks runs whose code behaves differently then.
    /// For development.
    pub fn development(mut self, development: bool) -> Self {
        self.settings.development = development;
        self
    }

    /// Limits how many suspended runs stay in memory, and for how long.
    pub fn hot_runs(mut self, max: usize, idle_max: Duration) -> Self {
        self.settings.hot_runs_max = max;
        self.settings.hot_idle_max = idle_max;
        self
    }

    /// Sets how long finished runs are kept. By default, they are kept forever.
    pub fn retention(mut self, retention: Retention) -> Self {
        self.settings.retention = retention;
        self
    }

    /// Writes these feeds, which [`Client::feed`] and `/v1/stream/__ds/feeds/{feed}` read. A commit
    /// with a record for a feed is followed by another, so an engine has no feeds by default. All
    /// engines on a store need the same.
    pub fn feeds(mut self, feeds: impl IntoIterator<Item = RecordFeed>) -> Self {
        self.settings.feeds = feeds.into_iter().collect();
        self
    }

    /// Sets the approximate number of bytes of a journal above which this node does not execute or
    /// copy a run, because that would use up its memory. Such a run is paused with the code
    /// `journal_too_large`, and other runs go on. The default is 1 GiB.
    pub fn journal_bytes_max(mut self, bytes: u64) -> Self {
        self.settings.journal_bytes_max = bytes;
        self
    }

    /// Sets the roles of this node. The default is all of them. If a node has only some roles,
    /// other nodes on the same store must have the rest.
    ///
    /// ```
    /// use everstep::{Engine, Role};
    ///
    /// let executes = Engine::in_memory().roles([Role::Worker, Role::Timers]);
    /// ```
    pub fn roles(mut self, roles: impl Into<Roles>) -> Self {
        self.settings.roles = roles.into();
        self
    }

    /// Replaces all settings.
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// Calls `hook` once for each failed attempt of a step or undo and for each failed run, after
    /// the failure is durable. The hook runs on its own task and should be quick; a panic in it has
    /// no effect.
    pub fn on_failure(mut self, hook: impl Fn(&FailureEvent) + Send + Sync + 'static) -> Self {
        self.failure_hooks.push(Arc::new(hook));
        self
    }

    /// Sets the bus to other engines on the same store.
    pub fn bus(mut self, bus: Arc<dyn Bus>) -> Self {
        self.bus = Some(bus);
        self
    }

    /// Replaces tokio and the system as the source of time, randomness and tasks.
    pub fn runtime(mut self, runtime: Arc<dyn Runtime>) -> Self {
        self.runtime = Some(runtime);
        self
    }

    #[cfg(feature = "testing")]
    pub(crate) fn mocks(mut self, mocks: Arc<dyn Mocks>) -> Self {
        self.mocks = Some(mocks);
        self
    }

    /// Opens the engine and continues the runs in its store.
    ///
    /// # Errors
    /// If a workflow is invalid, or the store cannot be opened.
    pub async fn start(self) -> Result<Engine, OpenError> {
        let definitions = self.workflows.check(self.defaults)?;
        let runtime = match self.runtime {
            Some(runtime) => runtime,
            None => Arc::new(TokioRuntime::current().map_err(|_| OpenError::NoRuntime)?),
        };
        let store = self.storage.open(runtime.clone())?;
        let registry = Arc::new(Registry::new(definitions, self.mocks));
        let inner = everstep_engine::Engine::open(EngineParts {
            store,
            bus: self.bus.unwrap_or_else(|| Arc::new(LocalBus::new())),
            runtime,
            settings: self.settings,
            workers: vec![registry.clone() as Arc<dyn Worker>],
            failure_hooks: self.failure_hooks,
        })
        .await?;
        Ok(Engine {
            client: Client::new(Arc::new(inner.clone())),
            inner,
            registry,
        })
    }
}

impl std::fmt::Debug for EngineBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "EngineBuilder({} workflows)", self.workflows.len())
    }
}
