//! The axum routers that applications mount, with the middleware that applies to every request.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use everstep_engine::{Engine, Role};

use crate::compression::{compress, weaken_etag};
use crate::options::Options;
use crate::origins::is_local_request;
use crate::route::{Route, bind};
use crate::services::Services;
use crate::{cors, routes, workers};

/// Serves an engine. `/v1/stream/{path}` is a Durable Streams server. The router can be mounted under
/// any prefix. Without the role `api`, it has only the routes that the engine's other roles need.
///
/// Callers need keys ([`Keys`](crate::Keys)), unless the options say otherwise or the application
/// inserts a [`Caller`](crate::Caller) into the extensions of the request.
///
/// # Panics
/// Outside a tokio runtime, because subscriptions spawn a task.
pub fn router(engine: impl AsRef<Engine>, options: Options) -> Router {
    let options = Arc::new(options);
    let services = Services::new(engine.as_ref(), &options);
    if services.engine.roles().has(Role::Api) {
        services.streams.server.subscriptions.start();
    }
    let table = routes::table(&services);
    with_middleware(&services, table, options)
}

/// Serves only the worker protocol of an engine, for an address that only workers use. It spawns
/// tasks only on the engine's own runtime.
pub fn workers_router(engine: impl AsRef<Engine>, options: Options) -> Router {
    let options = Arc::new(options);
    let services = Services::new(engine.as_ref(), &options);
    let table = bind(&services.workers, workers::routes());
    with_middleware(&services, table, options)
}

fn with_middleware(services: &Services, table: Vec<Route>, options: Arc<Options>) -> Router {
    routes::build(services, table)
        .layer(compress())
        .layer(from_fn(weaken_etag))
        .layer(from_fn_with_state(options, guard))
}

/// Rejects requests from other machines in development mode, and adds security headers to every
/// response.
async fn guard(State(options): State<Arc<Options>>, request: Request, next: Next) -> Response {
    let origin = request.headers().get(header::ORIGIN).cloned();
    let is_preflight = request.method() == Method::OPTIONS;
    let is_allowed = !options.loopback_only
        || is_preflight
        || is_local_request(request.headers(), request.uri());
    let mut response = match (is_allowed, is_preflight) {
        (true, true) => cors::preflight(),
        (true, false) => next.run(request).await,
        (false, _) => StatusCode::FORBIDDEN.into_response(),
    };
    let headers = response.headers_mut();
    headers.insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    // A stream may have any content type; browsers must not run it as a page of this origin.
    headers.insert(
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static("default-src 'none'; sandbox"),
    );
    cors::add_headers(headers, origin.as_ref(), &options.origins);
    response
}
