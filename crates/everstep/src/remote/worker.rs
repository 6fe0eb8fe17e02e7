//! A worker: registers with a server, executes what it is given, and begins again whenever the connection is lost.

use std::sync::Arc;

use futures_util::future::select;

use super::backoff::Backoff;
use super::claiming;
use super::session::Session;
use super::setup::Setup;

/// Executes workflows for a server elsewhere. It goes on until it is shut down, whatever happens to the connection.
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

/// One session after another.
async fn keep_connected(setup: Arc<Setup>) {
    let mut backoff = Backoff::default();
    while !setup.is_leaving() {
        match setup.register().await {
            Ok(registered) => {
                backoff.reset();
                let session = Arc::new(Session::new(setup.clone(), &registered));
                setup.signs.set(&setup.signs.connected, true);
                claiming::run(&session).await;
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
