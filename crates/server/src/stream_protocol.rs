//! Addresses of streams, and the headers of the Durable Streams protocol.

use axum::http::HeaderName;

/// The path of all streams, below the path at which the router is mounted.
pub(crate) const PREFIX: &str = "/v1/stream/";

/// The path of subscriptions, below [`PREFIX`].
pub(crate) const RESERVED: &str = "__ds/";

/// Returns whether a decoded path below [`PREFIX`] is reserved for journals.
pub(crate) fn is_journal(path: &str) -> bool {
    path == "workflows" || path.starts_with("workflows/")
}

pub(crate) const NEXT_OFFSET: HeaderName = HeaderName::from_static("stream-next-offset");
pub(crate) const CURSOR: HeaderName = HeaderName::from_static("stream-cursor");
pub(crate) const UP_TO_DATE: HeaderName = HeaderName::from_static("stream-up-to-date");
pub(crate) const CLOSED: HeaderName = HeaderName::from_static("stream-closed");
/// The generation in which the run of a journal continues. An addition to the protocol.
pub(crate) const NEXT_GENERATION: HeaderName = HeaderName::from_static("everstep-next-generation");
pub(crate) const SEQ: HeaderName = HeaderName::from_static("stream-seq");
pub(crate) const TTL: HeaderName = HeaderName::from_static("stream-ttl");
pub(crate) const EXPIRES_AT: HeaderName = HeaderName::from_static("stream-expires-at");
pub(crate) const FORKED_FROM: HeaderName = HeaderName::from_static("stream-forked-from");
pub(crate) const FORK_OFFSET: HeaderName = HeaderName::from_static("stream-fork-offset");
pub(crate) const FORK_SUB_OFFSET: HeaderName = HeaderName::from_static("stream-fork-sub-offset");
pub(crate) const SSE_ENCODING: HeaderName = HeaderName::from_static("stream-sse-data-encoding");
pub(crate) const PRODUCER_ID: HeaderName = HeaderName::from_static("producer-id");
pub(crate) const PRODUCER_EPOCH: HeaderName = HeaderName::from_static("producer-epoch");
pub(crate) const PRODUCER_SEQ: HeaderName = HeaderName::from_static("producer-seq");
pub(crate) const PRODUCER_EXPECTED: HeaderName = HeaderName::from_static("producer-expected-seq");
pub(crate) const PRODUCER_RECEIVED: HeaderName = HeaderName::from_static("producer-received-seq");
