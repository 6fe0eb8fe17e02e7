//! The protocol's own headers, and reading them.

use axum::http::{HeaderMap, HeaderName};

use crate::failure::Failure;

pub(crate) const NEXT_OFFSET: HeaderName = HeaderName::from_static("stream-next-offset");
pub(crate) const CURSOR: HeaderName = HeaderName::from_static("stream-cursor");
pub(crate) const UP_TO_DATE: HeaderName = HeaderName::from_static("stream-up-to-date");
pub(crate) const CLOSED: HeaderName = HeaderName::from_static("stream-closed");
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

/// Bytes of a header that is kept with the stream.
const KEPT_BYTES_MAX: usize = 512;

/// A header as text; none if it is not there.
pub(crate) fn text<'a>(
    headers: &'a HeaderMap,
    name: &HeaderName,
) -> Result<Option<&'a str>, Failure> {
    let mut values = headers.get_all(name).iter();
    let (first, more) = (values.next(), values.next());
    if more.is_some() {
        return Err(Failure::bad_request(format!("{name} is given twice")));
    }
    let text = first.map(|value| value.to_str()).transpose();
    text.map_err(|_| Failure::bad_request(format!("{name} is not text")))
}

/// The same, no longer than is worth keeping.
pub(crate) fn short_text<'a>(
    headers: &'a HeaderMap,
    name: &HeaderName,
) -> Result<Option<&'a str>, Failure> {
    match text(headers, name)? {
        Some(long) if long.len() > KEPT_BYTES_MAX => Err(Failure::bad_request(format!(
            "{name} is longer than {KEPT_BYTES_MAX} bytes"
        ))),
        text => Ok(text),
    }
}

/// Whether a header says `true`, however it is spelled; anything else is as if it were not there.
pub(crate) fn says_true(headers: &HeaderMap, name: &HeaderName) -> bool {
    let value = headers.get(name).map(|value| value.as_bytes());
    value.is_some_and(|value| value.trim_ascii().eq_ignore_ascii_case(b"true"))
}

/// A whole number without sign and leading zeros.
pub(crate) fn whole_number(name: &HeaderName, text: &str) -> Result<u64, Failure> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let plain = digits && (text == "0" || !text.starts_with('0'));
    let number = text.parse().ok().filter(|_| plain);
    number.ok_or_else(|| {
        Failure::bad_request(format!("{name} is a whole number without leading zeros"))
    })
}
