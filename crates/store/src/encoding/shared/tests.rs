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
    fn a_prefix_of_parts_is_a_prefix_of_bytes(a in key(), b in key()) {
        let is_prefix = b.parts().starts_with(a.parts());
        prop_assert_eq!(is_prefix, shared_key(&b).starts_with(&shared_key(&a)));
    }
}

#[test]
fn a_key_beyond_the_maximum_length_is_refused() {
    let key = |length| SharedKey::new(SharedKind::Slot, [KeyPart::from("x\0".repeat(length))]);
    let longest = key((SharedKey::MAX_BYTES - 2) / 3).unwrap();
    assert!(shared_key(&longest).len() <= SharedKey::MAX_BYTES);
    assert!(key((SharedKey::MAX_BYTES - 2) / 3 + 1).is_err());
}
