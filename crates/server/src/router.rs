//! The routes, and what every answer carries.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use everstep_engine::streams::Streams;
use everstep_engine::{Engine, Role};
use tokio::sync::Semaphore;

use crate::auth::Identities;
use crate::compression::{compress, weaken_tag};
use crate::options::Options;
use crate::origins::is_from_here;
use crate::routes::{self, Route};
use crate::streams::cors;
use crate::subscriptions::{Reach, Subscriptions};
use crate::telemetry::Metrics;
use crate::workers::{self, Pool};

/// What handlers share.
pub(crate) struct Shared {
    /// Hints of other nodes reach it as long as somebody holds it.
    pub(crate) engine: Engine,
    pub(crate) streams: Streams,
    pub(crate) subscriptions: Arc<Subscriptions>,
    /// Who executes runs elsewhere.
    pub(crate) workers: Arc<Pool>,
    /// Who is who.
    pub(crate) identities: Identities,
    /// Who may wait.
    pub(crate) waiting: Arc<Semaphore>,
    pub(crate) metrics: Metrics,
    pub(crate) options: Options,
}

/// Serves an engine: `/v1/stream/{path}` is a Durable Streams server. Mount it under any prefix. Without the role `api` there is
/// only what the engine's other roles need.
///
/// Callers need keys ([`Keys`](crate::Keys)), unless the options say otherwise or the application vouches for them by a
/// [`Caller`](crate::Caller) in the extensions of the request.
///
/// # Panics
/// Outside a tokio runtime, which subscriptions need.
pub fn router(engine: impl AsRef<Engine>, options: Options) -> Router {
    let shared = Shared::new(engine.as_ref(), options);
    let roles = shared.engine.roles();
    if roles.has(Role::Api) {
        shared.subscriptions.start();
    }
    shared.serve(routes::table(roles))
}

/// Serves the worker protocol of an engine and nothing else, for an address that only workers reach. It spawns nothing but on the
/// engine's own runtime.
pub fn workers_router(engine: impl AsRef<Engine>, options: Options) -> Router {
    Shared::new(engine.as_ref(), options).serve(workers::routes())
}

impl Shared {
    fn new(engine: &Engine, options: Options) -> Arc<Self> {
        let reach = match options.loopback_only {
            true => Reach::ThisMachine,
            false => Reach::Public,
        };
        Arc::new(Self {
            identities: Identities::new(engine, options.access),
            engine: engine.clone(),
            streams: engine.streams(),
            subscriptions: Arc::new(Subscriptions::new(engine.streams(), reach)),
            workers: Arc::new(Pool::new(engine.clone(), &options)),
            waiting: Arc::new(Semaphore::new(options.waiting_max)),
            metrics: Metrics::new(engine),
            options,
        })
    }

    fn serve(self: Arc<Self>, table: Vec<Route>) -> Router {
        routes::build(&self, table)
            .layer(compress())
            .layer(from_fn(weaken_tag))
            .layer(from_fn_with_state(self.clone(), guard))
            .with_state(self)
    }
}

/// Refuses who may not ask, and marks every answer so that browsers neither guess nor leak.
async fn guard(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    let origin = request.headers().get(header::ORIGIN).cloned();
    let is_preflight = request.method() == axum::http::Method::OPTIONS;
    let is_welcome = !shared.options.loopback_only
        || is_preflight
        || is_from_here(request.headers(), request.uri());
    let mut response = match (is_welcome, is_preflight) {
        (true, true) => cors::preflight(),
        (true, false) => next.run(request).await,
        (false, _) => StatusCode::FORBIDDEN.into_response(),
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
