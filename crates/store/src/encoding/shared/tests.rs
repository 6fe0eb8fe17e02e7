//! Tests of the keys of shared rows.

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

/// Returns whether a key is in the range of all keys that begin with the parts of another.
fn is_in_range_of(prefix: &SharedKey, key: &SharedKey) -> bool {
    let range = RowRange {
        kind: prefix.kind(),
        prefix: prefix.parts().to_vec(),
        after: None,
        reverse: false,
        limit: 1,
    };
    let (from, end) = range_bounds(&range).unwrap();
    (from..end).contains(&shared_key(key))
}

proptest! {
    #[test]
    fn encoded_keys_sort_like_their_tuples(a in key(), b in key()) {
        prop_assert_eq!(a.cmp(&b), shared_key(&a).cmp(&shared_key(&b)));
    }

    #[test]
    fn a_key_survives_encoding_and_decoding(key in key()) {
        prop_assert_eq!(decode_shared_key(key.kind(), &shared_key(&key)), Ok(key));
    }

    #[test]
    fn a_range_contains_the_keys_with_its_prefix(a in key(), b in key()) {
        prop_assert_eq!(is_in_range_of(&a, &b), b.parts().starts_with(a.parts()));
    }
}

#[test]
fn a_key_beyond_the_maximum_length_is_refused() {
    let key = |length| SharedKey::new(SharedKind::Slot, [KeyPart::from("x\0".repeat(length))]);
    let longest = key((SharedKey::MAX_BYTES - 2) / 3).unwrap();
    assert!(shared_key(&longest).len() <= SharedKey::MAX_BYTES);
    assert!(key((SharedKey::MAX_BYTES - 2) / 3 + 1).is_err());
}

#[test]
fn the_range_of_a_text_excludes_its_extension_by_a_zero_byte() {
    let key = |text| SharedKey::new(SharedKind::Slot, [KeyPart::from(text)]).unwrap();
    assert!(shared_key(&key("\0")).starts_with(&shared_key(&key(""))));
    assert!(!is_in_range_of(&key(""), &key("\0")));
}
