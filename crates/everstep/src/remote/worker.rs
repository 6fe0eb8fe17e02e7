//! A worker: registers with a server, executes what it is given, and begins again whenever the connection is lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use everstep_engine::{Runtime, Settings};
use everstep_protocol::client::{CallError, Connection};
use everstep_protocol::worker::{RegisterAnswer, RegisterRequest};
use futures_util::future::select;
use tokio::sync::Notify;

use super::backoff::Backoff;
use super::builder::WorkerBuilder;
use super::session::Session;
use crate::worker::Registry;

/// Executes workflows for a server elsewhere. It goes on until it is shut down, whatever happens to the connection.
///
/// ```no_run
/// # use everstep::{Ctx, Result, Worker};
/// # async fn example() -> std::result::Result<(), Box<dyn std::error::Error>> {
/// let greet = |ctx: Ctx, name: String| async move {
///     ctx.step("greet", || async { Ok::<_, everstep::Error>(format!("hello {name}")) }).await
/// };
/// let worker = Worker::connect("http://localhost:4437")
///     .function("greet", greet)
///     .slots(100)
///     .start()?;
/// worker.connected().await;
/// // …
/// worker.shutdown().await;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Worker {
    setup: Arc<Setup>,
}

/// What all sessions of a worker share.
pub(super) struct Setup {
    pub(super) connection: Connection,
    pub(super) register: RegisterRequest,
    pub(super) registry: Registry,
    pub(super) runtime: Arc<dyn Runtime>,
    pub(super) settings: Settings,
    pub(super) signs: Signs,
}

/// Where a worker stands.
#[derive(Default)]
pub(super) struct Signs {
    connected: AtomicBool,
    leaving: AtomicBool,
    ended: AtomicBool,
    changed: Notify,
}

impl Signs {
    fn set(&self, sign: &AtomicBool, value: bool) {
        sign.store(value, Ordering::Release);
        self.changed.notify_waiters();
    }

    async fn until(&self, sign: &AtomicBool) {
        loop {
            // Registered before looking, so that a change after the look is heard.
            let mut changed = std::pin::pin!(self.changed.notified());
            changed.as_mut().enable();
            if sign.load(Ordering::Acquire) {
                return;
            }
            changed.await;
        }
    }
}

impl Worker {
    /// Describes a worker for the server at this address.
    pub fn connect(url: impl Into<String>) -> WorkerBuilder {
        WorkerBuilder::new(url.into())
    }

    pub(super) fn begin(setup: Setup) -> Self {
        let setup = Arc::new(setup);
        let keeping = keep_connected(setup.clone());
        setup.runtime.spawn(Box::pin(keeping));
        Self { setup }
    }

    /// Completes when the worker is registered with the server.
    pub async fn connected(&self) {
        let signs = &self.setup.signs;
        let connected = std::pin::pin!(signs.until(&signs.connected));
        let ended = std::pin::pin!(signs.until(&signs.ended));
        select(connected, ended).await;
    }

    /// Ends the worker in good order: takes nothing new, lets steps finish, and gives its runs back to the server.
    pub async fn shutdown(&self) {
        let signs = &self.setup.signs;
        signs.set(&signs.leaving, true);
        signs.until(&signs.ended).await;
    }
}

impl std::fmt::Debug for Worker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Worker({})", self.setup.connection.url())
    }
}

impl Setup {
    pub(super) fn is_leaving(&self) -> bool {
        self.signs.leaving.load(Ordering::Acquire)
    }

    pub(super) async fn until_leaving(&self) {
        self.signs.until(&self.signs.leaving).await;
    }

    async fn register(&self) -> Result<RegisterAnswer, CallError> {
        self.connection.post("v1/workers", &self.register).await
    }
}

/// One session after another.
async fn keep_connected(setup: Arc<Setup>) {
    let mut backoff = Backoff::default();
    while !setup.is_leaving() {
        match setup.register().await {
            Ok(registered) => {
                backoff.reset();
                let session = Arc::new(Session::new(setup.clone(), &registered));
                setup.signs.set(&setup.signs.connected, true);
                session.run().await;
                setup.signs.set(&setup.signs.connected, false);
            }
            Err(error) if error.is_temporary() => {
                tracing::warn!(%error, "the server cannot be reached; trying again");
            }
            Err(error) => {
                tracing::error!(%error, "the server does not take this worker; trying again")
            }
        }
        if !setup.is_leaving() {
            let leaving = std::pin::pin!(setup.until_leaving());
            let rest = std::pin::pin!(backoff.rest(&*setup.runtime));
            select(rest, leaving).await;
        }
    }
    setup.signs.set(&setup.signs.ended, true);
}
