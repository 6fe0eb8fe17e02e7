//! Compression of long text responses for clients that accept it (PROTOCOL.md 5.8). Request bodies
//! are never decompressed.
//!
//! Event streams are not compressed, because every event must arrive when it is written. Neither
//! are binary responses, which rarely shrink.

use axum::http::{Extensions, HeaderMap, HeaderValue, StatusCode, Version, header};
use tower_http::CompressionLevel;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{And, Predicate as _, SizeAbove};

/// Compression does not pay off for shorter responses.
const BYTES_MIN: u16 = 1024;

/// Marks responses of public routes, which are not compressed. Compressing them would cost more
/// memory than sending them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Uncompressed;

type CompressWhen = And<SizeAbove, fn(StatusCode, Version, &HeaderMap, &Extensions) -> bool>;

pub(crate) fn compress() -> CompressionLayer<CompressWhen> {
    // Higher levels hardly make journals smaller.
    CompressionLayer::new()
        .quality(CompressionLevel::Fastest)
        .compress_when(SizeAbove::new(BYTES_MIN).and(is_text as fn(_, _, &_, &_) -> _))
}

fn is_text(_: StatusCode, _: Version, headers: &HeaderMap, extensions: &Extensions) -> bool {
    if extensions.get::<Uncompressed>().is_some() {
        return false;
    }
    let content_type = headers.get(header::CONTENT_TYPE);
    let content_type = content_type.and_then(|value| value.to_str().ok());
    let media_type = content_type.unwrap_or_default().split(';').next();
    let media_type = media_type.unwrap_or_default().trim().to_ascii_lowercase();
    match media_type.split_once('/') {
        Some(("text", subtype)) => subtype != "event-stream",
        Some((_, subtype)) => subtype.ends_with("json") || subtype.ends_with("xml"),
        None => false,
    }
}

/// Makes the entity tag of a compressed response weak. A strong tag promises identical bytes.
pub(crate) fn weaken_etag(headers: &mut HeaderMap) {
    if !headers.contains_key(header::CONTENT_ENCODING) {
        return;
    }
    let tag = headers.get(header::ETAG).and_then(|tag| tag.to_str().ok());
    let weak = tag.filter(|tag| tag.starts_with('"'));
    let weak = weak.and_then(|tag| HeaderValue::from_str(&format!("W/{tag}")).ok());
    if let Some(weak) = weak {
        headers.insert(header::ETAG, weak);
    }
}
