//! A few connections that calls share: opened when they are needed, kept, and opened anew when they are lost. A server
//! that cannot be reached is left alone for a while (`rest.rs`), and calls meanwhile fail at once.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use everstep_store::StoreError;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Instant, timeout};
use tokio_postgres::{Client, Row};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::columns::Argument;
use crate::failure::{Trouble, unavailable};
use crate::options::Options;
use crate::rest::Rest;
use crate::{safety, tls};

/// How long a call may take. The server gives up waiting for locks long before.
const CALL_MAX: Duration = Duration::from_secs(60);

pub(crate) struct Pool {
    options: Options,
    tls: MakeRustlsConnect,
    permits: Semaphore,
    /// Whether the server was found safe once.
    was_safe: AtomicBool,
    rest: Arc<Rest>,
    /// Connections that no call uses.
    idle: Mutex<Vec<Client>>,
}

/// A connection that one call uses.
struct Lent<'a> {
    client: Client,
    /// Whether it was opened for this call.
    is_new: bool,
    _permit: SemaphorePermit<'a>,
}

impl Pool {
    pub(crate) fn new(
        options: Options,
        connections: usize,
        rest: Arc<Rest>,
    ) -> Result<Self, StoreError> {
        Ok(Self {
            tls: tls::connector(&options)?,
            options,
            permits: Semaphore::new(connections),
            was_safe: AtomicBool::new(false),
            rest,
            idle: Mutex::default(),
        })
    }

    /// One statement, in one round trip and a transaction of its own. What changes nothing is tried again on a new
    /// connection if the one that was kept turns out to be lost.
    pub(crate) async fn read(
        &self,
        statement: &str,
        arguments: &[Argument<'_>],
    ) -> Result<Vec<Row>, Trouble> {
        loop {
            let lent = self.lend().await.map_err(Trouble::Failed)?;
            let was_new = lent.is_new;
            match self.call(lent, statement, arguments).await {
                Err(Trouble::Lost(_)) if !was_new => {}
                result => return result,
            }
        }
    }

    /// The same for what changes something: what became of it is unknown if the connection is lost.
    pub(crate) async fn write(
        &self,
        statement: &str,
        arguments: &[Argument<'_>],
    ) -> Result<Vec<Row>, Trouble> {
        let lent = self.lend().await.map_err(Trouble::Failed)?;
        self.call(lent, statement, arguments).await
    }

    /// Statements without arguments, in one transaction.
    pub(crate) async fn script(&self, script: &str) -> Result<(), Trouble> {
        let lent = self.lend().await.map_err(Trouble::Failed)?;
        lent.client.batch_execute(script).await?;
        self.keep(lent);
        Ok(())
    }

    async fn call(
        &self,
        lent: Lent<'_>,
        statement: &str,
        arguments: &[Argument<'_>],
    ) -> Result<Vec<Row>, Trouble> {
        // No statement has a name: PgBouncer may give the next one to another server process.
        let call = lent.client.query_typed(statement, arguments);
        match timeout(CALL_MAX, call).await {
            Ok(Ok(rows)) => {
                self.keep(lent);
                Ok(rows)
            }
            Ok(Err(error)) => {
                let trouble = Trouble::of(&error);
                if !matches!(trouble, Trouble::Lost(_)) {
                    self.keep(lent);
                }
                Err(trouble)
            }
            // The connection is closed, because its next answer would be to this call.
            Err(_) => Err(Trouble::Lost(StoreError::Unavailable {
                detail: format!("the database has not answered for {} s", CALL_MAX.as_secs()),
            })),
        }
    }

    async fn lend(&self) -> Result<Lent<'_>, StoreError> {
        let closed = |_| StoreError::Unavailable {
            detail: "the store is closed".to_owned(),
        };
        let permit = self.permits.acquire().await.map_err(closed)?;
        let kept = {
            let mut idle = self.idle();
            idle.retain(|client| !client.is_closed());
            idle.pop()
        };
        if let Some(client) = kept {
            return Ok(Lent {
                client,
                is_new: false,
                _permit: permit,
            });
        }
        Ok(Lent {
            client: self.connect().await?,
            is_new: true,
            _permit: permit,
        })
    }

    fn keep(&self, lent: Lent<'_>) {
        if !lent.client.is_closed() {
            self.idle().push(lent.client);
        }
    }

    async fn connect(&self) -> Result<Client, StoreError> {
        let begun = Instant::now();
        if let Some(error) = self.rest.refusal(begun) {
            return Err(error);
        }
        let connected = self.try_to_connect().await;
        match &connected {
            Ok(_) => self.rest.end(Instant::now()),
            Err(error) => {
                self.rest.begin(begun, Instant::now(), error);
                // Those that were kept are of no use either.
                self.idle().clear();
            }
        }
        connected
    }

    async fn try_to_connect(&self) -> Result<Client, StoreError> {
        let connected = self.options.config.connect(self.tls.clone()).await;
        let (client, connection) = connected.map_err(|error| unavailable(&error))?;
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::warn!(%error, "a connection to the database was lost");
            }
        });
        // Each time: the server behind the address may be another one than before.
        match safety::check(&client, self.options.allow_lossy).await {
            Ok(()) => {
                self.was_safe.store(true, Ordering::Release);
                Ok(client)
            }
            // A server that is about to become the primary, say: it is waited for, and nothing is acknowledged meanwhile.
            Err(StoreError::Unsafe { setting, remedy })
                if self.was_safe.load(Ordering::Acquire) =>
            {
                Err(StoreError::Unavailable {
                    detail: format!("unsafe setting {setting}: {remedy}"),
                })
            }
            Err(error) => Err(error),
        }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Client>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether the answer is a single yes.
pub(crate) fn is_yes(rows: &[Row]) -> bool {
    let answer = rows.first().and_then(|row| row.try_get(0).ok());
    answer.unwrap_or(false)
}
