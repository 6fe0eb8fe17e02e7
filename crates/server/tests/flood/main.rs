//! A thousand hostile requests over sockets are rejected and leave the server healthy. The test has
//! a process of its own, because it measures memory.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test that panics is a test that fails"
)]

use std::net::SocketAddr;
use std::time::Duration;

use everstep_server::{Connections, Options};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use listening::listen;
use support::server;

#[path = "../it/listening.rs"]
#[allow(dead_code, reason = "other tests use the rest of it")]
mod listening;
#[path = "../it/support.rs"]
#[allow(dead_code, reason = "other tests use the rest of it")]
mod support;

const REQUESTS: usize = 1_000;
const AT_ONCE: usize = 50;
/// How much the memory of the process may grow.
const GROWTH_KIB_MAX: u64 = 64 * 1024;

/// Returns a hostile request; `n` selects the kind and makes it unique.
fn hostile(n: usize) -> Vec<u8> {
    let request = |method: &str, path: &str, headers: &str, body: &[u8]| {
        let head = format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n");
        [head.as_bytes(), body].concat()
    };
    let post = |headers: &str, body: &[u8]| {
        let length = format!("Content-Length: {}\r\n{headers}", body.len());
        request("POST", "/v1/stream/good", &length, body)
    };
    const JSON: &str = "Content-Type: application/json\r\n";
    match n % 20 {
        0 => request("GET", &format!("/v1/stream/../../etc/passwd{n}"), "", b""),
        1 => request("PUT", "/v1/stream/%2e%2e%2f%2e%2e%2fetc", "", b""),
        2 => request("GET", "/v1/stream/%00%ff%fe", "", b""),
        3 => request("GET", "/v1/stream/..%5c..%5cwindows", "", b""),
        4 => post(JSON, "[".repeat(100_000 + n).as_bytes()),
        5 => post(
            JSON,
            format!("{}1{}", "[".repeat(500), "]".repeat(500)).as_bytes(),
        ),
        6 => post(JSON, b"\"\xff\xfe\xfd\""),
        7 => post(JSON, &[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]),
        8 => post("Content-Encoding: gzip\r\n", &[0x1f, 0x8b, 8, 0]),
        9 => request("GET", "/v1/stream/good", &"X-Flood: 1\r\n".repeat(200), b""),
        10 => {
            let huge = format!("Authorization: Bearer {}\r\n", "x".repeat(64 * 1024));
            request("GET", "/v1/stream/good", &huge, b"")
        }
        11 => request(
            "POST",
            "/v1/stream/good",
            "Content-Length: 99999999999\r\n",
            b"x",
        ),
        12 => request(
            "POST",
            "/v1/stream/good",
            "Transfer-Encoding: chunked\r\n",
            b"zzz\r\n",
        ),
        13 => request(
            "POST",
            "/v1/stream/good",
            "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n",
            b"0\r\n\r\n",
        ),
        14 => b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".to_vec(),
        15 => vec![0; 1_000 + n],
        16 => request(&"A".repeat(5_000), "/", "", b""),
        17 => request("GET", &format!("/{}", "a/".repeat(7_000)), "", b""),
        // The remaining requests never complete.
        18 => b"POST /v1/stream/good HTTP/1.1\r\nHost: localhost\r\nContent-Le".to_vec(),
        _ => request("POST", "/v1/stream/good", "Content-Length: 10\r\n", b"slow"),
    }
}

/// Sends a request, waits until the server closes the connection, and returns the status, if any.
async fn send(address: SocketAddr, bytes: Vec<u8>) -> Option<u16> {
    let mut socket = TcpStream::connect(address).await.unwrap();
    // The server may close the connection before the whole request is sent.
    let _ = socket.write_all(&bytes).await;
    let mut answer = Vec::new();
    let _ = socket.read_to_end(&mut answer).await;
    let text = String::from_utf8_lossy(&answer);
    let status = text.strip_prefix("HTTP/1.1 ")?;
    status.get(..3)?.parse().ok()
}

#[cfg(target_os = "linux")]
fn memory_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let digits = line.and_then(|line| line.split_whitespace().nth(1));
    digits.unwrap().parse().unwrap()
}

#[cfg(not(target_os = "linux"))]
fn memory_kib() -> u64 {
    0
}

#[tokio::test]
async fn a_thousand_hostile_requests_leave_the_server_healthy() {
    let mut options = Options::default();
    options.body_timeout = Duration::from_millis(300);
    let mut connections = Connections::default();
    connections.head_timeout = Duration::from_millis(300);
    let address = listen(server(options).await, connections).await;
    let good = |method: &'static str, body: &str| {
        let text = format!(
            "{method} /v1/stream/good HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
             Connection: close\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        send(address, text.into_bytes())
    };
    assert_eq!(good("PUT", "[1]").await, Some(201));
    let before = memory_kib();
    let mut sent = JoinSet::new();
    let mut answers = Vec::new();
    for n in 0..REQUESTS {
        if sent.len() >= AT_ONCE {
            answers.push(sent.join_next().await.unwrap().unwrap());
        }
        sent.spawn(async move { (n, send(address, hostile(n)).await) });
        if n % 100 == 0 {
            assert_eq!(
                good("POST", "2").await,
                Some(204),
                "a well-behaved client is served at once"
            );
        }
    }
    answers.extend(sent.join_all().await);
    assert_eq!(answers.len(), REQUESTS);
    for (n, status) in answers {
        // No response, or a client error.
        assert!(
            status.is_none_or(|status| (400..500).contains(&status)),
            "{n}: {status:?}"
        );
    }
    assert_eq!(good("POST", "3").await, Some(204));
    let grown = memory_kib().saturating_sub(before);
    assert!(grown <= GROWTH_KIB_MAX, "memory grew by {grown} KiB");
}
