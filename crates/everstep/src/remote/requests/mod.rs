//! An engine behind a server: each request becomes a call of the workflow API, each answer what an engine would have given.

mod asking;
mod error;
mod tail;
mod views;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use everstep_engine::{Runtime, TokioRuntime};

use crate::client::ServerError;
use everstep_model::RunId;
use everstep_protocol::Secret;
use everstep_protocol::client::{Answer, Call, Connection, Transport, segment};
use serde::de::DeserializeOwned;

use super::builder::ConnectError;
use crate::client::Client;
use error::of_call;

/// How long a server is asked to hold an answer that waits for something; then it is asked again.
const WAIT: Duration = Duration::from_secs(30);
/// What an answer may take longer than it waits.
const MARGIN: Duration = Duration::from_secs(30);

/// Asks a server.
#[derive(Clone)]
pub(crate) struct HttpRequests {
    connection: Connection,
    runtime: Arc<dyn Runtime>,
    wait: Duration,
}

impl fmt::Debug for HttpRequests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.connection.fmt(f)
    }
}

/// Describes a [`Client`] of a server.
#[must_use = "there is no client until it is opened"]
pub struct ClientBuilder {
    url: String,
    key: Option<Secret>,
    transport: Option<Arc<dyn Transport>>,
    runtime: Option<Arc<dyn Runtime>>,
    wait: Duration,
}

impl Client {
    /// Describes a client of the server at this address.
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
            url: url.into(),
            key: None,
            transport: None,
            runtime: None,
            wait: WAIT,
        }
    }
}

impl ClientBuilder {
    /// The API key.
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(Secret::new(key.into()));
        self
    }

    /// Requests travel by other means than sockets.
    pub fn transport(mut self, transport: Arc<dyn Transport>) -> Self {
        self.transport = Some(transport);
        self
    }

    /// Time from somewhere else than tokio.
    pub fn runtime(mut self, runtime: Arc<dyn Runtime>) -> Self {
        self.runtime = Some(runtime);
        self
    }

    /// How long a server is asked to hold an answer that waits for something, before it is asked again. 30 s unless this says
    /// otherwise.
    pub fn wait(mut self, wait: Duration) -> Self {
        self.wait = wait;
        self
    }

    /// Opens the client. Nothing is sent until something is asked for.
    ///
    /// # Errors
    /// If the address is none, or there is no tokio runtime here.
    pub fn open(self) -> Result<Client, ConnectError> {
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
        Ok(Client::new(Arc::new(HttpRequests {
            connection,
            runtime,
            wait: self.wait,
        })))
    }
}

impl fmt::Debug for ClientBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ClientBuilder({})", self.url)
    }
}

impl HttpRequests {
    async fn send(&self, call: Call) -> Result<Answer, ServerError> {
        self.connection.send(call).await.map_err(of_call)
    }

    async fn get<T: DeserializeOwned>(&self, path: String) -> Result<T, ServerError> {
        self.send(Call::get(path)).await?.json().map_err(of_call)
    }

    /// A call that the server holds for a while.
    async fn held(&self, call: Call) -> Result<Answer, ServerError> {
        self.send(call.timeout(self.wait.saturating_add(MARGIN)))
            .await
    }

    /// How long the server holds an answer, as it is said to it.
    fn wait_text(&self) -> String {
        format!("{}ms", self.wait.as_millis())
    }
}

/// The address of a run.
fn at(run: &RunId) -> String {
    format!("workflows/{}", segment(run.as_str()))
}
