//! The bytes of bodies in memory: of all callers together and of each one.

use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{Request, Response, StatusCode};
use everstep_protocol::access::Scope;
use everstep_server::{Caller, Options};
use futures_util::{StreamExt, stream};
use tokio::sync::oneshot;
use tower::ServiceExt;

use crate::support::{TEXT, open, send, server};

const STREAM: &str = "/v1/stream/a";

/// Sends a request as the caller that the application has identified.
async fn call(app: &Router, method: &str, caller: &str, body: impl Into<Body>) -> Response<Body> {
    call_at(app, method, STREAM, caller, body).await
}

async fn call_at(
    app: &Router,
    method: &str,
    address: &str,
    caller: &str,
    body: impl Into<Body>,
) -> Response<Body> {
    let caller = Caller::with_scopes(caller, [Scope::Read, Scope::Send]);
    let request = Request::builder().method(method).uri(address);
    let request = request.extension(caller);
    let request = request.header("Host", "localhost").header(TEXT.0, TEXT.1);
    let request = request.body(body.into()).unwrap();
    app.clone().oneshot(request).await.unwrap()
}

/// A request whose body has begun and does not end.
struct Unfinished(tokio::task::JoinHandle<Response<Body>>);

impl Unfinished {
    /// Returns when the server has these bytes.
    async fn post(app: &Router, caller: &'static str, bytes: usize) -> Self {
        let (taken, is_taken) = oneshot::channel();
        let rest = stream::once(async move {
            taken.send(()).unwrap();
            std::future::pending::<Result<Bytes, std::io::Error>>().await
        });
        let begun = stream::iter([Ok(Bytes::from(vec![b'x'; bytes]))]);
        let body = Body::from_stream(begun.chain(rest));
        let app = app.clone();
        let request = tokio::spawn(async move { call(&app, "POST", caller, body).await });
        is_taken.await.unwrap();
        Self(request)
    }

    async fn abort(self) {
        self.0.abort();
        let _ = self.0.await;
    }
}

async fn app(change: impl FnOnce(&mut Options)) -> Router {
    let mut options = open();
    change(&mut options);
    let app = server(options).await;
    send(&app, "PUT", STREAM, &[TEXT], "").await;
    app
}

fn assert_too_busy(response: &Response<Body>, status: StatusCode) {
    assert_eq!(response.status(), status);
    assert_eq!(response.headers()["retry-after"], "1");
}

// B784
#[tokio::test(start_paused = true)]
async fn a_body_waits_for_others_and_is_then_rejected() {
    let app = app(|options| {
        options.body_bytes_max = 600;
        options.requests_bytes_max = 1_500;
    })
    .await;
    let first = Unfinished::post(&app, "a", 600).await;
    let second = Unfinished::post(&app, "b", 600).await;
    let refused = call(&app, "POST", "c", vec![b'x'; 600]).await;
    assert_too_busy(&refused, StatusCode::SERVICE_UNAVAILABLE);
    let small = call(&app, "POST", "c", "x").await;
    assert_eq!(small.status(), StatusCode::NO_CONTENT);
    let waiting = call(&app, "POST", "c", vec![b'x'; 600]);
    let ending = async {
        tokio::time::advance(Duration::from_millis(500)).await;
        first.abort().await;
    };
    let (taken, ()) = tokio::join!(waiting, ending);
    assert_eq!(taken.status(), StatusCode::NO_CONTENT);
    second.abort().await;
}

// B784
#[tokio::test(start_paused = true)]
async fn one_caller_does_not_use_up_the_memory_for_bodies() {
    let app = app(|options| {
        options.body_bytes_max = 600;
        options.requests_bytes_max = 2_000;
    })
    .await;
    let _first = Unfinished::post(&app, "greedy", 600).await;
    let refused = call(&app, "POST", "greedy", vec![b'x'; 600]).await;
    assert_too_busy(&refused, StatusCode::TOO_MANY_REQUESTS);
    let other = call(&app, "POST", "other", vec![b'x'; 600]).await;
    assert_eq!(other.status(), StatusCode::NO_CONTENT);
}

// B785
#[tokio::test]
async fn clients_that_do_not_read_do_not_fill_the_memory() {
    const BYTES: usize = 300_000;
    let app = app(|options| options.responses_bytes_max = 32 * 1024 * 1024).await;
    call(&app, "POST", "a", vec![b'x'; BYTES]).await;
    let mut unread = Vec::new();
    let refused = loop {
        let response = call(&app, "GET", "a", "").await;
        match response.status() {
            StatusCode::OK => unread.push(response),
            _ => break response,
        }
    };
    assert_eq!(unread.len(), 16 * 1024 * 1024 / BYTES);
    assert_too_busy(&refused, StatusCode::TOO_MANY_REQUESTS);
    let other = call(&app, "GET", "b", "").await;
    assert_eq!(other.status(), StatusCode::OK);
    let events = format!("{STREAM}?offset=-1&live=sse");
    let refused = call_at(&app, "GET", &events, "a", "").await;
    assert!(
        refused
            .into_body()
            .into_data_stream()
            .next()
            .await
            .is_none()
    );
    let other = call_at(&app, "GET", &events, "b", "").await;
    let event = other.into_body().into_data_stream().next().await;
    assert!(event.unwrap().unwrap().len() > BYTES);
    // What the connection has taken from a body counts until it is sent.
    let mut body = unread.pop().unwrap().into_body().into_data_stream();
    let taken = body.next().await.unwrap().unwrap();
    assert!(body.next().await.is_none());
    drop(body);
    let refused = call(&app, "GET", "a", "").await;
    assert_too_busy(&refused, StatusCode::TOO_MANY_REQUESTS);
    drop(taken);
    let again = call(&app, "GET", "a", "").await;
    assert_eq!(again.status(), StatusCode::OK);
}
