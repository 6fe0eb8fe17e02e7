//! Opens connections. After a failure, calls fail immediately until the back-off has passed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use everstep_store::StoreError;
use tokio::time::{Instant, timeout};
use tokio_postgres::Client;
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::connection::backoff::Backoff;
use crate::connection::options::Options;
use crate::connection::safety;
use crate::connection::tls;
use crate::failure::unavailable;

/// How long it may take until a connection can be used. Reaching the server has its own limit per
/// address.
const CONNECT_MAX: Duration = Duration::from_secs(20);

pub(crate) struct Connector {
    options: Options,
    tls: MakeRustlsConnect,
    /// Whether a server with safe settings was found before.
    was_safe: AtomicBool,
    backoff: Arc<Backoff>,
}

impl Connector {
    pub(crate) fn new(options: Options, backoff: Arc<Backoff>) -> Result<Self, StoreError> {
        Ok(Self {
            tls: tls::connector(&options)?,
            options,
            was_safe: AtomicBool::new(false),
            backoff,
        })
    }

    pub(crate) async fn connect(&self) -> Result<Client, StoreError> {
        let begun = Instant::now();
        if let Some(error) = self.backoff.check(begun) {
            return Err(error);
        }
        let connected = timeout(CONNECT_MAX, self.try_to_connect()).await;
        let connected = connected.unwrap_or_else(|_| {
            let detail = format!("the database did not answer within {CONNECT_MAX:?}");
            Err(StoreError::Unavailable { detail })
        });
        match &connected {
            Ok(_) => self.backoff.connected(Instant::now()),
            Err(error) => self.backoff.failed(begun, Instant::now(), error),
        }
        connected
    }

    async fn try_to_connect(&self) -> Result<Client, StoreError> {
        let connected = self.options.config.connect(self.tls.clone()).await;
        let (client, connection) = connected.map_err(|error| unavailable(&error))?;
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::warn!(%error, "connection to the database lost");
            }
        });
        // Checked each time, because the server behind the address may have changed.
        match safety::check(&client, self.options.allow_lossy).await {
            Ok(()) => {
                self.was_safe.store(true, Ordering::Release);
                Ok(client)
            }
            // May be temporary, for example a standby that is about to be promoted. Nothing is
            // acknowledged meanwhile.
            Err(error @ StoreError::Unsafe { .. }) if self.was_safe.load(Ordering::Acquire) => {
                Err(StoreError::Unavailable {
                    detail: error.to_string(),
                })
            }
            Err(error) => Err(error),
        }
    }
}
