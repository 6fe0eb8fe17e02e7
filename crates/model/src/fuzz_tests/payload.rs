//! Payloads: one JSON value whose exact bytes are kept.

use crate::Payload;

#[test]
fn valid_json_keeps_its_exact_bytes() {
    super::check("payload", |bytes| {
        let Ok(payload) = Payload::from_json(bytes.to_vec()) else {
            return (false, false);
        };
        assert_eq!(payload.as_bytes(), bytes);
        assert_eq!(payload.as_str().as_bytes(), bytes);
        let written = serde_json::to_string(&payload).expect("it is JSON");
        assert_eq!(written.trim(), payload.as_str().trim());
        let again: Payload = serde_json::from_str(&written).expect("it decodes again");
        assert_eq!(again.as_str(), payload.as_str().trim());
        assert_eq!(payload.digest().len(), 32);
        let value = payload.decode::<serde_json::Value>();
        (true, value.is_ok())
    });
}
