//! Middleware in front of each handler: identifies and authorizes the caller.

use std::collections::HashMap;
use std::sync::Arc;

use axum::RequestExt;
use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::middleware::Next;
use axum::response::Response;
use everstep_engine::Engine;
use everstep_model::Timestamp;
use futures_util::StreamExt;

use super::authorize::{self, Demand, RunTarget};
use super::caller::Caller;
use super::identify::{Identities, token_expired};
use super::requirement::Requirement;
use crate::failure::Failure;
use crate::stream_protocol::{FORKED_FROM, PREFIX};

/// The gate of one route.
#[derive(Clone)]
pub(crate) struct Gate {
    pub(crate) identities: Arc<Identities>,
    pub(crate) engine: Engine,
    pub(crate) requires: Requirement,
}

/// Runs the handler if the caller may call it. Handlers find the [`Caller`] in the extensions of the
/// request.
pub(crate) async fn admit(
    State(gate): State<Gate>,
    mut request: Request,
    next: Next,
) -> Result<Response, Failure> {
    let Some(caller) = gate.check(&mut request).await? else {
        return Ok(next.run(request).await);
    };
    let expires_at = caller.token().map(|token| token.expires_at);
    request.extensions_mut().insert(caller);
    match expires_at {
        Some(expires_at) => gate.run_until(expires_at, next.run(request)).await,
        None => Ok(next.run(request).await),
    }
}

impl Gate {
    /// Returns the caller, or `None` for a public route.
    async fn check(&self, request: &mut Request) -> Result<Option<Caller>, Failure> {
        let demand = match self.requires {
            Requirement::Public => Demand::Nothing,
            Requirement::Scopes(scopes) => Demand::Scopes(scopes),
            Requirement::Stream => {
                let raw = request.uri().path().strip_prefix(PREFIX);
                let forks = request.headers().contains_key(FORKED_FROM);
                authorize::of_stream(request.method(), raw.unwrap_or_default(), forks)
            }
            // Checked against the run below.
            Requirement::Run(_) => Demand::Scopes(&[]),
        };
        if demand == Demand::Nothing {
            return Ok(None);
        }
        let (headers, extensions) = (request.headers(), request.extensions());
        let caller = self.identities.identify(headers, extensions).await?;
        authorize::check(&caller, &demand)?;
        if let Requirement::Run(action) = self.requires {
            let path: Result<Path<HashMap<String, String>>, _> = request.extract_parts().await;
            let parameters = path.map(|Path(parameters)| parameters).unwrap_or_default();
            let parameter = |name: &str| parameters.get(name).map_or("", String::as_str);
            let target = RunTarget {
                id: parameter("id"),
                event_or_rpc: match parameter("name") {
                    "" => parameter("rpc"),
                    name => name,
                },
            };
            authorize::check_run(&self.engine, &caller, action, target).await?;
        }
        Ok(Some(caller))
    }

    /// Ends a response that waits or stays open when the run token of the request expires.
    async fn run_until(
        &self,
        expires_at: Timestamp,
        response: impl Future<Output = Response>,
    ) -> Result<Response, Failure> {
        let remaining = || self.identities.now().until(expires_at);
        let response = tokio::time::timeout(remaining(), response).await;
        let response = response.map_err(|_| token_expired())?;
        let expired = tokio::time::sleep(remaining());
        Ok(response.map(|body| Body::from_stream(body.into_data_stream().take_until(expired))))
    }
}
