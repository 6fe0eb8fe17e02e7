//! Attacks over HTTP/1.1.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;

use tokio::io::AsyncWriteExt;

use crate::attack::{Victim, at_most, connect};
use crate::client::{Http, Request};

/// The connections that one attacker keeps open.
const KEPT: usize = 1_000;
/// New connections of one attacker per second.
const CONNECTIONS: u32 = 100;
/// Requests of one attacker per second.
const REQUESTS: u32 = 200;
/// Routes that read bodies.
const ROUTES: &[&str] = &[
    "/workflows",
    "/bulk",
    "/keys",
    "/tokens",
    "/v1/workers",
    "/v1/stream/good",
    "/v1/stream/__ds/subscriptions/any/callback",
    "/v1/stream/__ds/subscriptions/any/ack",
];

/// Opens connections, sends these bytes on each, and keeps the newest ones open without reading.
pub(crate) async fn keep_open(address: SocketAddr, bytes: &[u8]) {
    let (mut pace, mut kept) = (at_most(CONNECTIONS), VecDeque::new());
    loop {
        pace.tick().await;
        if kept.len() >= KEPT {
            kept.pop_front();
        }
        if let Ok(mut socket) = connect(address).await {
            // Never blocks: what does not fit is not sent.
            let _ = socket.try_write(bytes);
            let _ = socket.flush().await;
            kept.push_back(socket);
        }
    }
}

pub(crate) async fn idle_connections(victim: Arc<Victim>) {
    keep_open(victim.address, b"").await;
}

pub(crate) async fn slow_heads(victim: Arc<Victim>) {
    let (mut pace, mut kept) = (at_most(4 * REQUESTS), VecDeque::new());
    loop {
        pace.tick().await;
        let socket = match kept.len() < KEPT {
            true => connect(victim.address).await.ok(),
            false => kept.pop_front(),
        };
        if let Some(socket) = socket
            && socket.try_write(b"G").is_ok()
        {
            kept.push_back(socket);
        }
    }
}

pub(crate) async fn large_heads(victim: Arc<Victim>) {
    let head = Request::new("GET", "/workflows").header("X", &"x".repeat(15_000));
    let bytes = head.bytes();
    keep_open(victim.address, &bytes[..bytes.len() - 2]).await;
}

pub(crate) async fn unread_responses(victim: Arc<Victim>) {
    let get = Request::new("GET", "/openapi.json").header("Accept-Encoding", "gzip");
    keep_open(victim.address, &get.bytes().repeat(20)).await;
}

pub(crate) async fn bodies_without_key(victim: Arc<Victim>) {
    let mut pace = at_most(REQUESTS / 10);
    let part = [b'['; 64 * 1024];
    for route in ROUTES.iter().cycle() {
        pace.tick().await;
        let post = Request::new("POST", route).header("Content-Type", "application/json");
        let head = post.header("Content-Length", "9999999").bytes();
        let Ok(mut socket) = connect(victim.address).await else {
            continue;
        };
        let mut is_open = socket.write_all(&head).await.is_ok();
        for _ in 0..16 {
            is_open = is_open && socket.write_all(&part).await.is_ok();
        }
    }
}

pub(crate) async fn malformed_requests(victim: Arc<Victim>) {
    let host = "Host: localhost\r\n";
    let requests = [
        "\0".repeat(1_000),
        "\u{16}\u{3}\u{1}\u{2}".to_owned(),
        format!("GET /{} HTTP/1.1\r\n{host}\r\n", "a/".repeat(7_000)),
        format!("GET / HTTP/1.1\r\n{}\r\n", "X: 1\r\n".repeat(2_000)),
        format!("{} / HTTP/1.1\r\n{host}\r\n", "A".repeat(5_000)),
        format!("POST /keys HTTP/1.1\r\n{host}Transfer-Encoding: chunked\r\n\r\nZZ\r\n"),
        format!("CONNECT localhost:22 HTTP/1.1\r\n{host}\r\n"),
        format!("GET / HTTP/1.1\r\n{host}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n"),
    ];
    let mut pace = at_most(REQUESTS);
    for request in requests.iter().cycle() {
        pace.tick().await;
        if let Ok(mut socket) = connect(victim.address).await {
            let _ = socket.write_all(request.as_bytes()).await;
        }
    }
}

pub(crate) async fn wrong_keys(victim: Arc<Victim>) {
    let keys = [
        format!("evk_{}", "0".repeat(64)),
        format!("evt_{}", "0".repeat(200)),
        "x".repeat(8_000),
    ];
    let mut pace = at_most(REQUESTS);
    loop {
        let Ok(socket) = connect(victim.address).await else {
            continue;
        };
        let mut http = Http::over(socket);
        for key in keys.iter().cycle().take(1_000) {
            pace.tick().await;
            let get = Request::new("GET", "/workflows").key(key);
            if http.send(&get).await.is_err() {
                break;
            }
        }
    }
}

pub(crate) async fn event_streams(victim: Arc<Victim>) {
    let path = "/v1/stream/large?offset=-1&live=sse";
    let get = Request::new("GET", path).key(&victim.token);
    keep_open(victim.address, &get.bytes()).await;
}

pub(crate) async fn unread_streams(victim: Arc<Victim>) {
    let get = Request::new("GET", "/v1/stream/large").key(&victim.token);
    keep_open(victim.address, &get.bytes().repeat(10)).await;
}

pub(crate) async fn unfinished_bodies(victim: Arc<Victim>) {
    let post = Request::new("POST", "/v1/stream/large").key(&victim.key);
    let post = post.header("Content-Type", "text/plain");
    let head = post.header("Content-Length", "9999999").bytes();
    keep_open(victim.address, &[head, vec![b'x'; 100_000]].concat()).await;
}

pub(crate) async fn unread_journals(victim: Arc<Victim>) {
    let path = "/v1/stream/workflows/victim?offset=-1&live=sse";
    let get = Request::new("GET", path).key(&victim.run_token);
    keep_open(victim.address, &get.bytes()).await;
}

pub(crate) async fn waits(victim: Arc<Victim>) {
    let get = Request::new("GET", "/workflows/victim?wait=30s").key(&victim.run_token);
    keep_open(victim.address, &get.bytes()).await;
}

/// Sends events until the run has no room for more, and then goes on.
pub(crate) async fn large_events(victim: Arc<Victim>) {
    let post = Request::new("POST", "/workflows/victim/events/approval").key(&victim.run_token);
    let reviewer = "x".repeat(200_000);
    let event = format!(r#"{{"approved": true, "reviewer": "{reviewer}"}}"#);
    repeat(&victim, post.body("application/json", &event), REQUESTS / 4).await;
}

/// Lists runs that no list by type, status, tag or time finds.
pub(crate) async fn lists(victim: Arc<Victim>) {
    let get = Request::new("GET", "/workflows").key(&victim.limited_key);
    repeat(&victim, get, REQUESTS).await;
}

/// Sends the same request again and again, and reads the responses.
async fn repeat(victim: &Victim, request: Request, per_second: u32) {
    let mut pace = at_most(per_second);
    loop {
        let Ok(socket) = connect(victim.address).await else {
            continue;
        };
        let mut http = Http::over(socket);
        while http.send(&request).await.is_ok() {
            pace.tick().await;
        }
    }
}
