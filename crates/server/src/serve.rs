//! Runs a router on a listener, with limits on connections.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use axum::{Extension, Router};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use crate::closing::Closing;
use crate::stalling::Stalling;
use crate::tls::Tls;

/// The pause after `accept` failed, usually because the process has run out of sockets.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(50);
/// The smallest buffer that hyper accepts.
const HEAD_BYTES_MIN: usize = 8 * 1024;

/// Limits on connections, and TLS.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Connections {
    /// The maximum number of connections. Further ones wait to be accepted.
    pub max: usize,
    /// How long the head of a request may take to arrive, and how long a connection may be idle.
    pub head_timeout: Duration,
    /// The maximum size of the head of a request in bytes, at least 8,192.
    pub head_bytes_max: usize,
    /// How long the TLS handshake may take.
    pub handshake_timeout: Duration,
    /// How long a client may read nothing of a response.
    pub stall_timeout: Duration,
    /// How long responses in flight may take after serving has ended.
    pub grace: Duration,
    /// The certificate. Without it, connections are not encrypted.
    pub tls: Option<Tls>,
}

impl Default for Connections {
    fn default() -> Self {
        Self {
            max: 10_000,
            head_timeout: Duration::from_secs(10),
            head_bytes_max: 16 * 1024,
            handshake_timeout: Duration::from_secs(10),
            stall_timeout: Duration::from_secs(30),
            grace: Duration::from_secs(10),
            tls: None,
        }
    }
}

/// Extension of requests that arrived over TLS.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Secured;

/// The progress of a shutdown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Open,
    /// Responses in flight may finish.
    Closing,
    /// The grace period has expired.
    Closed,
}

/// Serves until `ended` completes. Then accepts no more connections, answers waiting requests at
/// once, and lets responses in flight finish within the grace period.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    connections: Connections,
    ended: impl Future<Output = ()>,
) {
    let router = match connections.tls {
        Some(_) => router.layer(Extension(Secured)),
        None => router,
    };
    let (close_waits, is_closing) = watch::channel(false);
    let router = router.layer(Extension(Closing::new(is_closing)));
    let permits = Arc::new(Semaphore::new(connections.max));
    let connections = Arc::new(connections);
    let grace = connections.grace;
    let (closing, stage) = watch::channel(Stage::Open);
    let mut ended = std::pin::pin!(ended);
    loop {
        let accepted = tokio::select! {
            () = &mut ended => break,
            accepted = accept(&listener, &permits) => accepted,
        };
        match accepted {
            Ok((socket, permit)) => {
                let connection = Connection {
                    connections: connections.clone(),
                    router: router.clone(),
                    stage: stage.clone(),
                    _permit: permit,
                };
                tokio::spawn(connection.run(socket));
            }
            Err(error) => {
                tracing::warn!(%error, "cannot accept connection");
                tokio::time::sleep(ACCEPT_RETRY_DELAY).await;
            }
        }
    }
    drop(stage);
    let _ = close_waits.send(true);
    let _ = closing.send(Stage::Closing);
    if tokio::time::timeout(grace, closing.closed()).await.is_err() {
        let _ = closing.send(Stage::Closed);
        closing.closed().await;
    }
}

/// Accepts the next connection when a permit is available.
async fn accept(
    listener: &TcpListener,
    permits: &Arc<Semaphore>,
) -> std::io::Result<(TcpStream, OwnedSemaphorePermit)> {
    let permit = permits.clone().acquire_owned().await;
    let permit = permit.map_err(std::io::Error::other)?;
    let (socket, _) = listener.accept().await?;
    Ok((socket, permit))
}

struct Connection {
    connections: Arc<Connections>,
    router: Router,
    stage: watch::Receiver<Stage>,
    _permit: OwnedSemaphorePermit,
}

impl Connection {
    async fn run(self, socket: TcpStream) {
        let _ = socket.set_nodelay(true);
        let socket = Stalling::new(socket, self.connections.stall_timeout);
        let Some(tls) = &self.connections.tls else {
            return self.exchange(socket).await;
        };
        let handshake = tls.acceptor().accept(socket);
        let timeout = self.connections.handshake_timeout;
        match tokio::time::timeout(timeout, handshake).await {
            Ok(Ok(secured)) => self.exchange(secured).await,
            Ok(Err(error)) => tracing::debug!(%error, "TLS handshake failed"),
            Err(_) => tracing::debug!("TLS handshake timed out"),
        }
    }

    async fn exchange(mut self, socket: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
        let service = TowerToHyperService::new(self.router);
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(self.connections.head_timeout)
            .max_buf_size(self.connections.head_bytes_max.max(HEAD_BYTES_MIN))
            .serve_connection(TokioIo::new(socket), service);
        let mut connection = std::pin::pin!(connection);
        tokio::select! {
            _ = connection.as_mut() => return,
            _ = self.stage.wait_for(|stage| *stage >= Stage::Closing) => {
                connection.as_mut().graceful_shutdown();
            }
        }
        tokio::select! {
            _ = connection => {}
            _ = self.stage.wait_for(|stage| *stage == Stage::Closed) => {}
        }
    }
}
