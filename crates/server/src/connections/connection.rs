//! One connection: its TLS handshake, the choice between HTTP/1.1 and HTTP/2, and its end.

use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, watch};

use super::http2;
use super::limits::Connections;
use super::stalling::Stalling;
use super::table::{Evicted, OpenConnection};
use super::tls::HTTP2;

/// The smallest buffer that hyper accepts.
const HEAD_BYTES_MIN: usize = 8 * 1024;
/// How an HTTP/2 connection begins, and no request of HTTP/1.1.
const HTTP2_BEGINNING: &[u8] = b"PRI";

/// The bytes of a response that the kernel buffers beyond those that it has sent. By default it
/// buffers megabytes for each client that does not read.
#[cfg(target_os = "linux")]
const UNSENT_BYTES_MAX: u32 = 64 * 1024;

/// Extension of requests that arrived over TLS.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Secured;

/// The progress of a shutdown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    Open,
    /// Responses in flight may finish.
    Closing,
    /// The grace period has expired.
    Closed,
}

pub(super) struct Connection {
    pub(super) connections: Arc<Connections>,
    pub(super) router: Router,
    pub(super) stage: watch::Receiver<Stage>,
    pub(super) open: Arc<OpenConnection>,
    pub(super) _permit: OwnedSemaphorePermit,
}

impl Connection {
    /// Serves the connection until it ends or must make room for another one.
    pub(super) async fn run(mut self, socket: TcpStream, evicted: Evicted) {
        let mut stage = self.stage.clone();
        let ended = async move {
            let _ = stage.wait_for(|stage| *stage == Stage::Closed).await;
        };
        tokio::select! {
            () = self.serve(socket) => {}
            () = ended => {}
            _ = evicted => tracing::debug!("connection closed to make room for another one"),
        }
    }

    async fn serve(&mut self, socket: TcpStream) {
        let _ = socket.set_nodelay(true);
        #[cfg(target_os = "linux")]
        let _ = socket2::SockRef::from(&socket).set_tcp_notsent_lowat(UNSENT_BYTES_MAX);
        // Until the client sends something, a connection has neither buffers nor TLS.
        let mut beginning = [0; HTTP2_BEGINNING.len()];
        let timeout = self.connections.head_timeout;
        let peeked = tokio::select! {
            peeked = tokio::time::timeout(timeout, socket.peek(&mut beginning)) => peeked,
            _ = self.stage.wait_for(|stage| *stage >= Stage::Closing) => return,
        };
        let Ok(Ok(1..)) = peeked else { return };
        let socket = Stalling::new(socket, self.connections.stall_timeout);
        let Some(tls) = &self.connections.tls else {
            return match beginning == HTTP2_BEGINNING {
                true => Box::pin(self.exchange_http2(socket)).await,
                false => Box::pin(self.exchange_http1(socket)).await,
            };
        };
        let handshake = Box::pin(tls.acceptor().accept(socket));
        let timeout = self.connections.handshake_timeout;
        match tokio::time::timeout(timeout, handshake).await {
            Ok(Ok(secured)) => {
                let is_http2 = secured.get_ref().1.alpn_protocol() == Some(HTTP2);
                match is_http2 {
                    true => Box::pin(self.exchange_http2(secured)).await,
                    false => Box::pin(self.exchange_http1(secured)).await,
                }
            }
            Ok(Err(error)) => tracing::debug!(%error, "TLS handshake failed"),
            Err(_) => tracing::debug!("TLS handshake timed out"),
        }
    }

    async fn exchange_http1(
        &mut self,
        socket: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    ) {
        let router = TowerToHyperService::new(self.router.clone());
        let open = self.open.clone();
        let service = service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(open.clone());
            router.call(request)
        });
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
        let _ = connection.await;
    }

    async fn exchange_http2(
        &mut self,
        socket: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    ) {
        self.open.use_http2();
        let limits = http2::Limits {
            head_bytes_max: self.connections.head_bytes_max.max(HEAD_BYTES_MIN),
            idle_max: self.connections.head_timeout,
            stall_max: self.connections.stall_timeout,
        };
        let mut stage = self.stage.clone();
        let closing = async move {
            let _ = stage.wait_for(|stage| *stage >= Stage::Closing).await;
        };
        let router = TowerToHyperService::new(self.router.clone());
        let open = self.open.clone();
        http2::exchange(socket, router, open, limits, closing).await;
    }
}
