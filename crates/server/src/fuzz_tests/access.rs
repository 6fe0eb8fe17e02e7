//! Bodies of requests for keys and tokens.

use crate::auth::fuzzed::requests;

#[test]
fn a_request_for_a_key_or_token_is_parsed_or_rejected() {
    everstep_fuzz::check(env!("CARGO_MANIFEST_DIR"), "access", requests);
}
