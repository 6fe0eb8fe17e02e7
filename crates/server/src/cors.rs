//! CORS: which web pages may read responses, and which headers they may send and read.

use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::origins::Origins;

const METHODS: &str = "GET, POST, PUT, DELETE, HEAD, OPTIONS";
const REQUEST_HEADERS: &str = "content-type, authorization, if-none-match, idempotency-key, stream-seq, stream-ttl, stream-expires-at, \
     stream-closed, producer-id, producer-epoch, producer-seq, stream-forked-from, stream-fork-offset, \
     stream-fork-sub-offset";
const RESPONSE_HEADERS: &str = "stream-next-offset, stream-cursor, stream-up-to-date, stream-closed, stream-ttl, \
     stream-expires-at, producer-epoch, producer-seq, producer-expected-seq, producer-received-seq, etag, content-type, \
     content-encoding, vary, stream-sse-data-encoding, location, retry-after, everstep-next-generation, everstep-cursor, \
     everstep-protocol";
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

/// Returns the response to a preflight request.
pub(crate) fn preflight() -> Response {
    let headers = [
        (header::ACCESS_CONTROL_ALLOW_METHODS, METHODS),
        (header::ACCESS_CONTROL_ALLOW_HEADERS, REQUEST_HEADERS),
        (header::ACCESS_CONTROL_MAX_AGE, "86400"),
    ];
    (StatusCode::NO_CONTENT, headers).into_response()
}

/// Adds the CORS headers of a response to a request from `origin`. Pages of all origins may embed
/// streams, as the Durable Streams protocol requires.
pub(crate) fn add_headers(
    headers: &mut HeaderMap,
    origin: Option<&HeaderValue>,
    allowed: &Origins,
    is_stream_read: bool,
) {
    let policy = match is_stream_read {
        true => "cross-origin",
        false => "same-origin",
    };
    headers.insert(RESOURCE_POLICY, HeaderValue::from_static(policy));
    let readers = match allowed {
        Origins::All => Some(HeaderValue::from_static("*")),
        Origins::None | Origins::Loopback | Origins::Listed(_) => {
            headers.append(header::VARY, HeaderValue::from_static("origin"));
            let is_allowed = |origin: &&HeaderValue| {
                let origin = origin.to_str();
                origin.is_ok_and(|origin| allowed.allows(origin))
            };
            origin.filter(is_allowed).cloned()
        }
    };
    // Other callers do not need the long list of headers.
    if let Some(readers) = readers {
        let names = HeaderValue::from_static(RESPONSE_HEADERS);
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, readers);
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, names);
    }
}
