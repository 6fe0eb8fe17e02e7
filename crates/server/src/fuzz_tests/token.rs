//! Run tokens: what was signed here is taken as it is, and nothing else is.

use crate::auth::fuzzed::token;

#[test]
fn no_token_is_taken_but_what_was_signed() {
    everstep_fuzz::check_text(env!("CARGO_MANIFEST_DIR"), "token", |text| {
        let taken = token(text);
        if let Some(again) = &taken {
            assert_eq!(again, text, "a token reads in one way alone");
        }
        taken.is_some()
    });
}
