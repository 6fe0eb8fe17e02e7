//! The bodies that ask for keys and tokens: understood or refused.

use crate::auth::fuzzed::asked;

#[test]
fn a_body_asks_for_something_that_can_be_made_or_is_refused() {
    everstep_fuzz::check(env!("CARGO_MANIFEST_DIR"), "access", asked);
}
