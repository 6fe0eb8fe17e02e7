//! Requests that wait: long-polls, event streams, and waits for runs. Their buffers, their number
//! and their end.

use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Request, Response, StatusCode};
use everstep::{AnyEvent, Ctx, Engine, Payload, Result, Workflows};
use everstep_protocol::access::Scope;
use everstep_protocol::client::{Call, Connection};
use everstep_server::{Caller, Connections, Options, router, serve};
use futures_util::StreamExt;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tower::ServiceExt;

use crate::support::{JSON, TEXT, open, send, server};

const HOUR: Duration = Duration::from_secs(3_600);

async fn get(app: &Router, address: &str, token: &str) -> Response<Body> {
    let request = Request::get(address).header("Host", "localhost:4437");
    let request = request.header("Authorization", format!("Bearer {token}"));
    let request = request.body(Body::empty()).unwrap();
    app.clone().oneshot(request).await.unwrap()
}

async fn patient(ctx: Ctx<AnyEvent>, (): ()) -> Result<()> {
    ctx.sleep("long", HOUR).await
}

/// Serves a run `mine` that sleeps.
async fn sleeping_run(options: Options) -> (Engine, Router) {
    let workflows = Workflows::new().function("patient", patient);
    let engine = Engine::in_memory().workflows(workflows).start().await;
    let engine = engine.unwrap();
    let run = engine.start_by_name("patient", Payload::null());
    run.id("mine").await.unwrap();
    let app = router(&engine, options);
    (engine, app)
}

// B480
#[tokio::test]
async fn an_event_stream_buffers_little_of_a_long_stream() {
    const MESSAGES: usize = 3_000;
    let app = server(open()).await;
    send(&app, "PUT", "/v1/stream/a", &[JSON], "").await;
    let message = json!("x".repeat(1_000)).to_string();
    let messages = format!("[{}]", vec![message; MESSAGES].join(","));
    send(&app, "POST", "/v1/stream/a", &[JSON], messages).await;
    let response = get(&app, "/v1/stream/a?offset=-1&live=sse", "").await;
    let mut frames = response.into_body().into_data_stream();
    let mut received = 0;
    while received < MESSAGES * 1_000 {
        let bytes = frames.next().await.unwrap().unwrap().len();
        assert!(bytes <= 256 * 1024, "{bytes}");
        received += bytes;
    }
}

// B481
#[tokio::test]
async fn a_run_token_opens_a_thousand_event_streams_and_no_more() {
    let (_engine, app) = sleeping_run(open()).await;
    let mut tokens = Vec::new();
    for view in ["client", "state"] {
        let request = json!({"run": "mine", "view": view}).to_string();
        let minted = send(&app, "POST", "/tokens", &[JSON], request).await.json();
        tokens.push(minted["token"].as_str().unwrap().to_owned());
    }
    let address = "/v1/stream/workflows/mine?offset=-1&live=sse";
    let mut streams = Vec::new();
    for _ in 0..1_000 {
        let stream = get(&app, address, &tokens[0]).await;
        assert_eq!(stream.status(), StatusCode::OK);
        streams.push(stream);
    }
    for live in ["sse", "long-poll"] {
        let address = format!("/v1/stream/workflows/mine?offset=-1&live={live}");
        let refused = get(&app, &address, &tokens[0]).await;
        assert_eq!(refused.status(), StatusCode::TOO_MANY_REQUESTS, "{live}");
        assert_eq!(refused.headers()["retry-after"], "1");
        let body = to_bytes(refused.into_body(), usize::MAX).await.unwrap();
        let problem: serde_json::Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(problem["code"], "too_busy");
    }
    let other = get(&app, address, &tokens[1]).await;
    assert_eq!(other.status(), StatusCode::OK);
    streams.pop();
    let again = get(&app, address, &tokens[0]).await;
    assert_eq!(again.status(), StatusCode::OK);
}

// B786
#[tokio::test]
async fn a_key_leaves_half_of_the_waits_to_others() {
    let mut options = open();
    options.waiting_max = 4;
    let app = server(options).await;
    send(&app, "PUT", "/v1/stream/a", &[TEXT], "x").await;
    let wait = async |name: &str| {
        let caller = Caller::with_scopes(name, [Scope::Read]);
        let request = Request::get("/v1/stream/a?offset=-1&live=sse").extension(caller);
        let request = request.header("Host", "localhost").body(Body::empty());
        app.clone().oneshot(request.unwrap()).await.unwrap()
    };
    let _open = [wait("greedy").await, wait("greedy").await];
    let refused = wait("greedy").await;
    assert_eq!(refused.status(), StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(wait("other").await.status(), StatusCode::OK);
}

/// Sends a request until it gets the only permit to wait, and returns the status of the response.
async fn received(server: SocketAddr, path: &str) -> u16 {
    let connection = Connection::to(&format!("http://{server}")).unwrap();
    loop {
        let call = Call::get(path).timeout(HOUR);
        match connection.send(call).await {
            Ok(answer) => return answer.status.as_u16(),
            Err(error) => assert_eq!(error.status(), Some(503), "{error}"),
        }
    }
}

/// Options under which requests wait for an hour, one at a time.
fn one_waits() -> Options {
    let mut options = open();
    options.long_poll_timeout = HOUR;
    options.sse_lifetime = HOUR;
    options.wait_max = HOUR;
    options.waiting_max = 1;
    options
}

// B482
#[tokio::test]
async fn waiting_requests_are_answered_when_the_server_closes() {
    for (address, status) in [
        ("v1/stream/a?offset=now&live=long-poll", 204),
        ("v1/stream/a?offset=now&live=sse", 200),
        ("workflows/mine?wait=1h", 200),
    ] {
        let (_engine, app) = sleeping_run(one_waits()).await;
        send(&app, "PUT", "/v1/stream/a", &[TEXT], "x").await;
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let server = listener.local_addr().unwrap();
        let mut connections = Connections::default();
        connections.grace = HOUR;
        let (close, closed) = oneshot::channel::<()>();
        let ended = async move { drop(closed.await) };
        let serving = tokio::spawn(serve(listener, app.clone(), connections, ended));
        let waiting = tokio::spawn(received(server, address));
        // A further wait is refused as soon as the first one waits.
        while get(&app, "/v1/stream/a?offset=-1&live=long-poll", "")
            .await
            .status()
            == 200
        {
            tokio::task::yield_now().await;
        }
        close.send(()).unwrap();
        assert_eq!(waiting.await.unwrap(), status, "{address}");
        serving.await.unwrap();
    }
}
