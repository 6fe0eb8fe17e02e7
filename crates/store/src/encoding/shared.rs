//! The keys of shared rows.

use std::cmp::Ordering;

use super::bytes::{Damaged, In, Out, text};
use crate::shared_row::{KeyPart, RowRange, SharedKey, SharedKind};

const TEXT: u8 = 1;
const NUMBER: u8 = 2;
/// Follows a zero byte that is part of a text. Larger than any tag, so that a text sorts before its
/// extensions.
const ESCAPED: u8 = 0xff;

/// Encodes the parts of a key, without its kind.
#[must_use]
pub fn shared_key(key: &SharedKey) -> Vec<u8> {
    key_parts(key.parts())
}

/// Decodes the parts of a key of this kind.
pub fn decode_shared_key(kind: SharedKind, bytes: &[u8]) -> Result<SharedKey, Damaged> {
    let mut input = In(bytes);
    let mut parts = Vec::new();
    while !input.0.is_empty() {
        parts.push(match input.byte()? {
            TEXT => KeyPart::Text(take_text(&mut input)?),
            NUMBER => KeyPart::Number(input.fixed()?),
            _ => return Err(Damaged("a part of a key is of an unknown kind")),
        });
    }
    SharedKey::new(kind, parts).map_err(|_| Damaged("a key is too long"))
}

/// Encodes parts so that bytes sort like the tuple. The encoding of a prefix of the tuple is a
/// prefix of the encoding.
fn key_parts(parts: &[KeyPart]) -> Vec<u8> {
    let mut out = Out::default();
    for part in parts {
        match part {
            KeyPart::Text(text) => {
                out.byte(TEXT);
                for byte in text.bytes() {
                    out.byte(byte);
                    if byte == 0 {
                        out.byte(ESCAPED);
                    }
                }
                out.byte(0);
            }
            KeyPart::Number(number) => {
                out.byte(NUMBER).fixed(*number);
            }
        }
    }
    out.0
}

/// Returns the encoded bounds of a range, without the kind: the first one inclusive, the second one
/// exclusive. Returns `None` if the range is empty.
#[must_use]
pub fn range_bounds(range: &RowRange) -> Option<(Vec<u8>, Vec<u8>)> {
    let mut from = key_parts(&range.prefix);
    let mut end = from.clone();
    // Tags are small, so no key of the prefix continues with this byte.
    end.push(u8::MAX);
    if let Some(after) = &range.after {
        match (after.kind().cmp(&range.kind), range.reverse) {
            (Ordering::Less, false) | (Ordering::Greater, true) => {}
            (Ordering::Less, true) | (Ordering::Greater, false) => return None,
            (Ordering::Equal, true) => end = end.min(shared_key(after)),
            (Ordering::Equal, false) => {
                // The smallest key above `after`.
                let mut next = shared_key(after);
                next.push(0);
                from = from.max(next);
            }
        }
    }
    (from < end).then_some((from, end))
}

fn take_text(input: &mut In<'_>) -> Result<String, Damaged> {
    let mut bytes = Vec::new();
    loop {
        bytes.extend_from_slice(input.until_zero()?);
        if input.0.first() != Some(&ESCAPED) {
            return text(&bytes).map(str::to_owned);
        }
        input.byte()?;
        bytes.push(0);
    }
}

#[cfg(test)]
mod tests;
