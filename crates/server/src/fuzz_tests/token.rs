//! Run tokens.

use crate::auth::fuzzed::token;

#[test]
fn an_accepted_token_has_one_encoding() {
    everstep_fuzz::check_text(env!("CARGO_MANIFEST_DIR"), "token", |text| {
        let encoded = token(text);
        if let Some(again) = &encoded {
            assert_eq!(again, text);
        }
        encoded.is_some()
    });
}
