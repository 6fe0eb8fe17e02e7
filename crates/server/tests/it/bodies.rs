//! Bodies of requests: which are read, how much of them, and which are rejected.

use axum::Router;
use axum::body::{Body, Bytes};
use everstep_server::{Connections, router};
use futures_util::stream;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::listening::listen;
use crate::support::{JSON, TEXT, engine_on, open, send, server, store};

const SUBSCRIPTION: &str = "/v1/stream/__ds/subscriptions/s";
const WAKE_VERBS: [&str; 3] = ["callback", "ack", "release"];

/// A body that never arrives. A request that waits for it is answered 408.
fn endless() -> Body {
    Body::from_stream(stream::pending::<Result<Bytes, std::io::Error>>())
}

/// Creates a subscription and claims its first wake. Returns the `Authorization` of the wake.
async fn claimed(app: &Router) -> String {
    let body = json!({"type": "pull-wake", "pattern": "events/*", "wake_stream": "wakes"});
    send(app, "PUT", SUBSCRIPTION, &[JSON], body.to_string()).await;
    send(app, "PUT", "/v1/stream/events/a", &[JSON], "[1]").await;
    let claim = format!("{SUBSCRIPTION}/claim");
    let claimed = send(app, "POST", &claim, &[JSON], r#"{"worker":"w"}"#).await;
    format!("Bearer {}", claimed.json()["token"].as_str().unwrap())
}

// B320
#[tokio::test(start_paused = true)]
async fn the_token_of_a_wake_is_checked_before_the_body_is_read() {
    let app = server(open()).await;
    let token = claimed(&app).await;
    let mut forged = token.clone();
    forged.push('A');
    for verb in WAKE_VERBS {
        let address = format!("{SUBSCRIPTION}/{verb}");
        let other = format!("/v1/stream/__ds/subscriptions/other/{verb}");
        for (address, headers) in [
            (&address, vec![JSON]),
            (&address, vec![JSON, ("Authorization", "Bearer nonsense")]),
            (&address, vec![JSON, ("Authorization", forged.as_str())]),
            (&other, vec![JSON, ("Authorization", token.as_str())]),
        ] {
            let answer = send(&app, "POST", address, &headers, endless()).await;
            assert_eq!(answer.status, 401, "{address} {headers:?}");
            assert_eq!(answer.json()["error"]["code"], "TOKEN_INVALID");
        }
    }
}

#[tokio::test]
async fn the_body_of_a_woken_subscriber_has_at_most_64_kib() {
    let app = server(open()).await;
    let token = claimed(&app).await;
    let headers = [JSON, ("Authorization", token.as_str())];
    for verb in WAKE_VERBS {
        let address = format!("{SUBSCRIPTION}/{verb}");
        for (bytes, status) in [(64 * 1024, 400), (64 * 1024 + 1, 413)] {
            let answer = send(&app, "POST", &address, &headers, "x".repeat(bytes)).await;
            assert_eq!(answer.status, status, "{verb}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn requests_that_need_no_body_do_not_read_it() {
    let app = server(open()).await;
    claimed(&app).await;
    for (method, address, status) in [
        ("GET", "/v1/stream/__ds/jwks.json", 200),
        ("GET", SUBSCRIPTION, 200),
        ("DELETE", SUBSCRIPTION, 204),
    ] {
        let answer = send(&app, method, address, &[], endless()).await;
        assert_eq!(answer.status, status, "{method} {address}");
    }
}

// B321
#[tokio::test]
async fn json_routes_reject_other_content_types() {
    let app = server(open()).await;
    let key = r#"{"name":"a","scopes":["admin"],"workflows":[]}"#;
    let worker = r#"{"worker":"w","slots":1,"workflows":[]}"#;
    for (address, body) in [
        ("/keys", key),
        ("/tokens", r#"{"run":"r"}"#),
        ("/v1/workers", worker),
        ("/workflows", r#"{"workflow":"w"}"#),
    ] {
        for headers in [vec![], vec![TEXT]] {
            let answer = send(&app, "POST", address, &headers, body).await;
            assert_eq!(answer.status, 415, "{address} {headers:?}");
            assert_eq!(answer.json()["code"], "invalid_request");
        }
    }
}

#[tokio::test]
async fn a_workers_request_that_is_nested_too_deeply_is_rejected() {
    let app = server(open()).await;
    let register = json!({
        "worker": "w", "slots": 1, "workflows": [{"name": "w", "versions": [1, 1]}],
    });
    let session = send(&app, "POST", "/v1/workers", &[JSON], register.to_string()).await;
    let session = session.json()["session"].as_str().unwrap().to_owned();
    let address = format!("/v1/workers/{session}/append");
    for (depth, status) in [(64, 200), (200_000, 400)] {
        let deep = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let body = format!(r#"{{"appends":[],"note":{deep}}}"#);
        let answer = send(&app, "POST", &address, &[JSON], body).await;
        assert_eq!(answer.status, status, "{depth}");
    }
}

/// Sends a raw request and returns the first line of the response.
async fn status_line(address: std::net::SocketAddr, request: &str) -> String {
    let mut socket = TcpStream::connect(address).await.unwrap();
    socket.write_all(request.as_bytes()).await.unwrap();
    let mut response = Vec::new();
    while !response.contains(&b'\n') {
        assert_ne!(socket.read_buf(&mut response).await.unwrap(), 0);
    }
    let response = String::from_utf8_lossy(&response);
    response.lines().next().unwrap().to_owned()
}

// B323
#[tokio::test]
async fn a_malformed_body_is_not_called_too_large() {
    let mut options = open();
    options.body_bytes_max = 8;
    options.worker_body_bytes_max = 8;
    let app = router(engine_on(&store()).await, options);
    let address = listen(app, Connections::default()).await;
    for path in ["/workflows", "/v1/workers", "/v1/stream/a"] {
        for (chunks, status) in [("ZZ\r\n", "400"), ("9\r\n123456789\r\n0\r\n\r\n", "413")] {
            let head = "Host: localhost\r\nContent-Type: application/json";
            let request = format!(
                "POST {path} HTTP/1.1\r\n{head}\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}"
            );
            let line = status_line(address, &request).await;
            assert!(
                line.starts_with(&format!("HTTP/1.1 {status}")),
                "{path} {line}"
            );
        }
    }
}

/// A body of this size that arrives in two parts. The shares of callers apply from the second one
/// on.
fn in_two_parts(bytes: usize) -> Body {
    let parts = [60, bytes - 60].map(|bytes| Ok::<_, std::io::Error>("x".repeat(bytes)));
    Body::from_stream(stream::iter(parts))
}

// B857
#[tokio::test]
async fn a_body_over_the_limit_is_too_large_although_the_memory_for_bodies_is_as_small() {
    let mut options = open();
    options.worker_body_bytes_max = 100;
    let app = server(options).await;
    for (bytes, status) in [(100, 400), (101, 413)] {
        let answer = send(&app, "POST", "/v1/workers", &[JSON], in_two_parts(bytes)).await;
        assert_eq!(answer.status, status, "{bytes}");
    }
}

// B851
#[tokio::test]
async fn a_journal_may_be_larger_than_all_other_bodies() {
    let mut options = open();
    options.body_bytes_max = 8;
    options.requests_bytes_max = 8;
    options.import_bytes_max = 100;
    let app = server(options).await;
    let lines = ("Content-Type", "application/x-ndjson");
    for (bytes, status) in [(100, 400), (101, 413)] {
        let address = "/workflows/r/journal";
        let answer = send(&app, "PUT", address, &[lines], in_two_parts(bytes)).await;
        assert_eq!(answer.status, status, "{bytes}");
    }
}

// B851
#[tokio::test]
async fn the_refusal_of_a_large_body_names_the_setting() {
    let mut options = open();
    options.body_bytes_max = 8;
    options.worker_body_bytes_max = 8;
    options.import_bytes_max = 8;
    let app = server(options).await;
    for (method, address, setting) in [
        ("POST", "/workflows", "`body_bytes_max`"),
        ("POST", "/v1/workers", "`worker_body_bytes_max`"),
        ("PUT", "/workflows/r/journal", "`import_bytes_max`"),
    ] {
        let answer = send(&app, method, address, &[JSON], "123456789").await;
        assert_eq!(answer.json()["code"], "payload_too_large", "{address}");
        let detail = answer.json()["detail"].to_string();
        assert!(detail.contains(setting), "{detail}");
    }
}

#[tokio::test]
async fn json_responses_end_with_a_newline() {
    let app = server(open()).await;
    for (address, status) in [
        ("/workflows", 200),
        ("/keys", 200),
        ("/workflows/missing", 404),
        ("/nowhere", 404),
        ("/openapi.json", 200),
    ] {
        let answer = send(&app, "GET", address, &[], "").await;
        assert_eq!(answer.status, status, "{address}");
        assert!(answer.body.ends_with(b"}\n"), "{address}");
    }
}
