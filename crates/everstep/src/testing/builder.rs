//! Describes a test engine before it is started.

use std::sync::Arc;
use std::time::Duration;

use everstep_engine::{FailureEvent, FailureHook, Settings};
#[cfg(feature = "remote")]
use everstep_protocol::client::Transport;
use everstep_store::{Clock, MemoryStore, Store, StoreError};

use super::engine::TestEngine;
use super::mock::{Mock, MockedSteps};
use super::runtime::VirtualRuntime;
#[cfg(feature = "remote")]
use crate::engine::Engine;
use crate::engine::EngineBuilder;
use crate::options::Options;
use crate::workflow::Workflows;

/// Where a test engine keeps its runs.
#[derive(Clone)]
pub(super) enum Place {
    /// In this store, which lives on when the process does not.
    Store(Arc<dyn Store>),
    /// In this directory, which is opened anew by each process.
    #[cfg(feature = "embedded")]
    Directory(std::path::PathBuf),
}

impl Place {
    pub(super) fn open(
        &self,
        clock: Arc<dyn Clock>,
    ) -> std::result::Result<Arc<dyn Store>, StoreError> {
        match self {
            Self::Store(store) => {
                drop(clock);
                Ok(store.clone())
            }
            #[cfg(feature = "embedded")]
            Self::Directory(path) => Ok(Arc::new(everstep_store_embedded::EmbeddedStore::open(
                path, clock,
            )?)),
        }
    }
}

/// Describes a [`TestEngine`] before it is started.
#[must_use = "nothing runs until it is started"]
pub struct TestEngineBuilder {
    pub(super) place: Option<Place>,
    pub(super) workflows: Workflows,
    pub(super) settings: Settings,
    pub(super) defaults: Options,
    pub(super) mocks: Arc<MockedSteps>,
    pub(super) failure_hooks: Vec<FailureHook>,
    #[cfg(feature = "remote")]
    pub(super) server: Option<Server>,
    seed: u64,
}

/// Serves an engine, and gives the way to it.
#[cfg(feature = "remote")]
pub(super) type Server = Arc<dyn Fn(&Engine) -> Arc<dyn Transport> + Send + Sync>;

impl TestEngineBuilder {
    pub(super) fn new() -> Self {
        Self {
            place: None,
            workflows: Workflows::new(),
            settings: quiet(),
            defaults: Options::new(),
            mocks: Arc::default(),
            failure_hooks: Vec::new(),
            #[cfg(feature = "remote")]
            server: None,
            seed: 1,
        }
    }

    /// Registers a list of workflows.
    pub fn workflows(mut self, workflows: Workflows) -> Self {
        self.workflows = self.workflows.and(workflows);
        self
    }

    /// Gives the result of a step, named as `charge` or, for one of several, by its place: `charge:1`. Several mocks of
    /// one step follow each other; see [`Mock::times`]. `rollback:charge` is what undoes `charge`.
    pub fn mock_step(self, step: &str, mock: Mock) -> Self {
        self.mocks.add(step.to_owned(), mock);
        self
    }

    /// Defaults of all steps and runs.
    pub fn defaults(mut self, defaults: Options) -> Self {
        self.defaults = defaults;
        self
    }

    /// Calls this for every failure, as [`crate::EngineBuilder::on_failure`] does.
    pub fn on_failure(mut self, hook: impl Fn(&FailureEvent) + Send + Sync + 'static) -> Self {
        self.failure_hooks.push(Arc::new(hook));
        self
    }

    /// Replays each activation a second time and parks runs whose code does something else then.
    pub fn development(mut self) -> Self {
        self.settings.development = true;
        self
    }

    /// Keeps no suspended run in memory: each one is rebuilt from its journal whenever it goes on.
    pub fn evict_all(mut self) -> Self {
        self.settings.hot_runs_max = 0;
        self
    }

    /// Changes the engine's settings. A test engine looks for lost work less often than a real one.
    pub fn settings(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        change(&mut self.settings);
        self
    }

    /// Keeps the runs in a store of your own instead of a new one in memory.
    pub fn store(mut self, store: Arc<dyn Store>) -> Self {
        self.place = Some(Place::Store(store));
        self
    }

    /// Keeps the runs in a directory, as a real engine does.
    #[cfg(feature = "embedded")]
    pub fn directory(mut self, path: impl Into<std::path::PathBuf>) -> Self {
        self.place = Some(Place::Directory(path.into()));
        self
    }

    /// Executes the workflows by a worker that speaks to the engine over this: what serves the engine is called once for each
    /// process.
    #[cfg(feature = "remote")]
    pub fn served(
        mut self,
        server: impl Fn(&Engine) -> Arc<dyn Transport> + Send + Sync + 'static,
    ) -> Self {
        self.server = Some(Arc::new(server));
        self
    }

    /// Has the engine execute the workflows, unless a worker does.
    pub(super) fn register(&self, engine: EngineBuilder) -> EngineBuilder {
        #[cfg(feature = "remote")]
        if self.server.is_some() {
            return engine;
        }
        engine
            .defaults(self.defaults)
            .workflows(self.workflows.clone())
            .mocks(self.mocks.clone())
    }

    /// Where randomness begins; 1 unless said otherwise.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Starts the engine.
    ///
    /// # Panics
    /// Outside [`virtual_time`](super::virtual_time), or if the engine cannot be opened.
    pub async fn start(self) -> TestEngine {
        let runtime = Arc::new(VirtualRuntime::new(self.seed));
        let place = self.place.clone();
        let place =
            place.unwrap_or_else(|| Place::Store(Arc::new(MemoryStore::new(runtime.clone()))));
        TestEngine::open(self, place, runtime).await
    }
}

impl std::fmt::Debug for TestEngineBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TestEngineBuilder({} workflows)", self.workflows.len())
    }
}

/// Settings under which months pass quickly: a lone engine need not prove every few seconds that it lives.
pub(super) fn quiet() -> Settings {
    Settings {
        hot_idle_max: Duration::from_secs(3_600),
        lease_ttl: Duration::from_secs(24 * 3_600),
        sweep_interval: Duration::from_secs(3_600),
        timer_horizon: Duration::from_secs(3_600),
        ..Settings::default()
    }
}
