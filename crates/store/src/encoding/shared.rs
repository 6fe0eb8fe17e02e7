//! The keys of shared rows.

use std::cmp::Ordering;

use super::bytes::{Damaged, In, Out, text};
use crate::shared_row::{KeyPart, RowRange, SharedKey, SharedKind};

const TEXT: u8 = 1;
const NUMBER: u8 = 2;
/// Follows a zero byte that is part of a text. Larger than any tag, so that a text sorts before its
/// extensions.
const ESCAPED: u8 = 0xff;

/// The parts of a key as bytes, without its kind.
#[must_use]
pub fn shared_key(key: &SharedKey) -> Vec<u8> {
    key_parts(key.parts())
}

/// The key of this kind with these bytes.
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

/// Encodes parts so that byte order is the order of the tuple. The encoding of a prefix of the
/// tuple is a prefix of the encoding.
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

/// The encoded keys of a range, without their kind: from the first one on and before the second one.
/// `None` if the range is empty.
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
                // The smallest key that is larger than `after`.
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
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::shared_row::SharedKind;

    fn part() -> impl Strategy<Value = KeyPart> {
        prop_oneof![
            "[\0\u{1}\u{2}ab\u{7f}é]{0,4}".prop_map(KeyPart::Text),
            any::<u64>().prop_map(KeyPart::Number),
        ]
    }

    fn key() -> impl Strategy<Value = SharedKey> {
        let parts = proptest::collection::vec(part(), 0..4);
        parts.prop_map(|parts| SharedKey::new(SharedKind::Waiter, parts).unwrap())
    }

    proptest! {
        #[test]
        fn encoded_keys_sort_like_their_tuples(a in key(), b in key()) {
            prop_assert_eq!(a.cmp(&b), shared_key(&a).cmp(&shared_key(&b)));
        }

        #[test]
        fn a_key_is_decoded_as_it_was(key in key()) {
            prop_assert_eq!(decode_shared_key(key.kind(), &shared_key(&key)), Ok(key));
        }

        #[test]
        fn a_prefix_of_parts_is_a_prefix_of_bytes(a in key(), b in key()) {
            let is_prefix = b.parts().starts_with(a.parts());
            prop_assert_eq!(is_prefix, shared_key(&b).starts_with(&shared_key(&a)));
        }
    }

    #[test]
    fn a_key_that_is_too_long_is_refused() {
        let key = |length| SharedKey::new(SharedKind::Slot, [KeyPart::from("x\0".repeat(length))]);
        let longest = key((SharedKey::MAX_BYTES - 2) / 3).unwrap();
        assert!(shared_key(&longest).len() <= SharedKey::MAX_BYTES);
        assert!(key((SharedKey::MAX_BYTES - 2) / 3 + 1).is_err());
    }
}
