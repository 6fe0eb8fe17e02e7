//! Running a router on a listener, with bounds on what a connection may send before it is a request.

use std::future::Future;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// How long a request's head may take to arrive.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
/// Bytes of a request's head.
const HEAD_BYTES_MAX: usize = 16 * 1024;
/// How long to rest after the machine has run out of sockets.
const ACCEPT_REST: Duration = Duration::from_millis(50);

/// Serves until `ended` completes; then nothing new is accepted, and answers under way are finished.
pub async fn serve(listener: TcpListener, router: Router, ended: impl Future<Output = ()>) {
    let (closing, closed) = watch::channel(false);
    let mut ended = std::pin::pin!(ended);
    loop {
        let accepted = tokio::select! {
            () = &mut ended => break,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((socket, _)) => {
                let connection = connection(socket, router.clone(), closed.clone());
                tokio::spawn(connection);
            }
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(ACCEPT_REST).await;
            }
        }
    }
    drop(closed);
    let _ = closing.send(true);
    closing.closed().await;
}

async fn connection(socket: TcpStream, router: Router, mut closed: watch::Receiver<bool>) {
    let _ = socket.set_nodelay(true);
    let service = TowerToHyperService::new(router);
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_buf_size(HEAD_BYTES_MAX)
        .serve_connection(TokioIo::new(socket), service);
    let mut connection = std::pin::pin!(connection);
    tokio::select! {
        _ = connection.as_mut() => return,
        _ = closed.wait_for(|closed| *closed) => connection.as_mut().graceful_shutdown(),
    }
    let _ = connection.await;
}
