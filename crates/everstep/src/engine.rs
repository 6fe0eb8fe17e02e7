//! Opening an engine: where it keeps things, which workflows it runs, how it behaves.

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use everstep_engine::{
    CodedError, Emissions, EngineParts, FailureEvent, FailureHook, Retention, Roles, Runtime,
    Settings, TokioRuntime, Unavailable, Worker,
};

use everstep_model::{ErrorCode, Name, RunId};
use everstep_store::{Bus, Clock, LocalBus, MemoryStore, Store, StoreError};

use crate::client::Client;
use crate::declaration::Declaration;
use crate::execution::Mocks;
use crate::options::Options;
use crate::workflow::{RegisterError, Registry, Workflows};

/// Why an engine could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The workflows cannot be executed together.
    #[error(transparent)]
    Workflows(#[from] RegisterError),
    /// There is no tokio runtime here.
    #[error("an engine must be opened inside a tokio runtime")]
    NoRuntime,
    /// The store could not be opened.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The engine could not pick up what was left behind.
    #[error(transparent)]
    Engine(#[from] Unavailable),
}

impl OpenError {
    /// Its stable code.
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

/// Runs workflows. A cheap handle: clones share one engine, which goes on until it is shut down.
#[derive(Clone)]
pub struct Engine {
    pub(crate) inner: everstep_engine::Engine,
    pub(crate) registry: Arc<Registry>,
    client: Client,
}

/// Everything that can be asked of an engine.
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

/// Where an engine keeps everything.
enum Place {
    #[cfg(feature = "embedded")]
    Directory(std::path::PathBuf),
    Memory,
    Store(Arc<dyn Store>),
}

/// Describes an engine before it is opened.
pub struct EngineBuilder {
    place: Place,
    settings: Settings,
    defaults: Options,
    workflows: Workflows,
    mocks: Option<Arc<dyn Mocks>>,
    bus: Option<Arc<dyn Bus>>,
    runtime: Option<Arc<dyn Runtime>>,
    failure_hooks: Vec<FailureHook>,
}

/// The engine below, for what serves it.
impl AsRef<everstep_engine::Engine> for Engine {
    fn as_ref(&self) -> &everstep_engine::Engine {
        &self.inner
    }
}

impl Engine {
    /// An engine that keeps everything in one directory, which is created if it does not exist.
    #[cfg(feature = "embedded")]
    #[allow(clippy::new_ret_no_self, reason = "opening needs the workflows first")]
    pub fn open(path: impl Into<std::path::PathBuf>) -> EngineBuilder {
        EngineBuilder::new(Place::Directory(path.into()))
    }

    /// An engine that keeps everything in memory, and forgets it when it ends.
    #[must_use]
    pub fn in_memory() -> EngineBuilder {
        EngineBuilder::new(Place::Memory)
    }

    /// An engine on a store of your own.
    pub fn on_store(store: Arc<dyn Store>) -> EngineBuilder {
        EngineBuilder::new(Place::Store(store))
    }

    /// Ends the engine in good order: takes nothing new, lets steps finish, releases the rest.
    pub async fn shutdown(&self) {
        self.inner.shutdown().await;
    }

    /// Subscribes to what workflows emit from now on. Best effort: a subscriber that falls far behind
    /// misses some.
    #[must_use]
    pub fn subscribe(&self) -> Emissions {
        self.inner.emissions()
    }

    /// The number of runs in memory.
    #[must_use]
    pub fn hot_runs(&self) -> usize {
        self.inner.hot_runs()
    }

    /// Deletes the finished runs whose retention has expired, now. Returns their ids.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn apply_retention(&self) -> std::result::Result<Vec<RunId>, Unavailable> {
        self.inner.apply_retention().await
    }

    /// The same engine, asked by another way than in this process.
    #[cfg(all(feature = "remote", feature = "testing"))]
    pub(crate) fn asked_by(self, client: Client) -> Self {
        Self { client, ..self }
    }

    /// What a workflow declares about itself, if it is registered here.
    #[must_use]
    pub fn declaration(&self, workflow: &Name) -> Option<&Declaration> {
        self.registry
            .find(workflow)
            .map(|definition| &*definition.declaration)
    }
}

impl EngineBuilder {
    fn new(place: Place) -> Self {
        Self {
            place,
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
    #[must_use]
    pub fn workflows(mut self, workflows: Workflows) -> Self {
        self.workflows = self.workflows.and(workflows);
        self
    }

    /// Defaults of all steps and runs, unless a workflow or step says otherwise.
    #[must_use]
    pub fn defaults(mut self, defaults: Options) -> Self {
        self.defaults = defaults;
        self
    }

    /// Replays each activation a second time and parks runs whose code does something else then. For development.
    #[must_use]
    pub fn development(mut self, development: bool) -> Self {
        self.settings.development = development;
        self
    }

    /// How many suspended runs stay in memory, and for how long.
    #[must_use]
    pub fn hot_runs(mut self, max: usize, idle_max: Duration) -> Self {
        self.settings.hot_runs_max = max;
        self.settings.hot_idle_max = idle_max;
        self
    }

    /// How long finished runs are kept; for ever unless this says otherwise.
    #[must_use]
    pub fn retention(mut self, retention: Retention) -> Self {
        self.settings.retention = retention;
        self
    }

    /// What this node does for its installation; everything unless this says otherwise. Nodes that do a part need others, on
    /// a store that they share, that do the rest.
    ///
    /// ```
    /// use everstep::{Engine, Role};
    ///
    /// let executes = Engine::in_memory().roles([Role::Worker, Role::Timers]);
    /// ```
    #[must_use]
    pub fn roles(mut self, roles: impl Into<Roles>) -> Self {
        self.settings.roles = roles.into();
        self
    }

    /// All settings at once.
    #[must_use]
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// Calls this for every failed attempt of a step or undo and every failed run, once each, after the failure is durable. It is
    /// called from a task of its own and should be quick; a panic in it changes nothing.
    #[must_use]
    pub fn on_failure(mut self, hook: impl Fn(&FailureEvent) + Send + Sync + 'static) -> Self {
        self.failure_hooks.push(Arc::new(hook));
        self
    }

    /// The bus shared with other engines on the same store.
    #[must_use]
    pub fn bus(mut self, bus: Arc<dyn Bus>) -> Self {
        self.bus = Some(bus);
        self
    }

    /// Time, randomness and tasks from somewhere else than tokio and the system.
    #[must_use]
    pub fn runtime(mut self, runtime: Arc<dyn Runtime>) -> Self {
        self.runtime = Some(runtime);
        self
    }

    #[cfg(feature = "testing")]
    pub(crate) fn mocks(mut self, mocks: Arc<dyn Mocks>) -> Self {
        self.mocks = Some(mocks);
        self
    }

    #[cfg(feature = "testing")]
    pub(crate) fn failure_hooks(mut self, hooks: Vec<FailureHook>) -> Self {
        self.failure_hooks = hooks;
        self
    }

    /// Opens the engine and picks up whatever was left behind.
    ///
    /// # Errors
    /// If a workflow is misdeclared, or the store cannot be opened.
    pub async fn start(self) -> std::result::Result<Engine, OpenError> {
        let definitions = self.workflows.check(&self.defaults)?;
        let runtime: Arc<dyn Runtime> = match self.runtime {
            Some(runtime) => runtime,
            None => Arc::new(TokioRuntime::current().map_err(|_| OpenError::NoRuntime)?),
        };
        let clock = Arc::new(RuntimeClock(runtime.clone()));
        let store = open_store(self.place, clock)?;
        let registry = Arc::new(Registry::new(definitions, self.defaults, self.mocks));
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

/// The store's clock is the engine's.
struct RuntimeClock(Arc<dyn Runtime>);

impl Clock for RuntimeClock {
    fn now(&self) -> everstep_model::Timestamp {
        self.0.now()
    }
}

fn open_store(
    place: Place,
    clock: Arc<RuntimeClock>,
) -> std::result::Result<Arc<dyn Store>, StoreError> {
    match place {
        #[cfg(feature = "embedded")]
        Place::Directory(path) => Ok(Arc::new(everstep_store_embedded::EmbeddedStore::open(
            path, clock,
        )?)),
        Place::Memory => Ok(Arc::new(MemoryStore::new(clock))),
        Place::Store(store) => Ok(store),
    }
}
