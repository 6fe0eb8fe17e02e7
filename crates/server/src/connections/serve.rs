//! Runs a router on a listener, with limits on connections.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use axum::{Extension, Router};
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};

use super::closing::Closing;
use super::connection::{Connection, Secured, Stage};
use super::descriptors;
use super::limits::Connections;
use super::table::ConnectionTable;

/// The pause after `accept` failed, usually because the process has run out of sockets.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(50);

/// Raises the limit of file descriptors of the process, and serves until `ended` completes. Then
/// accepts no more connections, answers waiting requests at once, and lets responses in flight
/// finish within the grace period.
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
    let max = descriptors::connections_max(connections.max);
    let table = ConnectionTable::new(max);
    // A connection that was closed to make room needs a moment to release its descriptor.
    let permits = Arc::new(Semaphore::new(max));
    let connections = Arc::new(connections);
    let grace = connections.grace;
    let (closing, stage) = watch::channel(Stage::Open);
    let mut ended = std::pin::pin!(ended);
    loop {
        let accepted = tokio::select! {
            () = &mut ended => break,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((socket, address)) => {
                let (open, evicted) = table.open(address.ip());
                let Ok(permit) = permits.clone().acquire_owned().await else {
                    break;
                };
                let connection = Connection {
                    connections: connections.clone(),
                    router: router.clone(),
                    stage: stage.clone(),
                    open: Arc::new(open),
                    _permit: permit,
                };
                tokio::spawn(connection.run(socket, evicted));
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
