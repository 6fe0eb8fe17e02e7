//! A server on a real socket.

use std::net::SocketAddr;

use axum::Router;
use everstep_server::{Connections, serve};
use tokio::net::TcpListener;

/// Serves on a free port until the test ends.
pub(crate) async fn listen(router: Router, connections: Connections) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let never = std::future::pending();
    tokio::spawn(serve(listener, router, connections, never));
    address
}
