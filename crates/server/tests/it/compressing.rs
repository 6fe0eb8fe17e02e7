//! Compression of responses, and the headers for caches.

use std::io::Read;

use axum::Router;
use axum::http::{StatusCode, header};
use everstep_server::Options;
use flate2::read::GzDecoder;

use crate::support::{JSON, Response, TEXT, send, server};

const ADDRESS: &str = "/v1/stream/poem";
const GZIP: (&str, &str) = ("Accept-Encoding", "gzip, deflate");

/// Starts a server with a stream of this content type and length.
async fn with_stream(content_type: (&str, &str), bytes: usize) -> (Router, String) {
    let server = server(Options::default()).await;
    let text = "and so on ".repeat(bytes.div_ceil(10));
    let text = text[..bytes].to_owned();
    let created = send(&server, "PUT", ADDRESS, &[content_type], text.clone()).await;
    assert_eq!(created.status, StatusCode::CREATED);
    (server, text)
}

fn is_compressed(answer: &Response) -> bool {
    answer.headers.contains_key(header::CONTENT_ENCODING)
}

fn varies_by_encoding(answer: &Response) -> bool {
    let varies = answer.headers.get_all(header::VARY).iter();
    let mut varies = varies.map(|value| value.to_str().unwrap());
    varies.any(|value| value.eq_ignore_ascii_case("accept-encoding"))
}

#[tokio::test]
async fn long_text_is_compressed_on_request_and_decompresses_to_the_same() {
    let (server, text) = with_stream(TEXT, 100_000).await;
    let plain = send(&server, "GET", ADDRESS, &[], "").await;
    assert!(!is_compressed(&plain) && plain.body == text.as_bytes());
    assert!(
        varies_by_encoding(&plain),
        "caches must distinguish the encodings"
    );

    let packed = send(&server, "GET", ADDRESS, &[GZIP], "").await;
    assert_eq!(packed.headers[header::CONTENT_ENCODING], "gzip");
    assert!(varies_by_encoding(&packed));
    assert!(packed.body.len() < 2_000, "{}", packed.body.len());
    let mut unpacked = String::new();
    let mut decoder = GzDecoder::new(packed.body.as_ref());
    decoder.read_to_string(&mut unpacked).unwrap();
    assert_eq!(unpacked, text);
    for name in ["stream-next-offset", "stream-up-to-date", "cache-control"] {
        assert_eq!(packed.headers[name], plain.headers[name], "{name}");
    }

    let refused = ("Accept-Encoding", "gzip;q=0, br");
    let other = send(&server, "GET", ADDRESS, &[refused], "").await;
    assert!(!is_compressed(&other));
}

#[tokio::test]
async fn the_etag_of_a_compressed_response_is_weak_and_matches() {
    let (server, _) = with_stream(TEXT, 100_000).await;
    let plain = send(&server, "GET", ADDRESS, &[], "").await;
    let packed = send(&server, "GET", ADDRESS, &[GZIP], "").await;
    let strong = plain.headers[header::ETAG].to_str().unwrap();
    let weak = packed.headers[header::ETAG].to_str().unwrap();
    assert_eq!(weak, format!("W/{strong}"));
    for tag in [strong, weak] {
        let known = [GZIP, ("If-None-Match", tag)];
        let unchanged = send(&server, "GET", ADDRESS, &known, "").await;
        assert_eq!(unchanged.status, StatusCode::NOT_MODIFIED, "{tag}");
        assert!(unchanged.body.is_empty() && !is_compressed(&unchanged));
    }
}

#[tokio::test]
async fn short_binary_and_event_stream_responses_are_not_compressed() {
    let (short, text) = with_stream(TEXT, 1_000).await;
    let answer = send(&short, "GET", ADDRESS, &[GZIP], "").await;
    assert!(!is_compressed(&answer) && answer.body == text.as_bytes());

    let picture = ("Content-Type", "image/png");
    let (picture, text) = with_stream(picture, 100_000).await;
    let answer = send(&picture, "GET", ADDRESS, &[GZIP], "").await;
    assert!(!is_compressed(&answer) && answer.body == text.as_bytes());

    let (events, _) = with_stream(TEXT, 100_000).await;
    let closed = ("Stream-Closed", "true");
    send(&events, "POST", ADDRESS, &[closed], "").await;
    let live = format!("{ADDRESS}?offset=-1&live=sse");
    let answer = send(&events, "GET", &live, &[GZIP], "").await;
    assert_eq!(answer.headers[header::CONTENT_TYPE], "text/event-stream");
    assert!(!is_compressed(&answer));
}

#[tokio::test]
async fn json_is_compressed_except_for_callers_without_a_key() {
    let server = server(Options::default()).await;
    let messages = format!(r#"["{}"]"#, "x".repeat(10_000));
    send(&server, "PUT", ADDRESS, &[JSON], messages).await;
    let read = send(&server, "GET", ADDRESS, &[GZIP], "").await;
    assert_eq!(read.headers[header::CONTENT_ENCODING], "gzip");
    let described = send(&server, "GET", "/openapi.json", &[GZIP], "").await;
    assert!(!is_compressed(&described) && described.body.len() > 10_000);
}
