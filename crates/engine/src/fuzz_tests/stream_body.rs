//! Bodies of JSON streams: each message is a JSON value, and an array of them splits into the same.

use bytes::Bytes;

use crate::streams::{ContentType, as_json_array, messages_of};

#[test]
fn messages_of_a_body_come_back_from_their_array() {
    let json = ContentType::new("application/json");
    everstep_fuzz::check(env!("CARGO_MANIFEST_DIR"), "stream_body", |bytes| {
        let body = Bytes::copy_from_slice(bytes);
        let Ok(messages) = messages_of(&body, &json) else {
            return usize::MAX;
        };
        for message in &messages {
            serde_json::from_slice::<&serde_json::value::RawValue>(message).unwrap();
        }
        // The additional array may exceed the maximum depth.
        if let Ok(again) = messages_of(&as_json_array(&messages), &json) {
            assert_eq!(again, messages);
        }
        messages.len().min(8)
    });
}
