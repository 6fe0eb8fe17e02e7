//! Splits the body of an append into messages, and joins messages for the body of a read.

use bytes::{BufMut, Bytes, BytesMut};
use everstep_model::record::Data;
use everstep_model::{Record, Timestamp};
use serde_json::value::RawValue;

use super::content_type::ContentType;
use super::error::StreamError;

/// The maximum nesting of JSON values, which protects the stacks of readers.
const DEPTH_MAX: usize = 64;

/// Splits a body into messages. A JSON array is split once, and each element keeps its exact bytes.
pub(crate) fn messages(body: &Bytes, of: &ContentType) -> Result<Vec<Bytes>, StreamError> {
    if !of.is_json() {
        return Ok(vec![body.clone()]);
    }
    let invalid = |error: serde_json::Error| StreamError::InvalidJson(error.to_string());
    let text = std::str::from_utf8(body)
        .map_err(|_| StreamError::InvalidJson("it is not UTF-8".to_owned()))?;
    check_depth(text)?;
    if text.trim_start().starts_with('[') {
        let elements: Vec<&RawValue> = serde_json::from_str(text).map_err(invalid)?;
        let part = |element: &&RawValue| body.slice_ref(element.get().as_bytes());
        return Ok(elements.iter().map(part).collect());
    }
    let value: &RawValue = serde_json::from_str(text).map_err(invalid)?;
    Ok(vec![body.slice_ref(value.get().as_bytes())])
}

/// Returns the records of the messages of one append.
pub(super) fn records(messages: Vec<Bytes>, time: Timestamp) -> Vec<Record> {
    let last = messages.len().saturating_sub(1);
    let record = |(index, bytes)| Record {
        time,
        body: Data {
            bytes,
            ends: index == last,
        }
        .into(),
    };
    messages.into_iter().enumerate().map(record).collect()
}

/// Joins JSON messages to an array.
#[must_use]
pub fn as_json_array(messages: &[Bytes]) -> Bytes {
    let length: usize = messages.iter().map(|message| message.len() + 1).sum();
    let mut array = BytesMut::with_capacity(length + 2);
    array.put_u8(b'[');
    for (index, message) in messages.iter().enumerate() {
        if index > 0 {
            array.put_u8(b',');
        }
        array.put_slice(message);
    }
    array.put_u8(b']');
    array.freeze()
}

fn check_depth(text: &str) -> Result<(), StreamError> {
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => depth += 1,
            b']' | b'}' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > DEPTH_MAX {
            let reason = format!("it is nested deeper than {DEPTH_MAX}");
            return Err(StreamError::InvalidJson(reason));
        }
    }
    Ok(())
}
