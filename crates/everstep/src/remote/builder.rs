//! Configures workers and clients of a server.

use std::sync::Arc;
use std::time::Duration;

use everstep_engine::{Runtime, Settings, TokioRuntime};
use everstep_model::ErrorCode;
use everstep_protocol::client::{Connection, InvalidUrl, Transport};
use everstep_protocol::worker::{RegisterRequest, SLOTS_MAX};
use everstep_protocol::{PROTOCOL_VERSION, Secret};

use super::convert;
use super::requests::HttpPort;
use super::setup::{Setup, WorkerState};
use super::worker::Worker;
use crate::client::Client;
use crate::execution::Mocks;
use crate::options::Options;
use crate::workflow::{RegisterError, Registry, Workflows};

/// Default of [`WorkerBuilder::slots`].
const SLOTS: u32 = 1_000;
/// Default of [`ClientBuilder::wait`].
const WAIT: Duration = Duration::from_secs(30);

/// Why a worker or client could not be created.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages explain the variants")]
pub enum ConnectError {
    #[error(transparent)]
    Url(#[from] InvalidUrl),
    #[error(transparent)]
    Workflows(#[from] RegisterError),
    #[error("workers and clients must be created inside a tokio runtime")]
    NoRuntime,
}

impl ConnectError {
    /// Returns the stable code of the error.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Workflows(error) => error.code(),
            Self::Url(_) | Self::NoRuntime => ErrorCode::InvalidOptions,
        }
    }
}

/// A server, and how to connect to it.
#[derive(Default)]
struct Endpoint {
    url: String,
    key: Option<Secret>,
    transport: Option<Arc<dyn Transport>>,
    runtime: Option<Arc<dyn Runtime>>,
}

impl Endpoint {
    fn new(url: String) -> Self {
        let endpoint = Self::default();
        Self { url, ..endpoint }
    }

    fn open(self) -> Result<(Connection, Arc<dyn Runtime>), ConnectError> {
        let mut connection = match self.transport {
            Some(transport) => Connection::over(transport, &self.url)?,
            None => Connection::to(&self.url)?,
        };
        if let Some(key) = &self.key {
            connection = connection.with_key(key)?;
        }
        let runtime = match self.runtime {
            Some(runtime) => runtime,
            None => Arc::new(TokioRuntime::current().map_err(|_| ConnectError::NoRuntime)?),
        };
        Ok((connection, runtime))
    }
}

/// Configures a [`Worker`].
#[must_use = "nothing runs until it is started"]
pub struct WorkerBuilder {
    endpoint: Endpoint,
    name: Option<String>,
    slots: u32,
    defaults: Options,
    settings: Settings,
    workflows: Workflows,
    mocks: Option<Arc<dyn Mocks>>,
}

impl Worker {
    /// Configures a worker for the server at this URL.
    pub fn connect(url: impl Into<String>) -> WorkerBuilder {
        WorkerBuilder {
            endpoint: Endpoint::new(url.into()),
            name: None,
            slots: SLOTS,
            defaults: Options::new(),
            settings: Settings::default(),
            workflows: Workflows::new(),
            mocks: None,
        }
    }
}

impl WorkerBuilder {
    /// Adds workflows to execute.
    pub fn workflows(mut self, workflows: Workflows) -> Self {
        self.workflows = self.workflows.and(workflows);
        self
    }

    /// Sets the name of the worker in logs. The default is the name and id of the process.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets the API key, which needs the scope `work` for the workflows of this worker.
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.endpoint.key = Some(Secret::new(key.into()));
        self
    }

    /// Limits the runs that are executed concurrently, not counting runs that wait. The default is
    /// 1,000.
    pub fn slots(mut self, slots: u32) -> Self {
        self.slots = slots;
        self
    }

    /// Sets defaults for all steps and runs.
    pub fn defaults(mut self, defaults: Options) -> Self {
        self.defaults = defaults;
        self
    }

    /// Sets the settings of execution: development mode, flushing, the grace period. Other settings
    /// have no effect.
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// Replaces tokio and the system as the source of time, randomness and tasks.
    pub fn runtime(mut self, runtime: Arc<dyn Runtime>) -> Self {
        self.endpoint.runtime = Some(runtime);
        self
    }

    /// Sends requests by another transport than sockets.
    pub fn transport(mut self, transport: Arc<dyn Transport>) -> Self {
        self.endpoint.transport = Some(transport);
        self
    }

    #[cfg(feature = "testing")]
    pub(crate) fn mocks(mut self, mocks: Arc<dyn Mocks>) -> Self {
        self.mocks = Some(mocks);
        self
    }

    /// Starts the worker. It connects in the background, and again whenever the connection is lost.
    ///
    /// # Errors
    /// If the URL or a workflow is invalid.
    pub fn start(self) -> Result<Worker, ConnectError> {
        let definitions = self.workflows.check(self.defaults)?;
        let (connection, runtime) = self.endpoint.open()?;
        let register = RegisterRequest {
            worker: self.name.unwrap_or_else(process_name),
            sdk: Some(concat!("everstep-rust ", env!("CARGO_PKG_VERSION")).to_owned()),
            protocol: [PROTOCOL_VERSION; 2],
            slots: self.slots.clamp(1, SLOTS_MAX),
            workflows: definitions.iter().map(convert::offered).collect(),
        };
        Ok(Worker::spawn(Setup {
            connection,
            register,
            registry: Registry::new(definitions, self.mocks),
            runtime,
            settings: self.settings,
            state: WorkerState::default(),
        }))
    }
}

impl std::fmt::Debug for WorkerBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (url, workflows) = (&self.endpoint.url, self.workflows.len());
        write!(f, "WorkerBuilder({url}, {workflows} workflows)")
    }
}

/// Returns the name of the program and the id of the process, which distinguish workers on one
/// machine.
fn process_name() -> String {
    let program = std::env::current_exe().ok();
    let program = program.and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned()));
    let program = program.unwrap_or_else(|| "worker".to_owned());
    format!("{program} {}", std::process::id())
}

/// Configures a [`Client`] of a server.
#[must_use = "there is no client until it is opened"]
pub struct ClientBuilder {
    endpoint: Endpoint,
    wait: Duration,
}

impl Client {
    /// Configures a client of the server at this URL.
    ///
    /// ```no_run
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// use everstep::{Client, Payload};
    ///
    /// let client = Client::connect("http://localhost:4437").open()?;
    /// let run = client.start_by_name("greet", Payload::from_value("ada")?).id("greet-ada").await?;
    /// println!("{:?}", run.wait_json().await?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn connect(url: impl Into<String>) -> ClientBuilder {
        ClientBuilder {
            endpoint: Endpoint::new(url.into()),
            wait: WAIT,
        }
    }
}

impl ClientBuilder {
    /// Sets the API key.
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.endpoint.key = Some(Secret::new(key.into()));
        self
    }

    /// Sends requests by another transport than sockets.
    pub fn transport(mut self, transport: Arc<dyn Transport>) -> Self {
        self.endpoint.transport = Some(transport);
        self
    }

    /// Replaces tokio as the source of time.
    pub fn runtime(mut self, runtime: Arc<dyn Runtime>) -> Self {
        self.endpoint.runtime = Some(runtime);
        self
    }

    /// Sets how long the server holds a long poll. The default is 30 s.
    pub fn wait(mut self, wait: Duration) -> Self {
        self.wait = wait;
        self
    }

    /// Opens the client. This sends nothing.
    ///
    /// # Errors
    /// If the URL is invalid, or there is no tokio runtime.
    pub fn open(self) -> Result<Client, ConnectError> {
        let (connection, runtime) = self.endpoint.open()?;
        Ok(Client::new(Arc::new(HttpPort {
            connection,
            runtime,
            wait: self.wait,
        })))
    }
}

impl std::fmt::Debug for ClientBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ClientBuilder({})", self.endpoint.url)
    }
}
