//! Describes a worker before it is started.

use std::sync::Arc;

use everstep_engine::{Runtime, Settings, TokioRuntime};
use everstep_protocol::Secret;
use everstep_protocol::client::{Connection, InvalidUrl, Transport};
use everstep_protocol::worker::{RegisterRequest, SLOTS_MAX};

use super::convert;
use super::setup::{Setup, Signs};
use super::worker::Worker;
use crate::execution::Mocks;
use crate::options::Options;
use crate::workflow::{RegisterError, Registry, Workflows};

/// Runs a worker executes at once unless it says otherwise.
const SLOTS: u32 = 1_000;

/// Why a worker or client could not be created.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The address is not a URL.
    #[error(transparent)]
    Url(#[from] InvalidUrl),
    /// The workflows cannot be executed together.
    #[error(transparent)]
    Workflows(#[from] RegisterError),
    /// There is no tokio runtime here.
    #[error("workers and clients must be created inside a tokio runtime")]
    NoRuntime,
}

/// Describes a [`Worker`] before it is started.
#[must_use = "nothing runs until it is started"]
pub struct WorkerBuilder {
    url: String,
    name: Option<String>,
    key: Option<Secret>,
    slots: u32,
    defaults: Options,
    settings: Settings,
    workflows: Workflows,
    mocks: Option<Arc<dyn Mocks>>,
    runtime: Option<Arc<dyn Runtime>>,
    transport: Option<Arc<dyn Transport>>,
}

impl Worker {
    /// Describes a worker for the server at this address.
    pub fn connect(url: impl Into<String>) -> WorkerBuilder {
        WorkerBuilder::new(url.into())
    }
}

impl WorkerBuilder {
    fn new(url: String) -> Self {
        Self {
            url,
            name: None,
            key: None,
            slots: SLOTS,
            defaults: Options::new(),
            settings: Settings::default(),
            workflows: Workflows::new(),
            mocks: None,
            runtime: None,
            transport: None,
        }
    }

    /// Executes a list of workflows.
    pub fn workflows(mut self, workflows: Workflows) -> Self {
        self.workflows = self.workflows.and(workflows);
        self
    }

    /// What people call the worker, in logs; the name of the process unless this says otherwise.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// The API key; it needs the scope `work` for the workflows of this worker.
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(Secret::new(key.into()));
        self
    }

    /// How many runs are executed at once; those that wait for something do not count. 1,000 unless this says otherwise.
    pub fn slots(mut self, slots: u32) -> Self {
        self.slots = slots;
        self
    }

    /// Defaults of all steps and runs, unless a workflow or step says otherwise.
    pub fn defaults(mut self, defaults: Options) -> Self {
        self.defaults = defaults;
        self
    }

    /// How it executes: the settings of an engine that are about executing (development, flushing, the grace period).
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// Time, randomness and tasks from somewhere else than tokio and the system.
    pub fn runtime(mut self, runtime: Arc<dyn Runtime>) -> Self {
        self.runtime = Some(runtime);
        self
    }

    /// Requests travel by other means than sockets.
    pub fn transport(mut self, transport: Arc<dyn Transport>) -> Self {
        self.transport = Some(transport);
        self
    }

    #[cfg(feature = "testing")]
    pub(crate) fn mocks(mut self, mocks: Arc<dyn Mocks>) -> Self {
        self.mocks = Some(mocks);
        self
    }

    /// Starts the worker. It connects by itself, now and whenever the connection is lost.
    ///
    /// # Errors
    /// If the address is none, or a workflow is misdeclared.
    pub fn start(self) -> std::result::Result<Worker, ConnectError> {
        let definitions = self.workflows.check(&self.defaults)?;
        let connection = match self.transport {
            Some(transport) => Connection::over(transport, &self.url)?,
            None => Connection::to(&self.url)?,
        };
        let connection = match &self.key {
            Some(key) => connection.with_key(key)?,
            None => connection,
        };
        let runtime: Arc<dyn Runtime> = match self.runtime {
            Some(runtime) => runtime,
            None => Arc::new(TokioRuntime::current().map_err(|_| ConnectError::NoRuntime)?),
        };
        let offered = definitions
            .iter()
            .map(|definition| convert::offered(definition, self.defaults));
        let register = RegisterRequest {
            worker: self.name.unwrap_or_else(process_name),
            slots: self.slots.clamp(1, SLOTS_MAX),
            workflows: offered.collect(),
        };
        Ok(Worker::begin(Setup {
            connection,
            register,
            registry: Registry::new(definitions, self.defaults, self.mocks),
            runtime,
            settings: self.settings,
            signs: Signs::default(),
        }))
    }
}

impl std::fmt::Debug for WorkerBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let workflows = self.workflows.len();
        write!(f, "WorkerBuilder({}, {workflows} workflows)", self.url)
    }
}

/// The program and its process, as people tell workers of one machine apart.
fn process_name() -> String {
    let program = std::env::current_exe().ok();
    let program = program.and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned()));
    let program = program.unwrap_or_else(|| "worker".to_owned());
    format!("{program} {}", std::process::id())
}
