//! Bodies that create a subscription.

use everstep_engine::streams::StreamPath;

use crate::subscriptions::fuzzed;

#[test]
fn an_accepted_subscription_names_valid_streams() {
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
