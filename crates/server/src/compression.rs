//! Answers are compressed for clients that ask for it, where that is worth it: long texts (PROTOCOL.md 5.8). Requests are never
//! decompressed.
//!
//! Event streams are left alone: each event is to arrive when it is written. So is what is no text, which seldom gets smaller.

use axum::extract::Request;
use axum::http::{Extensions, HeaderMap, HeaderValue, StatusCode, Version, header};
use axum::middleware::Next;
use axum::response::Response;
use tower_http::CompressionLevel;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{And, Predicate as _, SizeAbove};

/// Shorter answers travel as fast as they are.
const BYTES_MIN: u16 = 1024;

type Worth = And<SizeAbove, fn(StatusCode, Version, &HeaderMap, &Extensions) -> bool>;

/// Compresses what is worth it, and says so in `Content-Encoding` and `Vary`.
pub(crate) fn compress() -> CompressionLayer<Worth> {
    // Journals get much smaller at once, and hardly any more by trying harder.
    CompressionLayer::new()
        .quality(CompressionLevel::Fastest)
        .compress_when(SizeAbove::new(BYTES_MIN).and(is_text as fn(_, _, &_, &_) -> _))
}

fn is_text(_: StatusCode, _: Version, headers: &HeaderMap, _: &Extensions) -> bool {
    let kind = headers.get(header::CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    let kind = kind.to_ascii_lowercase();
    match kind.split_once('/') {
        Some(("text", subtype)) => subtype != "event-stream",
        Some((_, subtype)) => subtype.ends_with("json") || subtype.ends_with("xml"),
        None => false,
    }
}

/// A tag that is strong promises the same bytes; compressed ones are not the same as those that are not.
pub(crate) async fn weaken_tag(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    if !headers.contains_key(header::CONTENT_ENCODING) {
        return response;
    }
    let tag = headers.get(header::ETAG).and_then(|tag| tag.to_str().ok());
    let weak = tag.filter(|tag| tag.starts_with('"'));
    let weak = weak.and_then(|tag| HeaderValue::from_str(&format!("W/{tag}")).ok());
    if let Some(weak) = weak {
        headers.insert(header::ETAG, weak);
    }
    response
}
