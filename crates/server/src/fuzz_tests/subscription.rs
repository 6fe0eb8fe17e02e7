//! The body that describes a subscription: it is understood, and then keeps every rule, or refused.

use everstep_engine::streams::StreamPath;

use crate::subscriptions::fuzzed;

#[test]
fn a_subscription_that_is_understood_keeps_the_rules() {
    everstep_fuzz::check(env!("CARGO_MANIFEST_DIR"), "subscription", |bytes| {
        let Some((streams, is_webhook)) = fuzzed(bytes) else {
            return String::new();
        };
        for stream in &streams {
            assert!(StreamPath::new(stream).is_ok());
        }
        format!("{is_webhook} {}", streams.len().min(3))
    });
}
