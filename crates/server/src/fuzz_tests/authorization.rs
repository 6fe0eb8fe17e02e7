//! The header that says who asks. Whatever it says, it shows something or nothing.

use crate::auth::fuzzed::shown;

#[test]
fn a_header_shows_a_key_or_nothing_that_is_one() {
    everstep_fuzz::check(env!("CARGO_MANIFEST_DIR"), "authorization", |bytes| {
        let shown = shown(bytes);
        if let Some((length, true)) = shown {
            assert_eq!(length, "evk_".len() + 16 + 1 + 64);
        }
        shown.map(|(length, is_key)| (length.min(8), is_key))
    });
}
