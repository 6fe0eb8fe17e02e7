//! A server on an in-memory store, and helpers for requests.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::http::{HeaderMap, Request, StatusCode};
use everstep_engine::{Engine, EngineParts, Settings, TokioRuntime};
use everstep_server::{Access, Options, router};
use everstep_store::{LocalBus, MemoryStore};
use tower::ServiceExt;

/// A complete response.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Response {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .map_or("", |value| value.to_str().unwrap())
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

pub(crate) fn store() -> MemoryStore {
    MemoryStore::new(Arc::new(TokioRuntime::current().unwrap()))
}

pub(crate) async fn engine_on(store: &MemoryStore) -> Engine {
    let parts = EngineParts {
        store: Arc::new(store.clone()),
        bus: Arc::new(LocalBus::default()),
        runtime: Arc::new(TokioRuntime::current().unwrap()),
        settings: Settings::default(),
        workers: Vec::new(),
        failure_hooks: Vec::new(),
    };
    Engine::open(parts).await.unwrap()
}

/// Returns the options of a server without access control.
pub(crate) fn open() -> Options {
    let mut options = Options::default();
    options.access = Access::Open;
    options
}

/// Starts a server without access control.
pub(crate) async fn server(mut options: Options) -> Router {
    options.access = Access::Open;
    router(engine_on(&store()).await, options)
}

/// Sends a request with headers like `("Content-Type", "text/plain")`.
pub(crate) async fn send(
    server: &Router,
    method: &str,
    address: &str,
    headers: &[(&str, &str)],
    body: impl Into<Body>,
) -> Response {
    let mut request = Request::builder().method(method).uri(address);
    if !headers.iter().any(|(name, _)| *name == "Host") {
        request = request.header("Host", "localhost:4437");
    }
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(body.into()).unwrap();
    let response = server.clone().oneshot(request).await.unwrap();
    let (parts, body) = response.into_parts();
    Response {
        status: parts.status,
        headers: parts.headers,
        body: to_bytes(body, usize::MAX).await.unwrap(),
    }
}

pub(crate) const TEXT: (&str, &str) = ("Content-Type", "text/plain");
pub(crate) const JSON: (&str, &str) = ("Content-Type", "application/json");
