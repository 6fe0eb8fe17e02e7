//! Parsing of headers.

use axum::http::{HeaderMap, HeaderName, header};
use everstep_engine::streams::{ContentType, Producer};

use crate::failure::Failure;
use crate::stream_protocol as names;

/// The longest header value that is stored with a stream, in bytes.
const STORED_BYTES_MAX: usize = 512;
/// The largest integer that a JavaScript number represents exactly.
const NUMBER_MAX: u64 = (1 << 53) - 1;

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

/// Returns a header that is stored with the stream and therefore limited in length.
pub(super) fn short_text<'a>(
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

/// Returns the content type. An empty one counts as absent.
pub(super) fn content_type(headers: &HeaderMap) -> Result<Option<ContentType>, Failure> {
    let text = short_text(headers, &header::CONTENT_TYPE)?;
    let text = text.filter(|text| !text.trim().is_empty());
    Ok(text.map(ContentType::new))
}

/// Parses a whole number without sign and leading zeros.
pub(super) fn whole_number(name: &HeaderName, text: &str) -> Result<u64, Failure> {
    let is_plain = text == "0" || !text.starts_with('0');
    digits(text).filter(|_| is_plain).ok_or_else(|| {
        Failure::bad_request(format!("{name} is a whole number without leading zeros"))
    })
}

/// Parses a number without sign.
fn digits(text: &str) -> Option<u64> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_number)
}

/// Returns the producer, whose three headers must be given together.
pub(crate) fn producer(headers: &HeaderMap) -> Result<Option<Producer>, Failure> {
    let id = text(headers, &names::PRODUCER_ID)?;
    let epoch = text(headers, &names::PRODUCER_EPOCH)?;
    let seq = text(headers, &names::PRODUCER_SEQ)?;
    let (id, epoch, seq) = match (id, epoch, seq) {
        (None, None, None) => return Ok(None),
        (Some(id), Some(epoch), Some(seq)) => (id, epoch, seq),
        _ => {
            return Err(Failure::bad_request(
                "Producer-Id, Producer-Epoch and Producer-Seq must be given together",
            ));
        }
    };
    if id.is_empty() || id.len() > STORED_BYTES_MAX {
        return Err(Failure::bad_request("Producer-Id has 1 to 512 bytes"));
    }
    Ok(Some(Producer {
        id: id.to_owned(),
        epoch: producer_number(epoch)?,
        seq: producer_number(seq)?,
    }))
}

fn producer_number(text: &str) -> Result<u64, Failure> {
    let number = digits(text).filter(|number| *number <= NUMBER_MAX);
    number.ok_or_else(|| {
        Failure::bad_request("Producer-Epoch and Producer-Seq are whole numbers up to 2^53 - 1")
    })
}
