//! Versions of the protocol: how clients and workers find out what a server supports.

use everstep_protocol::PROTOCOL_VERSION;
use serde_json::json;

use crate::support::{JSON, open, send, server};

// B882
#[tokio::test]
async fn every_response_names_the_version_of_the_protocol() {
    let app = server(open()).await;
    for (method, path) in [
        ("GET", "/health/ready"),
        ("GET", "/workflows"),
        ("GET", "/workflows/unknown"),
        ("GET", "/v1/stream/unknown"),
        ("PATCH", "/workflows"),
        ("GET", "/nowhere"),
        ("OPTIONS", "/workflows"),
    ] {
        let response = send(&app, method, path, &[], "").await;
        let version = response.header("everstep-protocol");
        assert_eq!(version, PROTOCOL_VERSION.to_string(), "{method} {path}");
    }
}

// B883
#[tokio::test]
async fn a_worker_and_its_server_use_the_latest_version_that_both_know() {
    let app = server(open()).await;
    let register = async |protocol: Option<[u32; 2]>| {
        let mut body = json!({
            "worker": "w", "sdk": "test 1.0", "slots": 1,
            "workflows": [{"name": "w", "versions": [1, 1]}],
        });
        if let Some(protocol) = protocol {
            body["protocol"] = json!(protocol);
        }
        send(&app, "POST", "/v1/workers", &[JSON], body.to_string()).await
    };
    for known in [None, Some([1, 1]), Some([1, 7])] {
        let registered = register(known).await;
        assert_eq!(registered.status, 200, "{known:?} {registered:?}");
        assert_eq!(registered.json()["protocol"], PROTOCOL_VERSION);
        let server = registered.json()["server"].as_str().unwrap().to_owned();
        assert!(server.starts_with("everstep "), "{server}");
    }
    let newer = register(Some([2, 3])).await;
    assert_eq!(newer.status, 400);
    assert_eq!(newer.json()["code"], "protocol_unsupported");
    let detail = newer.json()["detail"].as_str().unwrap().to_owned();
    assert!(
        detail.contains("version 1 of the protocol") && detail.contains("2 to 3"),
        "{detail}"
    );
}
