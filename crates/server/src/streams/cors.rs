//! CORS: which pages may read answers, and what of them.

use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;

use super::reply::Reply;
use crate::origins::Origins;

const METHODS: &str = "GET, POST, PUT, DELETE, HEAD, OPTIONS";
const MAY_BE_SENT: &str = "content-type, authorization, if-none-match, idempotency-key, stream-seq, stream-ttl, stream-expires-at, \
     stream-closed, producer-id, producer-epoch, producer-seq, stream-forked-from, stream-fork-offset, \
     stream-fork-sub-offset";
const MAY_BE_READ: &str = "stream-next-offset, stream-cursor, stream-up-to-date, stream-closed, stream-ttl, \
     stream-expires-at, producer-epoch, producer-seq, producer-expected-seq, producer-received-seq, etag, content-type, \
     content-encoding, vary, stream-sse-data-encoding, location, retry-after";
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

/// The answer to a browser that asks before it asks.
pub(crate) fn preflight() -> Response<Body> {
    Reply::new(StatusCode::NO_CONTENT)
        .with(header::ACCESS_CONTROL_ALLOW_METHODS, METHODS)
        .with(header::ACCESS_CONTROL_ALLOW_HEADERS, MAY_BE_SENT)
        .with(header::ACCESS_CONTROL_MAX_AGE, 86_400)
        .empty()
}

/// Marks an answer for the page that asked.
pub(crate) fn mark(headers: &mut HeaderMap, origin: Option<&HeaderValue>, allowed: &Origins) {
    headers.insert(RESOURCE_POLICY, HeaderValue::from_static("cross-origin"));
    headers.insert(
        header::ACCESS_CONTROL_EXPOSE_HEADERS,
        HeaderValue::from_static(MAY_BE_READ),
    );
    if *allowed == Origins::All {
        let all = HeaderValue::from_static("*");
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, all);
        return;
    }
    headers.append(header::VARY, HeaderValue::from_static("origin"));
    let welcome = origin.filter(|origin| {
        let origin = origin.to_str();
        origin.is_ok_and(|origin| allowed.allows(origin))
    });
    if let Some(origin) = welcome {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
    }
}
