//! Tests of parts of keys.

use super::*;

#[test]
fn the_hash_is_fnv_1a() {
    assert_eq!(fnv(b""), 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d);
    assert_eq!(fnv(b"a"), 0xd228_cb69_6f1a_8caf_7891_2b70_4e4a_8964);
}
