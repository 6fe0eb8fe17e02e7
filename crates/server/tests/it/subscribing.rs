//! Subscriptions survive a restart, with their key, generation and acknowledged offsets.

use axum::Router;
use axum::http::StatusCode;
use axum::routing::post as on_post;
use everstep_engine::streams::StreamPath;
use everstep_server::{Options, router};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use crate::support::{JSON, Response, engine_on, open, send, server, store};

const SUBSCRIPTION: &str = "/v1/stream/__ds/subscriptions/s";

async fn subscribe(app: &Router) -> Response {
    let body = json!({"type": "pull-wake", "pattern": "events/*", "wake_stream": "wakes"});
    send(app, "PUT", SUBSCRIPTION, &[JSON], body.to_string()).await
}

async fn post(app: &Router, verb: &str, token: &str, body: Value) -> Response {
    let bearer = format!("Bearer {token}");
    let headers = [JSON, ("Authorization", bearer.as_str())];
    let address = format!("{SUBSCRIPTION}/{verb}");
    send(app, "POST", &address, &headers, body.to_string()).await
}

async fn claim(app: &Router, worker: &str) -> Response {
    post(app, "claim", "", json!({ "worker": worker })).await
}

#[tokio::test]
async fn wakes_and_their_holders_survive_a_restart() {
    let store = store();
    let engine = engine_on(&store).await;
    let app = router(&engine, open());
    assert_eq!(subscribe(&app).await.status, 201);
    send(&app, "PUT", "/v1/stream/events/a", &[JSON], "[1]").await;
    let claimed = claim(&app, "w1").await.json();
    let keys = send(&app, "GET", "/v1/stream/__ds/jwks.json", &[], "").await;
    drop(app);
    engine.shutdown().await;

    let app = router(engine_on(&store).await, open());
    assert_eq!(subscribe(&app).await.status, 200);
    let again = send(&app, "GET", "/v1/stream/__ds/jwks.json", &[], "").await;
    assert_eq!(again.json(), keys.json());
    let busy = claim(&app, "w2").await;
    assert_eq!(busy.json()["error"]["current_holder"], "w1");
    let (token, tail) = (&claimed["token"], &claimed["streams"][0]["tail_offset"]);
    let done = json!({
        "wake_id": claimed["wake_id"],
        "generation": claimed["generation"],
        "acks": [{"stream": "events/a", "offset": tail}],
        "done": true,
    });
    let acked = post(&app, "ack", token.as_str().unwrap(), done).await;
    assert_eq!(acked.json(), json!({"ok": true, "next_wake": false}));
    let idle = claim(&app, "w2").await;
    assert_eq!(idle.json()["error"]["code"], "NO_PENDING_WORK");
    send(&app, "POST", "/v1/stream/events/a", &[JSON], "2").await;
    let next = claim(&app, "w2").await.json();
    assert!(next["generation"].as_u64() > claimed["generation"].as_u64());
}

#[tokio::test]
async fn the_token_of_another_wake_is_rejected() {
    let app = server(open()).await;
    subscribe(&app).await;
    send(&app, "PUT", "/v1/stream/events/a", &[JSON], "[1]").await;
    let claimed = claim(&app, "w").await.json();
    let mut body = json!({"wake_id": claimed["wake_id"], "generation": claimed["generation"]});
    let token = claimed["token"].as_str().unwrap();
    let refused = post(&app, "release", "nonsense", body.clone()).await;
    assert_eq!(
        (refused.status.as_u16(), &refused.json()["error"]["code"]),
        (401, &json!("TOKEN_INVALID"))
    );
    body["generation"] = json!(99);
    assert_eq!(post(&app, "release", token, body.clone()).await.status, 401);
    body["generation"] = claimed["generation"].clone();
    assert_eq!(post(&app, "release", token, body.clone()).await.status, 204);
    let late = post(&app, "release", token, body).await;
    assert_eq!(late.json()["error"]["code"], "FENCED");
}

#[tokio::test]
async fn an_acknowledgement_beyond_the_end_is_rejected_as_a_whole() {
    let app = server(open()).await;
    subscribe(&app).await;
    send(&app, "PUT", "/v1/stream/events/a", &[JSON], "[1]").await;
    let claimed = claim(&app, "w").await.json();
    let beyond = "9999999999999999_9999999999999999";
    let body = json!({
        "wake_id": claimed["wake_id"],
        "generation": claimed["generation"],
        "acks": [{"stream": "events/a", "offset": beyond}],
        "done": true,
    });
    let token = claimed["token"].as_str().unwrap();
    let refused = post(&app, "ack", token, body).await;
    assert_eq!(refused.json()["error"]["code"], "INVALID_OFFSET");
    let shown = send(&app, "GET", SUBSCRIPTION, &[], "").await.json();
    assert_eq!(shown["streams"][0]["has_pending"], json!(true));
}

#[tokio::test]
async fn an_invalid_subscription_is_rejected_with_the_reason() {
    let app = server(open()).await;
    for (body, code) in [
        (
            json!({"type": "webhook", "pattern": "x"}),
            "INVALID_REQUEST",
        ),
        (
            json!({"type": "pull-wake", "wake_stream": "w"}),
            "INVALID_REQUEST",
        ),
        (
            json!({"type": "pull-wake", "wake_stream": "workflows/x", "pattern": "x"}),
            "INVALID_REQUEST",
        ),
        (
            json!({"type": "pull-wake", "wake_stream": "w", "pattern": "x", "lease_ttl_ms": 1}),
            "INVALID_REQUEST",
        ),
        (
            json!({"type": "webhook", "pattern": "x", "webhook": {"url": "https://169.254.169.254/"}}),
            "WEBHOOK_URL_REJECTED",
        ),
    ] {
        let answer = send(&app, "PUT", SUBSCRIPTION, &[JSON], body.to_string()).await;
        assert_eq!(answer.status, 400, "{body}");
        assert_eq!(answer.json()["error"]["code"], code, "{body}");
    }
    let missing = send(&app, "GET", SUBSCRIPTION, &[], "").await;
    assert_eq!(missing.json()["error"]["code"], "SUBSCRIPTION_NOT_FOUND");
}

/// Serves a webhook that fails the first call. The channel receives the bodies of all calls.
async fn failing_once() -> (String, mpsc::UnboundedReceiver<Value>) {
    let (send, receive) = mpsc::unbounded_channel();
    let failed = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let hook = move |body: String| {
        send.send(serde_json::from_str(&body).unwrap()).unwrap();
        let is_first = !failed.swap(true, std::sync::atomic::Ordering::SeqCst);
        let status = match is_first {
            true => StatusCode::INTERNAL_SERVER_ERROR,
            false => StatusCode::OK,
        };
        std::future::ready((status, r#"{"done":true}"#))
    };
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let url = format!("http://{}/hook", listener.local_addr().unwrap());
    let app = Router::new().route("/hook", on_post(hook));
    tokio::spawn(everstep_server::serve(
        listener,
        app,
        everstep_server::Connections::default(),
        std::future::pending(),
    ));
    (url, receive)
}

/// Returns the options of a development server, which may call loopback webhooks.
fn on_this_machine() -> Options {
    let mut options = open();
    options.loopback_only = true;
    options
}

#[tokio::test]
async fn a_failed_webhook_call_is_retried_with_the_same_wake() {
    let (url, mut calls) = failing_once().await;
    let app = server(on_this_machine()).await;
    let body = json!({"type": "webhook", "pattern": "events/*", "webhook": {"url": url}});
    send(&app, "PUT", SUBSCRIPTION, &[JSON], body.to_string()).await;
    send(&app, "PUT", "/v1/stream/events/a", &[JSON], "[1]").await;
    let (first, again) = (calls.recv().await.unwrap(), calls.recv().await.unwrap());
    assert_eq!(first["wake_id"], again["wake_id"]);
    // The wake ends, and the next append causes the next wake.
    send(&app, "POST", "/v1/stream/events/a", &[JSON], "2").await;
    let next = calls.recv().await.unwrap();
    assert_ne!(next["wake_id"], first["wake_id"]);
    assert_eq!(
        next["streams"][0]["acked_offset"],
        first["streams"][0]["tail_offset"]
    );
}

async fn shown(app: &Router) -> Value {
    send(app, "GET", SUBSCRIPTION, &[], "").await.json()
}

// B493
#[tokio::test]
async fn the_document_of_a_subscription_does_not_grow_with_its_links() {
    let engine = engine_on(&store()).await;
    let app = router(&engine, open());
    subscribe(&app).await;
    let path = StreamPath::internal("__ds/subscriptions/s").unwrap();
    let mut sizes = Vec::new();
    for stream in 0..1_500 {
        let address = format!("/v1/stream/events/{stream}");
        send(&app, "PUT", &address, &[JSON], "[1]").await;
        if stream == 10 || stream == 1_499 {
            let claimed = claim(&app, "w").await.json();
            let body = json!({"wake_id": claimed["wake_id"], "generation": claimed["generation"]});
            let token = claimed["token"].as_str().unwrap();
            assert_eq!(post(&app, "release", token, body).await.status, 204);
            let document = engine.streams().document(&path).await.unwrap().unwrap();
            sizes.push(document.bytes.len());
        }
    }
    assert!(sizes[1] <= sizes[0] + 20, "{sizes:?}");
    let listed = shown(&app).await["streams"].as_array().unwrap().len();
    assert_eq!(listed, 1_000);

    // All are acknowledged, those first that were not.
    let mut acknowledged = 0;
    while acknowledged < 1_500 {
        let claimed = claim(&app, "w").await.json();
        let streams = claimed["streams"].as_array().unwrap();
        let pending = streams
            .iter()
            .filter(|stream| stream["has_pending"] == true);
        let acks: Vec<Value> = pending
            .map(|stream| json!({"stream": stream["path"], "offset": stream["tail_offset"]}))
            .take(500)
            .collect();
        assert!(!acks.is_empty(), "{acknowledged}");
        acknowledged += acks.len();
        let done = json!({
            "wake_id": claimed["wake_id"], "generation": claimed["generation"],
            "acks": acks, "done": true,
        });
        let token = claimed["token"].as_str().unwrap();
        assert_eq!(post(&app, "ack", token, done).await.status, 200);
    }
    let idle = claim(&app, "w").await;
    assert_eq!(idle.json()["error"]["code"], "NO_PENDING_WORK");
}

// B494
#[tokio::test]
async fn a_deleted_stream_loses_its_link_and_a_new_one_is_linked() {
    let app = server(open()).await;
    subscribe(&app).await;
    for stream in 0..20 {
        let address = format!("/v1/stream/events/{stream}");
        send(&app, "PUT", &address, &[JSON], "[1]").await;
    }
    for stream in 1..20 {
        let address = format!("/v1/stream/events/{stream}");
        assert_eq!(send(&app, "DELETE", &address, &[], "").await.status, 204);
    }
    while shown(&app).await["streams"].as_array().unwrap().len() > 1 {
        tokio::task::yield_now().await;
    }
    send(&app, "PUT", "/v1/stream/events/7", &[JSON], "[2]").await;
    let streams = shown(&app).await["streams"].clone();
    assert_eq!(streams[1]["path"], "events/7");
    assert_eq!(streams[1]["has_pending"], true);
}

/// B682
#[tokio::test]
async fn unknown_addresses_and_methods_are_answered_with_a_problem() {
    let app = router(engine_on(&store()).await, open());
    for (method, address, status) in [
        ("GET", "/v1/stream/__ds/nothing", 404),
        ("POST", "/v1/stream/__ds/subscriptions/s/claim/again", 404),
        ("PATCH", SUBSCRIPTION, 405),
        ("POST", "/v1/stream/__ds/subscriptions/s/nothing", 405),
        ("PATCH", "/v1/stream/events/a", 405),
    ] {
        let answer = send(&app, method, address, &[JSON], "{}").await;
        assert_eq!(answer.status, status, "{method} {address}");
        let content_type = answer.header("content-type");
        assert_eq!(
            content_type, "application/problem+json",
            "{method} {address}"
        );
        assert_eq!(answer.json()["code"], "no_route", "{method} {address}");
    }
}
