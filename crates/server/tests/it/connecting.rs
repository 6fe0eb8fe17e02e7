//! Too many connections: callers without a key lose theirs first.

use std::net::SocketAddr;

use everstep_server::Connections;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::listening::listen;
use crate::support::{TEXT, open, send, server};

/// Sends a request that identifies the caller, and reads the head of the response.
async fn status(socket: &mut TcpStream) -> String {
    let request = "HEAD /v1/stream/a HTTP/1.1\r\nHost: localhost\r\n\r\n";
    socket.write_all(request.as_bytes()).await.unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        assert_ne!(socket.read_buf(&mut head).await.unwrap(), 0);
    }
    String::from_utf8_lossy(&head[..12]).into_owned()
}

async fn connect(server: SocketAddr) -> TcpStream {
    TcpStream::connect(server).await.unwrap()
}

// B781
#[tokio::test]
async fn idle_connections_make_room_for_others() {
    let app = server(open()).await;
    send(&app, "PUT", "/v1/stream/a", &[TEXT], "x").await;
    let mut connections = Connections::default();
    connections.max = 8;
    let address = listen(app, connections).await;
    let mut kept = connect(address).await;
    assert_eq!(status(&mut kept).await, "HTTP/1.1 200");
    let mut idle = Vec::new();
    for _ in 0..50 {
        idle.push(connect(address).await);
    }
    assert_eq!(status(&mut connect(address).await).await, "HTTP/1.1 200");
    assert_eq!(status(&mut kept).await, "HTTP/1.1 200");
    for mut socket in idle.into_iter().take(46) {
        let closed = socket.read(&mut [0]).await;
        assert!(closed.is_err() || closed.is_ok_and(|bytes| bytes == 0));
    }
}
