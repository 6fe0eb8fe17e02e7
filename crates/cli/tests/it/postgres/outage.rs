//! During an outage of the database, a node reports it and acknowledges nothing. It continues
//! afterwards.

use everstep_private_postgres::Stop;

use super::{Installation, starts_with, until};

const ORDER: &str = r#"{"customer":"ada","amount":4200}"#;
const APPROVAL: &str = r#"{"approved":true,"reviewer":"grace"}"#;

#[test]
fn a_node_rejects_requests_during_an_outage_and_continues_afterwards() {
    let installation = Installation::new();
    let node = installation.node("api,worker,timers");
    installation.output(&node, &["start", "payment", ORDER, "--id", "before"]);
    installation.output(&node, &["send", "before", "approval", APPROVAL]);
    installation.database.stop(Stop::Immediate);
    let refusal = until("refusal", || {
        let ready = installation.request(&node, "GET /health/ready", "");
        starts_with(ready, "HTTP/1.1 503")
    });
    assert!(refusal.contains("store_unavailable"), "{refusal}");
    starts_with(
        installation.request(&node, "GET /health/live", ""),
        "HTTP/1.1 200",
    )
    .unwrap();
    // No request is acknowledged, and each response says when to retry.
    let start = r#"{"type":"hello","id":"during","input":{"name":"Ada"}}"#;
    for (request, body) in [
        ("POST /workflows", start),
        ("POST /workflows/before/events/approval", APPROVAL),
        ("POST /workflows/before/cancel", "{}"),
        ("GET /workflows/before", ""),
        ("GET /workflows", ""),
        ("PUT /v1/stream/chat", ""),
        ("GET /v1/stream/chat", ""),
    ] {
        let response = installation.request(&node, request, body);
        let response = starts_with(response, "HTTP/1.1 503")
            .unwrap()
            .to_lowercase();
        assert!(response.contains("retry-after: 1"), "{request}: {response}");
        assert!(
            response.contains("application/problem+json"),
            "{request}: {response}"
        );
    }
    installation.database.resume();
    until("readiness", || {
        let ready = installation.request(&node, "GET /health/ready", "");
        starts_with(ready, "HTTP/1.1 200")
    });
    let missing = installation.run(&node, &["show", "during"]);
    assert_eq!(missing.status.code(), Some(6), "it was never acknowledged");
    let start = ["start", "payment", ORDER, "--id", "before", "--wait"];
    let receipt = installation.output(&node, &start);
    assert!(receipt.contains("settled"), "{receipt}");
    assert_eq!(node.interrupt(), Some(130));
}
