//! A pool of connections. Each serves one call at a time; they are opened on demand, kept, and
//! reopened when they are lost.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use everstep_store::StoreError;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;
use tokio_postgres::{Client, Row};

use crate::connection::argument::Argument;
use crate::connection::connector::Connector;
use crate::failure::CallError;

/// How long a call may take. The server gives up waiting for locks long before.
const CALL_MAX: Duration = Duration::from_secs(60);

pub(crate) struct Pool {
    connector: Connector,
    permits: Semaphore,
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
    pub(crate) fn new(connector: Connector, connections: usize) -> Self {
        Self {
            connector,
            permits: Semaphore::new(connections),
            idle: Mutex::default(),
        }
    }

    /// One statement, in one round trip and a transaction of its own. What changes nothing is tried
    /// again on a new connection if the one that was kept turns out to be lost.
    pub(crate) async fn read(
        &self,
        statement: &str,
        arguments: &[Argument<'_>],
    ) -> Result<Vec<Row>, CallError> {
        loop {
            let lent = self.lend().await.map_err(CallError::Failed)?;
            let was_new = lent.is_new;
            match self.call(lent, statement, arguments).await {
                Err(CallError::Lost(_)) if !was_new => {}
                result => return result,
            }
        }
    }

    /// The same for what changes something: what became of it is unknown if the connection is lost.
    pub(crate) async fn write(
        &self,
        statement: &str,
        arguments: &[Argument<'_>],
    ) -> Result<Vec<Row>, CallError> {
        let lent = self.lend().await.map_err(CallError::Failed)?;
        self.call(lent, statement, arguments).await
    }

    /// Statements without arguments, in one transaction.
    pub(crate) async fn script(&self, script: &str) -> Result<(), CallError> {
        let lent = self.lend().await.map_err(CallError::Failed)?;
        lent.client.batch_execute(script).await?;
        self.keep(lent);
        Ok(())
    }

    async fn call(
        &self,
        lent: Lent<'_>,
        statement: &str,
        arguments: &[Argument<'_>],
    ) -> Result<Vec<Row>, CallError> {
        let answer = answer(&lent.client, statement, arguments).await;
        // One that is lost is closed, and so is one whose next answer would be to this call.
        if !matches!(answer, Err(CallError::Lost(_))) {
            self.keep(lent);
        }
        answer
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
        let connected = self.connector.connect().await;
        if connected.is_err() {
            // Those that were kept are of no use either.
            self.idle().clear();
        }
        connected
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Client>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sends a statement, and waits for its answer as long as it makes sense.
pub(crate) async fn answer(
    client: &Client,
    statement: &str,
    arguments: &[Argument<'_>],
) -> Result<Vec<Row>, CallError> {
    // No statement has a name: PgBouncer may give the next one to another server process.
    let call = client.query_typed(statement, arguments);
    match timeout(CALL_MAX, call).await {
        Ok(answer) => answer.map_err(|error| CallError::of(&error)),
        Err(_) => Err(CallError::Lost(StoreError::Unavailable {
            detail: format!("the database has not answered for {} s", CALL_MAX.as_secs()),
        })),
    }
}

/// Whether the answer is a single yes.
pub(crate) fn is_yes(rows: &[Row]) -> bool {
    let answer = rows.first().and_then(|row| row.try_get(0).ok());
    answer.unwrap_or(false)
}
