//! Headers of producers and of `PUT`, one per line.

use axum::http::{HeaderMap, HeaderName, HeaderValue};

use crate::streams::headers::producer;
use crate::streams::lifetime;

fn headers(bytes: &[u8]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for line in bytes.split(|byte| *byte == b'\n') {
        let mut parts = line.splitn(2, |byte| *byte == b':');
        let (Some(name), Some(value)) = (parts.next(), parts.next()) else {
            continue;
        };
        let name = HeaderName::from_bytes(name);
        let value = HeaderValue::from_bytes(value.trim_ascii());
        if let (Ok(name), Ok(value)) = (name, value) {
            headers.append(name, value);
        }
    }
    headers
}

#[test]
fn headers_are_parsed_or_rejected() {
    everstep_fuzz::check(env!("CARGO_MANIFEST_DIR"), "headers", |bytes| {
        let headers = headers(bytes);
        let producer = producer(&headers);
        if let Ok(Some(producer)) = &producer {
            assert!(!producer.id.is_empty());
            assert!(producer.epoch < 1 << 53 && producer.seq < 1 << 53);
        }
        (producer.is_ok(), lifetime(&headers).is_ok(), headers.len())
    });
}
