//! Parsing of header values.

use axum::http::{HeaderMap, HeaderName};

use crate::failure::Failure;

/// The longest header value that is stored with a stream, in bytes.
const STORED_BYTES_MAX: usize = 512;

/// Returns a header as text. A header that is given twice is an error.
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

/// Like [`text`], for a value that is stored with the stream and therefore limited in length.
pub(crate) fn short_text<'a>(
    headers: &'a HeaderMap,
    name: &HeaderName,
) -> Result<Option<&'a str>, Failure> {
    match text(headers, name)? {
        Some(long) if long.len() > STORED_BYTES_MAX => Err(Failure::bad_request(format!(
            "{name} is longer than {STORED_BYTES_MAX} bytes"
        ))),
        text => Ok(text),
    }
}

/// Returns whether a header is `true`, ignoring case. Any other value counts as absent.
pub(crate) fn is_true(headers: &HeaderMap, name: &HeaderName) -> bool {
    let value = headers.get(name).map(|value| value.as_bytes());
    value.is_some_and(|value| value.trim_ascii().eq_ignore_ascii_case(b"true"))
}

/// Parses a whole number without sign and leading zeros.
pub(crate) fn whole_number(name: &HeaderName, text: &str) -> Result<u64, Failure> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let plain = digits && (text == "0" || !text.starts_with('0'));
    let number = text.parse().ok().filter(|_| plain);
    number.ok_or_else(|| {
        Failure::bad_request(format!("{name} is a whole number without leading zeros"))
    })
}
