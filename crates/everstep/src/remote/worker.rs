//! A worker: registers with a server, executes the runs it is assigned, and registers again when
//! the connection is lost.

use std::sync::Arc;

use futures_util::future::select;

use super::backoff::Backoff;
use super::claiming;
use super::session::Session;
use super::setup::{Setup, until};

/// Executes workflows for a server in another process. It runs until it is shut down and reconnects
/// when the connection is lost.
///
/// ```no_run
/// # use everstep::{Ctx, Result, Worker, Workflows};
/// # async fn example() -> std::result::Result<(), Box<dyn std::error::Error>> {
/// let greet = |ctx: Ctx, name: String| async move {
///     ctx.step("greet", || async { Ok::<_, everstep::Error>(format!("hello {name}")) }).await
/// };
/// let worker = Worker::connect("http://localhost:4437")
///     .workflows(Workflows::new().function("greet", greet))
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

impl Worker {
    pub(super) fn spawn(setup: Setup) -> Self {
        let setup = Arc::new(setup);
        setup.runtime.spawn(Box::pin(keep_connected(setup.clone())));
        Self { setup }
    }

    /// Completes when the worker is registered with the server.
    pub async fn connected(&self) {
        let state = &self.setup.state;
        let connected = std::pin::pin!(until(&state.connected));
        let ended = std::pin::pin!(until(&state.ended));
        select(connected, ended).await;
    }

    /// Shuts the worker down: it claims no more runs, lets steps finish, and releases its runs.
    pub async fn shutdown(&self) {
        let state = &self.setup.state;
        state.leaving.send_replace(true);
        until(&state.ended).await;
    }
}

impl std::fmt::Debug for Worker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Worker({})", self.setup.connection.url())
    }
}

/// Opens one session after another.
async fn keep_connected(setup: Arc<Setup>) {
    let mut backoff = Backoff::default();
    while !setup.is_leaving() {
        match setup.register().await {
            Ok(registered) => {
                backoff.reset();
                let session = Arc::new(Session::new(setup.clone(), &registered));
                setup.state.connected.send_replace(true);
                claiming::run(&session).await;
                setup.state.connected.send_replace(false);
            }
            Err(error) if error.is_temporary() => {
                tracing::warn!(%error, "server unreachable, registering again");
            }
            Err(error) => {
                tracing::error!(%error, "registration rejected, registering again")
            }
        }
        if !setup.is_leaving() {
            let leaving = std::pin::pin!(setup.until_leaving());
            let delay = std::pin::pin!(backoff.wait(&*setup.runtime));
            select(delay, leaving).await;
        }
    }
    setup.state.ended.send_replace(true);
}
