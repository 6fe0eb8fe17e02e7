//! The router mounted under a prefix.

use axum::Router;
use everstep_server::Options;

use crate::support::{TEXT, send, server};

#[tokio::test]
async fn urls_include_the_mount_prefix() {
    let app = Router::new().nest("/api", server(Options::default()).await);
    let created = send(&app, "PUT", "/api/v1/stream/a/b", &[TEXT], "1").await;
    assert_eq!(created.status, 201);
    let address = "http://localhost:4437/api/v1/stream/a/b";
    assert_eq!(created.header("location"), address);
    for source in ["/api/v1/stream/a/b", address] {
        let forked = [TEXT, ("Stream-Forked-From", source)];
        let fork = send(&app, "PUT", "/api/v1/stream/fork", &forked, "").await;
        assert!(fork.status.is_success(), "{fork:?}");
    }
    let elsewhere = [TEXT, ("Stream-Forked-From", "/v1/stream/a/b")];
    let fork = send(&app, "PUT", "/api/v1/stream/other", &elsewhere, "").await;
    assert_eq!(fork.status, 400);
    let read = send(&app, "GET", "/api/v1/stream/fork", &[], "").await;
    assert_eq!(read.body, "1");
}

#[tokio::test]
async fn paths_are_decoded_once() {
    let app = server(Options::default()).await;
    let created = send(&app, "PUT", "/v1/stream/a%20b/%C3%BC%252F", &[TEXT], "x").await;
    assert_eq!(created.status, 201);
    let read = send(&app, "GET", "/v1/stream/a%20b/%c3%bc%252F", &[], "").await;
    assert_eq!(read.body, "x");
    let other = send(&app, "GET", "/v1/stream/a%20b/%C3%BC%2F", &[], "").await;
    assert_eq!(other.status, 400);
}

#[tokio::test]
async fn an_offset_of_a_stream_that_was_deleted_is_gone() {
    let app = server(Options::default()).await;
    let old = send(&app, "PUT", "/v1/stream/a", &[TEXT], "old").await;
    send(&app, "DELETE", "/v1/stream/a", &[], "").await;
    send(&app, "PUT", "/v1/stream/a", &[TEXT], "new").await;
    let address = format!("/v1/stream/a?offset={}", old.header("stream-next-offset"));
    let read = send(&app, "GET", &address, &[], "").await;
    assert_eq!(read.status, 410);
}
