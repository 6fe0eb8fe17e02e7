//! A node whose database goes away says so, acknowledges nothing, and goes on when it is back.

use everstep_private_postgres::Stop;

use super::{Installation, begins, until};

const ORDER: &str = r#"{"customer":"ada","amount":4200}"#;
const APPROVAL: &str = r#"{"approved":true,"reviewer":"grace"}"#;

#[test]
fn a_node_without_its_database_refuses_and_goes_on_when_it_is_back() {
    let installation = Installation::new();
    let node = installation.node("api,worker,timers");
    installation.said(&node, &["start", "payment", ORDER, "--id", "before"]);
    installation.said(&node, &["send", "before", "approval", APPROVAL]);
    installation.database.stop(Stop::Immediate);
    let refusal = until("refusal", || {
        let ready = installation.asked(&node, "GET /health/ready", "");
        begins(ready, "HTTP/1.1 503")
    });
    assert!(refusal.contains("store_unavailable"), "{refusal}");
    begins(
        installation.asked(&node, "GET /health/live", ""),
        "HTTP/1.1 200",
    )
    .unwrap();
    // Nothing is acknowledged, whatever is asked, and the client hears when to come back.
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
        let answer = installation.asked(&node, request, body);
        let answer = begins(answer, "HTTP/1.1 503").unwrap().to_lowercase();
        assert!(answer.contains("retry-after: 1"), "{request}: {answer}");
        assert!(
            answer.contains("application/problem+json"),
            "{request}: {answer}"
        );
    }
    installation.database.resume();
    until("readiness", || {
        let ready = installation.asked(&node, "GET /health/ready", "");
        begins(ready, "HTTP/1.1 200")
    });
    let missing = installation.run(&node, &["show", "during"]);
    assert_eq!(missing.status.code(), Some(6), "it was never acknowledged");
    let start = ["start", "payment", ORDER, "--id", "before", "--wait"];
    let receipt = installation.said(&node, &start);
    assert!(receipt.contains("settled"), "{receipt}");
    assert_eq!(node.interrupt(), Some(130));
}
