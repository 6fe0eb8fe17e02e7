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

/// The timeout of a call. The server's own timeouts for locks are shorter.
const CALL_MAX: Duration = Duration::from_secs(60);

pub(crate) struct Pool {
    connector: Connector,
    permits: Semaphore,
    idle: Mutex<Vec<Client>>,
}

/// A connection in use.
struct Lent<'a> {
    client: Client,
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

    /// Executes a statement in one round trip and its own transaction. If a kept connection turns
    /// out to be lost, tries again on a new one, so the statement must be repeatable.
    pub(crate) async fn read(
        &self,
        statement: &str,
        arguments: &[Argument<'_>],
    ) -> Result<Vec<Row>, CallError> {
        loop {
            let lent = self.lend().await?;
            let was_new = lent.is_new;
            match self.call(lent, statement, arguments).await {
                Err(CallError::Lost(_)) if !was_new => {}
                result => return result,
            }
        }
    }

    /// Executes a statement once. Its outcome is unknown if the connection is lost.
    pub(crate) async fn write(
        &self,
        statement: &str,
        arguments: &[Argument<'_>],
    ) -> Result<Vec<Row>, CallError> {
        let lent = self.lend().await?;
        self.call(lent, statement, arguments).await
    }

    /// Executes statements without arguments in one transaction.
    pub(crate) async fn script(&self, script: &str) -> Result<(), CallError> {
        let lent = self.lend().await?;
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
        // The statement has no name: PgBouncer may give the next one to another server process.
        let answer = answer(lent.client.query_typed(statement, arguments)).await;
        // A connection whose call timed out is closed too: its next answer would be to this call.
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
        let is_new = kept.is_none();
        let client = match kept {
            Some(client) => client,
            // If connecting fails, the idle connections do not work either.
            None => self
                .connector
                .connect()
                .await
                .inspect_err(|_| self.idle().clear())?,
        };
        Ok(Lent {
            client,
            is_new,
            _permit: permit,
        })
    }

    fn keep(&self, lent: Lent<'_>) {
        if !lent.client.is_closed() {
            self.idle().push(lent.client);
        }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Client>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Waits for the answer to a statement.
pub(crate) async fn answer(
    call: impl Future<Output = Result<Vec<Row>, tokio_postgres::Error>>,
) -> Result<Vec<Row>, CallError> {
    match timeout(CALL_MAX, call).await {
        Ok(answer) => Ok(answer?),
        Err(_) => Err(CallError::Lost(StoreError::Unavailable {
            detail: format!("the database did not answer within {CALL_MAX:?}"),
        })),
    }
}

/// Whether the answer is `true`.
pub(crate) fn is_true(rows: &[Row]) -> bool {
    let answer = rows.first().and_then(|row| row.try_get(0).ok());
    answer.unwrap_or(false)
}
