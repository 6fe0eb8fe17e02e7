//! The axum routers that applications mount, with the middleware that applies to every request.

use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use everstep_engine::{Engine, Role};
use everstep_model::ErrorCode;
use everstep_protocol::{PROTOCOL_HEADER, PROTOCOL_VERSION};

use crate::around::{Around, Surround};
use crate::compression::{compress, weaken_etag};
use crate::failure::Failure;
use crate::options::Options;
use crate::origins::is_local_request;
use crate::route::{Route, bind};
use crate::services::Services;
use crate::stream_protocol::PREFIX;
use crate::{cors, routes, workers};

/// Serves an engine. `/v1/stream/{path}` is a Durable Streams server. The router can be mounted
/// under any prefix. Without the role `api`, it has only the routes that the engine's other roles
/// need.
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
        services.streams.server.subscriptions.start(options.clone());
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
    // Together, the outermost first, because each layer of a router copies the layers below it.
    routes::build(services, table).layer((Surround(Guard(options)), compress()))
}

/// Rejects requests from other machines in development mode, and adds security headers to every
/// response.
#[derive(Clone)]
struct Guard(Arc<Options>);

/// What the headers of a response depend on.
struct RequestContext {
    origin: Option<HeaderValue>,
    is_stream_read: bool,
}

impl Around for Guard {
    type Seen = RequestContext;

    fn before(&self, request: &Request) -> (RequestContext, Option<Response>) {
        let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
        let context = RequestContext {
            origin: request.headers().get(header::ORIGIN).cloned(),
            is_stream_read: is_read && request.uri().path().starts_with(PREFIX),
        };
        let answer = match check(&self.0, request) {
            Err(failure) => Some(failure.into_response()),
            Ok(()) if request.method() == Method::OPTIONS => Some(cors::preflight()),
            Ok(()) => None,
        };
        (context, answer)
    }

    fn after(&self, context: RequestContext, response: &mut Response) {
        let headers = response.headers_mut();
        weaken_etag(headers);
        headers.insert(
            header::X_CONTENT_TYPE_OPTIONS,
            HeaderValue::from_static("nosniff"),
        );
        headers.insert(
            HeaderName::from_static(PROTOCOL_HEADER),
            HeaderValue::from(PROTOCOL_VERSION),
        );
        // A stream may have any content type; browsers must not run it as a page of this origin. A
        // route that serves a page sets its own policy.
        headers
            .entry(header::CONTENT_SECURITY_POLICY)
            .or_insert(HeaderValue::from_static("default-src 'none'; sandbox"));
        let (origin, origins) = (context.origin.as_ref(), &self.0.origins);
        cors::add_headers(headers, origin, origins, context.is_stream_read);
    }
}

fn check(options: &Options, request: &Request) -> Result<(), Failure> {
    let headers = request.headers();
    if headers.get_all(header::HOST).iter().count() > 1 {
        return Err(Failure::invalid("the request has more than one `Host`"));
    }
    let is_allowed = !options.loopback_only
        || request.method() == Method::OPTIONS
        || is_local_request(headers, request.uri());
    match is_allowed {
        true => Ok(()),
        false => Err(Failure::new(
            StatusCode::FORBIDDEN,
            ErrorCode::NotLocal,
            "a development server accepts only a `Host` and an `Origin` on this machine, such as \
             `localhost`; to serve others, use `everstep serve`, and list their origins in `origins`",
        )),
    }
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use tower::ServiceExt;

    use super::*;
    use crate::auth::Requirement;

    #[tokio::test]
    async fn a_route_may_set_its_own_content_policy() {
        const POLICY: &str = "default-src 'self'";
        let page = || async { [(header::CONTENT_SECURITY_POLICY, POLICY)] };
        let plain = || async { "plain" };
        let table = vec![
            Route::get("/page", Requirement::Public, page),
            Route::get("/plain", Requirement::Public, plain),
        ];
        let engine = everstep::Engine::in_memory().start().await.unwrap();
        let options = Arc::new(Options::default());
        let services = Services::new(engine.as_ref(), &options);
        let router = with_middleware(&services, bind(&(), table), options);
        for (path, policy) in [("/page", POLICY), ("/plain", "default-src 'none'; sandbox")] {
            let request = Request::get(path).body(Body::empty()).unwrap();
            let response = router.clone().oneshot(request).await.unwrap();
            let policies = response.headers().get_all(header::CONTENT_SECURITY_POLICY);
            assert_eq!(policies.iter().collect::<Vec<_>>(), [policy]);
        }
    }
}
