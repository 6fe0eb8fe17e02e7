//! The routes, and what every answer carries.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, delete, post};
use everstep_engine::Engine;
use everstep_engine::streams::Streams;
use tokio::sync::Semaphore;

use crate::options::Options;
use crate::origins::is_from_here;
use crate::streams::{cors, route};
use crate::subscriptions::Subscriptions;
use crate::workers::{self, Pool};

/// What handlers share.
pub(crate) struct Shared {
    /// Hints of other nodes reach it as long as somebody holds it.
    _engine: Engine,
    pub(crate) streams: Streams,
    pub(crate) subscriptions: Arc<Subscriptions>,
    /// Who executes runs elsewhere.
    pub(crate) workers: Arc<Pool>,
    /// Who may wait.
    pub(crate) waiting: Arc<Semaphore>,
    pub(crate) options: Options,
}

/// Serves an engine: `/v1/stream/{path}` is a Durable Streams server. Mount it under any prefix.
///
/// # Panics
/// Outside a tokio runtime, which subscriptions need.
pub fn router(engine: impl AsRef<Engine>, options: Options) -> Router {
    let engine = engine.as_ref();
    let subscriptions = Arc::new(Subscriptions::new(engine.streams()));
    subscriptions.start();
    let shared = Arc::new(Shared {
        _engine: engine.clone(),
        streams: engine.streams(),
        subscriptions,
        workers: Arc::new(Pool::new(engine.clone(), options.worker_time_to_live)),
        waiting: Arc::new(Semaphore::new(options.waiting_max)),
        options,
    });
    Router::new()
        .route("/v1/stream/{*path}", any(route::dispatch))
        .route("/v1/workers", post(workers::register))
        .route("/v1/workers/{session}", delete(workers::leave))
        .route("/v1/workers/{session}/claim", post(workers::claim))
        .route("/v1/workers/{session}/append", post(workers::append))
        .route("/v1/workers/{session}/read", post(workers::read))
        .route("/v1/workers/{session}/heartbeat", post(workers::heartbeat))
        .route("/v1/workers/{session}/release", post(workers::release))
        .layer(from_fn_with_state(shared.clone(), guard))
        .with_state(shared)
}

/// Refuses who may not ask, and marks every answer so that browsers neither guess nor leak.
async fn guard(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    let origin = request.headers().get(header::ORIGIN).cloned();
    let is_preflight = request.method() == axum::http::Method::OPTIONS;
    let is_welcome = !shared.options.loopback_only
        || is_preflight
        || is_from_here(request.headers(), request.uri());
    let mut response = match is_welcome {
        true => next.run(request).await,
        false => StatusCode::FORBIDDEN.into_response(),
    };
    let headers = response.headers_mut();
    headers.insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    // Whatever content type a stream has, no page of this origin is made of it.
    headers.insert(
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static("default-src 'none'; sandbox"),
    );
    cors::mark(headers, origin.as_ref(), &shared.options.origins);
    response
}
