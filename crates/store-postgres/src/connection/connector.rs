//! Opens connections. After a failure it backs off (`rest.rs`), and calls fail immediately.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use everstep_store::StoreError;
use tokio::time::{Instant, timeout};
use tokio_postgres::Client;
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::connection::options::Options;
use crate::connection::rest::Rest;
use crate::connection::safety;
use crate::connection::tls;
use crate::failure::unavailable;

/// How long it may take until a connection can be used. To reach the server has a limit of its own,
/// for each address.
const CONNECT_MAX: Duration = Duration::from_secs(20);

pub(crate) struct Connector {
    options: Options,
    tls: MakeRustlsConnect,
    /// Whether the server was found safe once.
    was_safe: AtomicBool,
    rest: Arc<Rest>,
}

impl Connector {
    pub(crate) fn new(options: Options, rest: Arc<Rest>) -> Result<Self, StoreError> {
        Ok(Self {
            tls: tls::connector(&options)?,
            options,
            was_safe: AtomicBool::new(false),
            rest,
        })
    }

    pub(crate) async fn connect(&self) -> Result<Client, StoreError> {
        let begun = Instant::now();
        if let Some(error) = self.rest.refusal(begun) {
            return Err(error);
        }
        let connected = timeout(CONNECT_MAX, self.try_to_connect()).await;
        let connected = connected.unwrap_or_else(|_| {
            Err(StoreError::Unavailable {
                detail: format!(
                    "the database took the connection, and has said nothing for {} s",
                    CONNECT_MAX.as_secs()
                ),
            })
        });
        match &connected {
            Ok(_) => self.rest.end(Instant::now()),
            Err(error) => self.rest.begin(begun, Instant::now(), error),
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
            // A server that is about to become the primary, say: it is waited for, and nothing is
            // acknowledged meanwhile.
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
}
