//! The state that all calls of a store share: its connections, its schema, its clock.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use everstep_store::{Clock, StoreError};

use crate::connection::argument::arguments;
use crate::connection::backoff::Backoff;
use crate::connection::commit_channels::CommitChannels;
use crate::connection::connector::Connector;
use crate::connection::options::Options;
use crate::connection::pool::{Pool, is_true};
use crate::failure::CallError;
use crate::number::millis;
use crate::schema::migrate::{explain_missing_function, function, migrate};

/// Commits that may wait for locks at a time; a node has two batches in flight.
const PATIENT_COMMITS: usize = 2;
/// Frames deleted per statement. Small, so that locks are short and vacuum keeps up.
const GARBAGE_AT_ONCE: i64 = 1_000;

pub(crate) struct Session {
    pub(crate) commits: CommitChannels,
    /// For commits that wait for locked heads, so that other commits do not wait behind them.
    pub(crate) patient_commits: Pool,
    pub(crate) reads: Pool,
    pub(crate) schema: String,
    clock: Option<Arc<dyn Clock>>,
    /// Whether a task of this process is deleting frames of removed streams.
    is_clearing: AtomicBool,
}

impl Session {
    /// Connects, creates or upgrades the schema, and records the identity of the database.
    pub(crate) async fn open(options: Options) -> Result<Self, StoreError> {
        if options.may_be_plain() {
            tracing::warn!(
                "the connection to the database may be unencrypted; use sslmode=require"
            );
        }
        let backoff = Arc::new(Backoff::default());
        let connector = || Connector::new(options.clone(), backoff.clone());
        let session = Self {
            commits: CommitChannels::new(connector()?),
            patient_commits: Pool::new(connector()?, PATIENT_COMMITS),
            reads: Pool::new(connector()?, options.connections),
            schema: options.namespace.clone(),
            clock: options.clock.clone(),
            is_clearing: AtomicBool::new(false),
        };
        let opened = async {
            migrate(&session.reads, &session.schema).await?;
            session.adopt_history().await
        };
        match opened.await {
            Ok(()) => Ok(session),
            Err(call_error) => Err(session.store_error(call_error).await),
        }
    }

    /// The full name of an entry function.
    pub(crate) fn function(&self, name: &str) -> String {
        function(&self.schema, name)
    }

    /// The time of the injected clock; `None` if the database's clock is used.
    pub(crate) fn now(&self) -> Option<i64> {
        self.clock.as_ref().map(|clock| millis(clock.now()))
    }

    /// Converts an error of a call into the one that the caller of the store receives.
    pub(crate) async fn store_error(&self, call_error: CallError) -> StoreError {
        match call_error {
            CallError::NoFunction(message) => {
                explain_missing_function(&self.reads, &self.schema, &message).await
            }
            other => other.into_error(),
        }
    }

    /// Voids every lease if the identity or the timeline of the database has changed.
    pub(crate) async fn adopt_history(&self) -> Result<(), CallError> {
        let adopt = format!("SELECT {}()", self.function("adopt_history"));
        let rows = self.reads.write(&adopt, &[]).await?;
        if is_true(&rows) {
            tracing::error!("identity or timeline of the database changed: all leases are void");
        }
        Ok(())
    }

    /// Deletes frames of removed streams in small steps, until none are left or a step fails.
    pub(crate) async fn clear_garbage(self: Arc<Self>) {
        if self.is_clearing.swap(true, Ordering::AcqRel) {
            return;
        }
        let clear = format!("SELECT {}($1)", self.function("clear_garbage"));
        loop {
            let deleted = self.reads.write(&clear, &arguments![GARBAGE_AT_ONCE]).await;
            match deleted
                .and_then(|rows| Ok(rows.first().map_or(Ok(0i64), |row| row.try_get(0))?))
            {
                Ok(0) => break,
                Ok(_) => tokio::task::yield_now().await,
                Err(call_error) => {
                    let error = self.store_error(call_error).await;
                    tracing::warn!(%error, "cannot delete frames of removed streams, trying again later");
                    break;
                }
            }
        }
        self.is_clearing.store(false, Ordering::Release);
    }
}
