//! Running a router on a listener, with bounds on what a connection may do before, between and after its requests.

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

use crate::stalling::Stalling;
use crate::tls::Tls;

/// How long to rest after the machine has run out of sockets.
const ACCEPT_REST: Duration = Duration::from_millis(50);

/// How connections are treated.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Connections {
    /// Connections at once; more wait to be accepted.
    pub max: usize,
    /// How long a request's head may take to arrive, and a connection may be idle.
    pub head_timeout: Duration,
    /// Bytes of a request's head, and of what is buffered of its answer.
    pub head_bytes_max: usize,
    /// How long agreeing on a secure connection may take.
    pub handshake_timeout: Duration,
    /// How long the other side may read nothing of an answer.
    pub stall_timeout: Duration,
    /// How long answers under way may take once serving has ended.
    pub grace: Duration,
    /// How connections are secured; not at all without it.
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

/// Marks requests that came over a secure connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Secured;

/// How far the end of serving is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Open,
    /// Answers under way are finished.
    Closing,
    /// They took too long.
    Closed,
}

/// Serves until `ended` completes; then nothing new is accepted, and answers under way are finished, within the grace.
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
    let places = Arc::new(Semaphore::new(connections.max));
    let connections = Arc::new(connections);
    let grace = connections.grace;
    let (closing, stage) = watch::channel(Stage::Open);
    let mut ended = std::pin::pin!(ended);
    loop {
        let accepted = tokio::select! {
            () = &mut ended => break,
            accepted = accept(&listener, &places) => accepted,
        };
        match accepted {
            Ok((socket, place)) => {
                let connection = Connection {
                    connections: connections.clone(),
                    router: router.clone(),
                    stage: stage.clone(),
                    _place: place,
                };
                tokio::spawn(connection.run(socket));
            }
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(ACCEPT_REST).await;
            }
        }
    }
    drop(stage);
    let _ = closing.send(Stage::Closing);
    if tokio::time::timeout(grace, closing.closed()).await.is_err() {
        let _ = closing.send(Stage::Closed);
        closing.closed().await;
    }
}

/// The next connection, once there is a place for it.
async fn accept(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
) -> std::io::Result<(TcpStream, OwnedSemaphorePermit)> {
    let place = places.clone().acquire_owned().await;
    let place = place.map_err(std::io::Error::other)?;
    let (socket, _) = listener.accept().await?;
    Ok((socket, place))
}

struct Connection {
    connections: Arc<Connections>,
    router: Router,
    stage: watch::Receiver<Stage>,
    _place: OwnedSemaphorePermit,
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
            Ok(Err(error)) => tracing::debug!(%error, "a connection could not be secured"),
            Err(_) => tracing::debug!("a connection took too long to be secured"),
        }
    }

    async fn exchange(mut self, socket: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
        let service = TowerToHyperService::new(self.router);
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(self.connections.head_timeout)
            .max_buf_size(self.connections.head_bytes_max)
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
