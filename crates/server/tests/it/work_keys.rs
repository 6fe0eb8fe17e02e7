//! Keys of workers: they allow only the workflows they name, and only sessions with such workflows.

use axum::Router;
use everstep_protocol::access::{CreateKey, Scope};
use everstep_server::{Keys, Options, router};
use serde_json::{Value, json};

use crate::support::{JSON, Response, engine_on, send, store};

struct Workers {
    app: Router,
    keys: Keys,
}

impl Workers {
    async fn new() -> Self {
        let engine = engine_on(&store()).await;
        let keys = Keys::of(&engine);
        let app = router(&engine, Options::default());
        Self { app, keys }
    }

    async fn key(&self, workflows: &[&str]) -> String {
        let request = CreateKey {
            name: workflows.join("-"),
            scopes: vec![Scope::Work],
            workflows: workflows.iter().map(|&name| name.to_owned()).collect(),
        };
        self.keys.create(request, None).await.unwrap().key
    }

    async fn post(&self, key: &str, path: &str, body: Value) -> Response {
        let bearer = format!("Bearer {key}");
        let headers = [JSON, ("Authorization", bearer.as_str())];
        send(&self.app, "POST", path, &headers, body.to_string()).await
    }
}

fn offer(workflow: &str) -> Value {
    json!({
        "worker": "w",
        "slots": 1,
        "workflows": [{"name": workflow, "versions": [1, 1], "description": {}}],
    })
}

#[tokio::test]
async fn a_worker_can_offer_only_the_workflows_its_key_names() {
    let workers = Workers::new().await;
    let key = workers.key(&["pay"]).await;
    let refused = workers.post(&key, "/v1/workers", offer("ship")).await;
    assert_eq!(refused.status, 403, "{refused:?}");
    assert_eq!(refused.json()["code"], "forbidden");
    let taken = workers.post(&key, "/v1/workers", offer("pay")).await;
    assert_eq!(taken.status, 200, "{taken:?}");
}

#[tokio::test]
async fn a_session_requires_a_key_for_all_its_workflows() {
    let workers = Workers::new().await;
    let (payer, shipper) = (workers.key(&["pay"]).await, workers.key(&["ship"]).await);
    let registered = workers.post(&payer, "/v1/workers", offer("pay")).await;
    let session = registered.json()["session"].as_str().unwrap().to_owned();
    let heartbeat = format!("/v1/workers/{session}/heartbeat");
    for (verb, body) in [
        ("claim", json!({"after": 0, "leaving": false})),
        ("append", json!({"appends": [], "released": []})),
        ("heartbeat", json!({})),
        ("release", json!({"tokens": []})),
    ] {
        let path = format!("/v1/workers/{session}/{verb}");
        let refused = workers.post(&shipper, &path, body).await;
        assert_eq!(refused.status, 404, "{verb}: {refused:?}");
        assert_eq!(refused.json()["code"], "unknown_session", "{verb}");
    }
    let bearer = format!("Bearer {shipper}");
    let shown = [("Authorization", bearer.as_str())];
    let path = format!("/v1/workers/{session}");
    let ended = send(&workers.app, "DELETE", &path, &shown, "").await;
    assert_eq!(ended.status, 404);
    let alive = workers.post(&payer, &heartbeat, json!({})).await;
    assert_eq!(alive.status, 200, "its own worker goes on: {alive:?}");
}
