//! The `Authorization` header.

use crate::auth::fuzzed::bearer;

#[test]
fn a_header_that_looks_like_a_key_has_the_length_of_a_key() {
    everstep_fuzz::check(env!("CARGO_MANIFEST_DIR"), "authorization", |bytes| {
        let token = bearer(bytes);
        if let Some((length, true)) = token {
            assert_eq!(length, "evk_".len() + 16 + 1 + 64);
        }
        token.map(|(length, is_key)| (length.min(8), is_key))
    });
}
