//! Keys of shared rows. The encoding of a key is unique, so bytes that decode are its encoding.

use crate::encoding::{decode_shared_key, shared_key};
use crate::shared_row::SharedKind;

#[test]
fn a_shared_key_has_one_encoding() {
    everstep_fuzz::check(env!("CARGO_MANIFEST_DIR"), "shared_key", |bytes| {
        let key = decode_shared_key(SharedKind::Slot, bytes);
        if let Ok(key) = &key {
            assert_eq!(shared_key(key), bytes);
        }
        key.map(|key| key.parts().len())
            .map_err(|damaged| damaged.0)
    });
}
