//! The two connections for commits, separate from those for queries. A node has two batches in
//! flight at a time. If the server spends most of a call working, the second batch is pipelined on
//! the first connection: the server continues with it at once, and a single process writes for this
//! node without contention. If it spends most of a call waiting, the second batch uses the other
//! connection, so that one works while the other waits. Through a pooler, batches are never
//! pipelined (`direct.rs`).

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use everstep_store::StoreError;
use tokio::sync::{Mutex as AsyncMutex, MutexGuard};
use tokio::time::Instant;
use tokio_postgres::{Client, Row};

use crate::connection::argument::Argument;
use crate::connection::connector::Connector;
use crate::connection::direct::is_direct;
use crate::connection::pace::Pace;
use crate::connection::pool::answer;
use crate::connection::prepared::Prepared;
use crate::failure::CallError;

pub(crate) struct CommitChannels {
    connector: Connector,
    first: Channel,
    second: Channel,
    pace: Pace,
}

/// A connection that is opened when it is needed, and again when it is lost.
#[derive(Default)]
struct Channel {
    connection: AsyncMutex<Option<Arc<Connection>>>,
    /// Held during calls that must not be pipelined.
    turn: AsyncMutex<()>,
    calls_in_flight: AtomicUsize,
    last_answer: Mutex<Option<Instant>>,
}

struct Connection {
    client: Client,
    /// Whether calls may be pipelined. The server then executes them in order, each in its own
    /// transaction.
    is_direct: bool,
    prepared: Prepared,
}

impl CommitChannels {
    pub(crate) fn new(connector: Connector) -> Self {
        Self {
            connector,
            first: Channel::default(),
            second: Channel::default(),
            pace: Pace::default(),
        }
    }

    /// Executes a statement, whose last column is `WORKED`, in one round trip and its own
    /// transaction. Its outcome is unknown if the connection is lost.
    pub(crate) async fn write(
        &self,
        statement: &str,
        arguments: &[Argument<'_>],
    ) -> Result<Vec<Row>, CallError> {
        let channel = self.channel();
        let _in_flight = InFlight::begin(&channel.calls_in_flight);
        let (connection, _turn) = self.turn(channel).await?;
        let sent = Instant::now();
        let answer = connection.call(statement, arguments).await;
        if let Err(CallError::Lost(_)) = answer {
            channel.discard(&connection).await;
        }
        let took = channel.answered_after(sent);
        let rows = answer?;
        if let Some(worked) = worked(&rows) {
            self.pace.record(took, worked);
        }
        Ok(rows)
    }

    fn channel(&self) -> &Channel {
        let is_free = self.first.calls_in_flight.load(Ordering::Relaxed) == 0;
        if is_free || (self.pace.is_mostly_work() && self.first.may_pipeline()) {
            &self.first
        } else {
            &self.second
        }
    }

    /// Returns a connection on which a call can be sent now, with a guard that keeps other calls
    /// off it if they must not be pipelined.
    async fn turn<'a>(
        &self,
        channel: &'a Channel,
    ) -> Result<(Arc<Connection>, Option<MutexGuard<'a, ()>>), CallError> {
        let connection = self.connection(channel).await?;
        if connection.is_direct {
            return Ok((connection, None));
        }
        let turn = channel.turn.lock().await;
        // The previous call may have lost or discarded the connection.
        Ok((self.connection(channel).await?, Some(turn)))
    }

    async fn connection(&self, channel: &Channel) -> Result<Arc<Connection>, CallError> {
        let connection = channel.connection(&self.connector).await;
        if connection.is_err() {
            // Idle connections do not work either.
            self.first.close_if_free();
            self.second.close_if_free();
        }
        Ok(connection?)
    }
}

impl Channel {
    async fn connection(&self, connector: &Connector) -> Result<Arc<Connection>, StoreError> {
        let mut kept = self.connection.lock().await;
        if let Some(connection) = kept.as_ref().filter(|kept| !kept.client.is_closed()) {
            return Ok(connection.clone());
        }
        let client = connector.connect().await?;
        let is_direct = is_direct(&client).await;
        let connection = Arc::new(Connection {
            client,
            is_direct,
            prepared: Prepared::default(),
        });
        *kept = Some(connection.clone());
        Ok(connection)
    }

    /// Whether a call may be sent behind those in flight. Not while the connection is being opened,
    /// which may take long.
    fn may_pipeline(&self) -> bool {
        let kept = self.connection.try_lock();
        kept.is_ok_and(|kept| kept.as_ref().is_some_and(|kept| kept.is_direct))
    }

    /// Sends nothing more on this connection. It is closed when all calls in flight are answered.
    async fn discard(&self, connection: &Arc<Connection>) {
        let mut kept = self.connection.lock().await;
        kept.take_if(|kept| Arc::ptr_eq(kept, connection));
    }

    fn close_if_free(&self) {
        if let Ok(mut kept) = self.connection.try_lock()
            && self.calls_in_flight.load(Ordering::Relaxed) == 0
        {
            *kept = None;
        }
    }

    /// Returns how long the call took that was just answered, without the time it spent behind
    /// another one.
    fn answered_after(&self, sent: Instant) -> Duration {
        let now = Instant::now();
        let mut answered = self
            .last_answer
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let before = answered.replace(now);
        now - before.map_or(sent, |before| before.max(sent))
    }
}

impl Connection {
    async fn call(
        &self,
        statement: &str,
        arguments: &[Argument<'_>],
    ) -> Result<Vec<Row>, CallError> {
        match self.is_direct {
            true => answer(self.prepared.query(&self.client, statement, arguments)).await,
            false => answer(self.client.query_typed(statement, arguments)).await,
        }
    }
}

/// A call that is in flight until this is dropped.
struct InFlight<'a>(&'a AtomicUsize);

impl<'a> InFlight<'a> {
    fn begin(calls: &'a AtomicUsize) -> Self {
        calls.fetch_add(1, Ordering::Relaxed);
        Self(calls)
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Reads the last column: how long the server worked.
fn worked(rows: &[Row]) -> Option<Duration> {
    let row = rows.first()?;
    let micros: i64 = row.try_get(row.len().checked_sub(1)?).ok()?;
    Some(Duration::from_micros(u64::try_from(micros).ok()?))
}

#[cfg(test)]
#[path = "commit_channels_tests.rs"]
mod tests;
