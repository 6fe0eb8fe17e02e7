//! Configures a test engine.

use std::sync::Arc;
use std::time::Duration;

use everstep_engine::{FailureEvent, Settings};
#[cfg(feature = "remote")]
use everstep_protocol::client::Transport;
use everstep_store::{Bus, Store};

use super::mock::{Mock, MockedSteps};
use crate::engine::{Engine, EngineBuilder, Storage};
use crate::options::Options;
use crate::workflow::Workflows;

/// Three years.
const WAIT_LIMIT: Duration = Duration::from_secs(3 * 365 * 24 * 3_600);

/// Configures a [`TestEngine`](super::TestEngine).
#[must_use = "nothing runs until it is started"]
pub struct TestEngineBuilder {
    pub(super) engine: EngineBuilder,
    pub(super) mocks: Arc<MockedSteps>,
    #[cfg(feature = "remote")]
    pub(super) server: Option<Server>,
    pub(super) seed: u64,
    pub(super) reach_limit: Duration,
    pub(super) wait_limit: Duration,
}

/// Serves an engine and returns the transport to it.
#[cfg(feature = "remote")]
pub(super) type Server = Arc<dyn Fn(&Engine) -> Arc<dyn Transport> + Send + Sync>;

impl TestEngineBuilder {
    pub(super) fn new() -> Self {
        let mocks = Arc::<MockedSteps>::default();
        Self {
            engine: Engine::in_memory().settings(quiet()).mocks(mocks.clone()),
            mocks,
            #[cfg(feature = "remote")]
            server: None,
            seed: 1,
            reach_limit: Duration::from_secs(10),
            wait_limit: WAIT_LIMIT,
        }
    }

    /// Registers a list of workflows.
    pub fn workflows(mut self, workflows: Workflows) -> Self {
        self.engine = self.engine.workflows(workflows);
        self
    }

    /// Sets the result of a step. `charge` names all steps with this name, `charge:1` one of them
    /// by its location. Several mocks of one step follow each other; see [`Mock::times`].
    /// `rollback:charge` is the undo of `charge`.
    pub fn mock_step(self, step: &str, mock: Mock) -> Self {
        self.mocks.add(step.to_owned(), mock);
        self
    }

    /// Sets the defaults of all steps and runs.
    pub fn defaults(mut self, defaults: Options) -> Self {
        self.engine = self.engine.defaults(defaults);
        self
    }

    /// Calls this for every failure, as [`crate::EngineBuilder::on_failure`] does.
    pub fn on_failure(mut self, hook: impl Fn(&FailureEvent) + Send + Sync + 'static) -> Self {
        self.engine = self.engine.on_failure(hook);
        self
    }

    /// Replays each activation a second time, and parks runs whose code behaves differently then.
    pub fn development(mut self) -> Self {
        self.engine.settings.development = true;
        self
    }

    /// Keeps no suspended run in memory, so that each one is rebuilt from its journal when it
    /// continues.
    pub fn evict_all(mut self) -> Self {
        self.engine.settings.hot_runs_max = 0;
        self
    }

    /// Changes the engine's settings. A test engine sweeps less often than a real one.
    pub fn settings(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        change(&mut self.engine.settings);
        self
    }

    /// Stores the runs in this store instead of a new one in memory.
    pub fn store(mut self, store: Arc<dyn Store>) -> Self {
        self.engine.storage = Storage::Store(store);
        self
    }

    /// Sets the bus to other engines on the same store.
    pub fn bus(mut self, bus: Arc<dyn Bus>) -> Self {
        self.engine = self.engine.bus(bus);
        self
    }

    /// Stores the runs in a directory, as a real engine does.
    #[cfg(feature = "embedded")]
    pub fn directory(mut self, path: impl Into<std::path::PathBuf>) -> Self {
        self.engine.storage = Storage::Directory(path.into());
        self
    }

    /// Executes the workflows in a worker that uses this transport to the engine. `server` is
    /// called once for each process.
    #[cfg(feature = "remote")]
    pub fn served(
        mut self,
        server: impl Fn(&Engine) -> Arc<dyn Transport> + Send + Sync + 'static,
    ) -> Self {
        self.server = Some(Arc::new(server));
        self
    }

    /// Sets how much virtual time [`reach`](super::TestEngine::reach) and
    /// [`answer_next`](super::TestEngine::answer_next) let pass before they fail. The default is
    /// ten seconds.
    pub fn reach_limit(mut self, limit: Duration) -> Self {
        self.reach_limit = limit;
        self
    }

    /// Sets how much virtual time a test waits for the end of a run (`wait`, `wait_json`) before it
    /// fails with the reason why the run does not end. The default is three years.
    pub fn wait_limit(mut self, limit: Duration) -> Self {
        self.wait_limit = limit;
        self
    }

    /// Sets the seed of random numbers. The default is 1.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }
}

impl std::fmt::Debug for TestEngineBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "TestEngineBuilder({} workflows)",
            self.engine.workflows.len()
        )
    }
}

/// Settings under which months pass quickly: a single engine need not renew its lease every few
/// seconds.
pub(super) fn quiet() -> Settings {
    Settings {
        hot_idle_max: Duration::from_secs(3_600),
        lease_ttl: Duration::from_secs(24 * 3_600),
        sweep_interval: Duration::from_secs(3_600),
        timer_horizon: Duration::from_secs(3_600),
        ..Settings::default()
    }
}
