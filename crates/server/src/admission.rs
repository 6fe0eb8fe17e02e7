//! The middleware of each route: admits the caller, and counts the bytes of the bodies.
//!
//! ```text
//!   request ──▶ gate (who is the caller, and is the call allowed) ──▶ budgets (bytes of bodies) ──▶ handler
//! ```
//!
//! One service, because two `axum::middleware::from_fn` would copy the request and the inner
//! services twice for each request.

use std::convert::Infallible;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::extract::Request;
use axum::http::Method;
use axum::response::{IntoResponse, Response};
use futures_util::future::BoxFuture;
use tower::{Layer, Service};

use crate::auth::{Caller, Gate};
use crate::body_budget::Budgets;
use crate::compression::Uncompressed;
use crate::failure::Failure;

/// The middleware as a layer of a route.
#[derive(Clone)]
pub(crate) struct Admission(Arc<Checks>);

struct Checks {
    gate: Gate,
    budgets: Budgets,
}

impl Admission {
    pub(crate) fn new(gate: Gate, budgets: Budgets) -> Self {
        Self(Arc::new(Checks { gate, budgets }))
    }
}

impl<S> Layer<S> for Admission {
    type Service = Admitting<S>;

    fn layer(&self, handler: S) -> Admitting<S> {
        let checks = self.0.clone();
        Admitting { checks, handler }
    }
}

#[derive(Clone)]
pub(crate) struct Admitting<S> {
    checks: Arc<Checks>,
    handler: S,
}

impl<S> Service<Request> for Admitting<S>
where
    S: Service<Request, Response = Response, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
{
    type Response = Response;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response, Infallible>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.handler.poll_ready(context)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let checks = self.checks.clone();
        // The copy may not be ready yet, but this one is.
        let copy = self.handler.clone();
        let handler = std::mem::replace(&mut self.handler, copy);
        Box::pin(async move { Ok(checks.answer(request, handler).await.into_response()) })
    }
}

impl Checks {
    /// Runs the handler if the caller may call it. Handlers find the [`Caller`] in the extensions
    /// of the request.
    async fn answer<S>(&self, mut request: Request, mut handler: S) -> Result<Response, Failure>
    where
        S: Service<Request, Response = Response, Error = Infallible>,
    {
        let validity = self.gate.admit(&mut request).await?;
        let caller = request.extensions().get::<Caller>().cloned();
        let has_no_effect = matches!(*request.method(), Method::GET | Method::HEAD);
        // Lives until the response, because the handler has the bytes until then.
        let (request, _account) = self.budgets.count_request(caller.as_ref(), request);
        let handled = async {
            let response = match handler.call(request).await {
                Ok(response) => response,
                Err(never) => match never {},
            };
            // A response that reports an effect must not be replaced.
            match has_no_effect {
                true => self.budgets.hold_response(caller.as_ref(), response),
                false => Ok(response),
            }
        };
        match validity {
            Some(validity) => validity.limit(handled).await,
            None if caller.is_none() => {
                let mut response = handled.await?;
                response.extensions_mut().insert(Uncompressed);
                Ok(response)
            }
            None => handled.await,
        }
    }
}
