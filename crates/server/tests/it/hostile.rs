//! Hostile requests are rejected, and the server keeps working.

use everstep_server::{Options, Origins};

use crate::support::{JSON, TEXT, send, server};

fn dev() -> Options {
    let mut options = Options::default();
    options.loopback_only = true;
    options.origins = Origins::Loopback;
    options.body_bytes_max = 1_000;
    options
}

// B322, B822
#[tokio::test]
async fn development_mode_serves_only_this_machine() {
    let app = server(dev()).await;
    let address = "/v1/stream/a";
    for (headers, status) in [
        (vec![TEXT], 201),
        (vec![TEXT, ("Origin", "http://localhost:3000")], 200),
        (vec![TEXT, ("Origin", "https://example.com")], 403),
        (vec![TEXT, ("Origin", "null")], 403),
        (vec![TEXT, ("Host", "example.com:4437")], 403),
        (vec![TEXT, ("Host", "[::1].evil.example")], 403),
        (vec![TEXT, ("Host", "localhost:evil.example")], 403),
        (vec![TEXT, ("Origin", "http://[::1].evil.example")], 403),
        (vec![TEXT, ("Origin", "http://localhost:evil.example")], 403),
    ] {
        let answer = send(&app, "PUT", address, &headers, "").await;
        assert_eq!(answer.status, status, "{headers:?}");
        if status == 403 {
            assert_eq!(answer.header("content-type"), "application/problem+json");
            assert_eq!(answer.json()["code"], "not_local");
        }
        assert_eq!(answer.header("x-content-type-options"), "nosniff");
        assert!(answer.header("content-security-policy").contains("sandbox"));
    }
    let local = [("Origin", "http://localhost:3000")];
    let read = send(&app, "GET", address, &local, "").await;
    assert_eq!(read.header("access-control-allow-origin"), local[0].1);
    let exposed = read.header("access-control-expose-headers");
    assert!(exposed.contains("stream-next-offset"), "{exposed}");
    let of_no_page = send(&app, "GET", address, &[], "").await;
    assert_eq!(of_no_page.header("access-control-expose-headers"), "");
    let foreign = [("Origin", "https://example.com")];
    let preflight = send(&app, "OPTIONS", address, &foreign, "").await;
    assert!(preflight.status.is_success());
    assert_eq!(preflight.header("access-control-allow-origin"), "");
}

#[tokio::test]
async fn a_request_with_two_hosts_is_rejected() {
    for options in [Options::default(), dev()] {
        let app = server(options).await;
        let hosts = [TEXT, ("Host", "localhost"), ("Host", "evil.example")];
        let answer = send(&app, "PUT", "/v1/stream/a", &hosts, "").await;
        assert_eq!(answer.status, 400);
        assert_eq!(answer.json()["code"], "invalid_request");
    }
}

#[tokio::test]
async fn pages_of_other_origins_may_embed_only_streams() {
    let app = server(dev()).await;
    send(&app, "PUT", "/v1/stream/a", &[TEXT], "x").await;
    for (method, address, policy) in [
        ("GET", "/v1/stream/a", "cross-origin"),
        ("HEAD", "/v1/stream/a", "cross-origin"),
        ("GET", "/v1/stream/missing", "cross-origin"),
        ("POST", "/v1/stream/a", "same-origin"),
        ("GET", "/workflows", "same-origin"),
        ("GET", "/metrics", "same-origin"),
        ("GET", "/nowhere", "same-origin"),
    ] {
        let answer = send(&app, method, address, &[TEXT], "x").await;
        let sent = answer.header("cross-origin-resource-policy");
        assert_eq!(sent, policy, "{method} {address}");
    }
}

#[tokio::test]
async fn paths_of_the_engine_are_rejected() {
    let app = server(dev()).await;
    for address in [
        "workflows/x",
        "workflows",
        "__ds",
        "__ds%2Fsigning-key",
        "%5F_ds/subscriptions",
    ] {
        for method in ["PUT", "POST", "GET", "DELETE", "HEAD"] {
            // Reading and appending to journals is allowed, but this one does not exist.
            let is_journal = address.starts_with("workflows");
            let expected = match method {
                "POST" | "GET" | "HEAD" if is_journal => 404,
                _ => 403,
            };
            let address = format!("/v1/stream/{address}");
            let answer = send(&app, method, &address, &[TEXT], "x").await;
            assert_eq!(answer.status, expected, "{method} {address}");
        }
    }
    let forked = [TEXT, ("Stream-Forked-From", "/v1/stream/workflows/x")];
    let fork = send(&app, "PUT", "/v1/stream/a", &forked, "").await;
    assert_eq!(fork.status, 403);
}

#[tokio::test]
async fn malformed_requests_are_rejected_without_effect() {
    let app = server(dev()).await;
    send(&app, "PUT", "/v1/stream/a", &[JSON], "").await;
    let deep = "[".repeat(400);
    let large = "x".repeat(1_001);
    let long = "x".repeat(513);
    for (method, address, headers, body, status) in [
        ("PUT", "/v1/stream/%2e%2e/x", vec![TEXT], "", 400),
        ("PUT", "/v1/stream/a//b", vec![TEXT], "", 400),
        ("PUT", "/v1/stream/%00", vec![TEXT], "", 400),
        ("PUT", "/v1/stream/%FF", vec![TEXT], "", 400),
        ("PATCH", "/v1/stream/a", vec![TEXT], "", 405),
        ("POST", "/v1/stream/a", vec![JSON], deep.as_str(), 400),
        ("POST", "/v1/stream/a", vec![JSON], large.as_str(), 413),
        (
            "POST",
            "/v1/stream/a",
            vec![JSON, ("Stream-Seq", "1"), ("Stream-Seq", "2")],
            "1",
            400,
        ),
        (
            "POST",
            "/v1/stream/a",
            vec![JSON, ("Producer-Id", "p")],
            "1",
            400,
        ),
        (
            "PUT",
            "/v1/stream/b",
            vec![TEXT, ("Stream-TTL", "99999999999999999999")],
            "",
            400,
        ),
        (
            "POST",
            "/v1/stream/a",
            vec![JSON, ("Stream-Seq", long.as_str())],
            "1",
            400,
        ),
        (
            "PUT",
            "/v1/stream/b",
            vec![("Content-Type", long.as_str())],
            "",
            400,
        ),
        ("GET", "/v1/stream/a?offset=-1&offset=now", vec![], "", 400),
        ("GET", "/v1/stream/a?live=sse", vec![], "", 400),
        (
            "GET",
            "/v1/stream/a?offset=9999999999999999_9999999999999999",
            vec![],
            "",
            400,
        ),
    ] {
        let answer = send(&app, method, address, &headers, body.to_owned()).await;
        assert_eq!(answer.status, status, "{method} {address}");
        assert_eq!(answer.header("content-type"), "application/problem+json");
    }
    let missing = send(&app, "GET", "/v1/stream/missing", &[], "").await;
    assert_eq!(missing.json()["code"], "stream_missing");
    let read = send(&app, "GET", "/v1/stream/a", &[], "").await;
    assert_eq!((read.status.as_u16(), &read.body[..]), (200, &b"[]"[..]));
}
