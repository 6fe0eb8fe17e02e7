//! Bodies of the workflow API. A request that is accepted survives a round trip.

use axum::http::{HeaderMap, HeaderValue, header};
use everstep_protocol::workflow::{BulkRequest, StartRequest};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::json;

fn read<T: DeserializeOwned + Serialize + PartialEq + std::fmt::Debug>(bytes: &[u8]) -> bool {
    let kind = HeaderValue::from_static("application/json");
    let headers = HeaderMap::from_iter([(header::CONTENT_TYPE, kind)]);
    let Ok(request) = json::request::<T>(&headers, bytes) else {
        return false;
    };
    let written = serde_json::to_vec(&request).unwrap();
    assert_eq!(json::request::<T>(&headers, &written).unwrap(), request);
    true
}

#[test]
fn a_parsed_request_survives_a_round_trip() {
    everstep_fuzz::check(env!("CARGO_MANIFEST_DIR"), "api_body", |bytes| {
        let (start, bulk) = (read::<StartRequest>(bytes), read::<BulkRequest>(bytes));
        format!("{start} {bulk}")
    });
}
