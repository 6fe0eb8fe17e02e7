//! Middleware in front of each handler: identifies and authorizes the caller.

use std::collections::HashMap;
use std::sync::Arc;

use axum::RequestExt;
use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use everstep_engine::Engine;
use everstep_model::Timestamp;
use futures_util::StreamExt;

use super::authorize::{self, Demand, RunTarget};
use super::identify::{Identified, Identities};
use super::refusal::Refusal;
use super::requirement::Requirement;
use crate::stream_protocol::{FORKED_FROM, PREFIX};

/// The gate of one route.
#[derive(Clone)]
pub(crate) struct Gate {
    pub(crate) identities: Arc<Identities>,
    pub(crate) engine: Engine,
    pub(crate) requires: Requirement,
}

/// Runs the handler if the caller may call it. Handlers find the [`Caller`](super::Caller) and the
/// [`Identified`] in the extensions of the request.
pub(crate) async fn admit(State(gate): State<Gate>, mut request: Request, next: Next) -> Response {
    match gate.check(&mut request).await {
        Ok(None) => next.run(request).await,
        Ok(Some(identified)) => {
            let expires_at = identified.caller.token().map(|token| token.expires_at);
            request.extensions_mut().insert(identified.caller.clone());
            request.extensions_mut().insert(identified);
            match expires_at {
                Some(expires_at) => gate.run_until(expires_at, next.run(request)).await,
                None => next.run(request).await,
            }
        }
        Err(refusal) => refusal.into_response(),
    }
}

impl Gate {
    /// Returns the caller, or `None` for a public route.
    async fn check(&self, request: &mut Request) -> Result<Option<Identified>, Refusal> {
        let demand = match self.requires {
            Requirement::Public => Demand::Nothing,
            Requirement::Scope(scope) => Demand::Scopes(vec![scope]),
            Requirement::Scopes(scopes) => Demand::Scopes(scopes.to_vec()),
            Requirement::Stream => {
                let raw = request.uri().path().strip_prefix(PREFIX);
                let forks = request.headers().contains_key(FORKED_FROM);
                authorize::of_stream(request.method(), raw.unwrap_or_default(), forks)
            }
            // Checked against the run below.
            Requirement::Run(_) => Demand::Scopes(Vec::new()),
        };
        if demand == Demand::Nothing {
            return Ok(None);
        }
        let identified = self
            .identities
            .identify(request.headers(), request.extensions())
            .await?;
        authorize::check(&identified.caller, &demand)?;
        if let Requirement::Run(action) = self.requires {
            let path = request
                .extract_parts::<Path<HashMap<String, String>>>()
                .await;
            let parameters = path.map(|Path(parameters)| parameters).unwrap_or_default();
            let parameter = |name: &str| parameters.get(name).map_or("", String::as_str);
            let target = RunTarget {
                id: parameter("id"),
                event_or_rpc: match parameter("name") {
                    "" => parameter("rpc"),
                    name => name,
                },
            };
            authorize::check_run(&self.engine, &identified.caller, action, target).await?;
        }
        Ok(Some(identified))
    }

    /// Ends a response that waits or stays open when the run token of the request expires.
    async fn run_until(
        &self,
        expires_at: Timestamp,
        response: impl Future<Output = Response>,
    ) -> Response {
        let remaining = || self.identities.now().until(expires_at);
        let Ok(response) = tokio::time::timeout(remaining(), response).await else {
            return Refusal::Expired.into_response();
        };
        let expired = tokio::time::sleep(remaining());
        response.map(|body| Body::from_stream(body.into_data_stream().take_until(expired)))
    }
}
