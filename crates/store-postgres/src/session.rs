//! The state that all calls of a store share: its connections, its schema, its clock.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use everstep_store::{Clock, StoreError};
use tokio_postgres::types::Type;

use crate::connection::commit_channels::CommitChannels;
use crate::connection::connector::Connector;
use crate::connection::options::Options;
use crate::connection::pool::{Pool, is_yes};
use crate::connection::rest::Rest;
use crate::failure::CallError;
use crate::number::millis;
use crate::schema::migrate::{function, migrate};

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
                "the connection to the database may be neither private nor safe; use sslmode=require"
            );
        }
        let rest = Arc::new(Rest::default());
        let session = Self {
            commits: CommitChannels::new(Connector::new(options.clone(), rest.clone())?),
            patient_commits: Pool::new(
                Connector::new(options.clone(), rest.clone())?,
                PATIENT_COMMITS,
            ),
            reads: Pool::new(Connector::new(options.clone(), rest)?, options.connections),
            schema: options.namespace,
            clock: options.clock,
            is_clearing: AtomicBool::new(false),
        };
        migrate(&session.reads, &session.schema).await?;
        session
            .adopt_history()
            .await
            .map_err(CallError::into_error)?;
        Ok(session)
    }

    /// The full name of a function of this format.
    pub(crate) fn function(&self, name: &str) -> String {
        function(&self.schema, name)
    }

    /// The injected clock of the store; `None` if the database's own clock is used.
    pub(crate) fn now(&self) -> Option<i64> {
        self.clock.as_ref().map(|clock| millis(clock.now()))
    }

    /// Voids every lease if the identity or the timeline of the database has changed.
    pub(crate) async fn adopt_history(&self) -> Result<(), CallError> {
        let adopt = format!("SELECT {}()", self.function("adopt_history"));
        let rows = self.reads.write(&adopt, &[]).await?;
        if is_yes(&rows) {
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
            let deleted = self.reads.write(&clear, &[(&GARBAGE_AT_ONCE, Type::INT8)]);
            match deleted
                .await
                .map(|rows| rows.first().map(|row| row.try_get(0)))
            {
                Ok(Some(Ok(0i64))) | Ok(None) => break,
                Ok(Some(Ok(_))) => tokio::task::yield_now().await,
                Ok(Some(Err(error))) => {
                    tracing::warn!(%error, "cannot delete frames of removed streams, trying again later");
                    break;
                }
                Err(call_error) => {
                    let error = call_error.into_error();
                    tracing::warn!(%error, "cannot delete frames of removed streams, trying again later");
                    break;
                }
            }
        }
        self.is_clearing.store(false, Ordering::Release);
    }
}
