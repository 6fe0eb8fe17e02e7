//! Serving an engine without sockets: requests go straight into its router.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use everstep::Engine;
use everstep_protocol::client::{Transport, TransportError};
use everstep_server::{Access, Options, router};
use tower::ServiceExt;

/// A transport that passes requests to a router.
pub(crate) struct Direct(pub(crate) Router);

impl Transport for Direct {
    fn call(
        &self,
        request: http::Request<bytes::Bytes>,
    ) -> futures_util::future::BoxFuture<
        'static,
        Result<http::Response<bytes::Bytes>, TransportError>,
    > {
        let router = self.0.clone();
        Box::pin(async move {
            let answer = match router.oneshot(request.map(Body::from)).await {
                Ok(answer) => answer,
                Err(never) => match never {},
            };
            let (parts, body) = answer.into_parts();
            let body = to_bytes(body, usize::MAX).await.unwrap();
            Ok(http::Response::from_parts(parts, body))
        })
    }
}

/// Serves an engine, with settings that make months of virtual time pass quickly.
pub(crate) fn serve(engine: &Engine) -> Arc<dyn Transport> {
    let mut options = Options::default();
    options.worker_time_to_live = Duration::from_secs(24 * 3_600);
    options.wait_max = Duration::from_secs(24 * 3_600);
    options.access = Access::Open;
    Arc::new(Direct(router(engine, options)))
}
