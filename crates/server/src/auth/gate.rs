//! The gate in front of each handler: identifies, authorizes, lets pass, and ends what outlives its token.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use axum::RequestExt;
use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use everstep_model::Timestamp;
use futures_util::StreamExt;

use super::authorize::{self, AboutRun, Demand};
use super::identify::Identified;
use super::needs::Needs;
use super::refusal::Refusal;
use crate::router::Shared;
use crate::streams::headers::FORKED_FROM;
use crate::streams::route::PREFIX;

/// What a route's gate knows.
#[derive(Clone)]
pub(crate) struct Gate {
    pub(crate) shared: Arc<Shared>,
    pub(crate) needs: Needs,
}

pub(crate) async fn admit(State(gate): State<Gate>, mut request: Request, next: Next) -> Response {
    match gate.check(&mut request).await {
        Ok(None) => next.run(request).await,
        Ok(Some(identified)) => {
            let ends = identified.caller.token().map(|token| token.expires_at);
            request.extensions_mut().insert(identified.caller.clone());
            request.extensions_mut().insert(identified);
            match ends {
                Some(ends) => bounded(&gate.shared, ends, next.run(request)).await,
                None => next.run(request).await,
            }
        }
        Err(refusal) => refusal.into_response(),
    }
}

impl Gate {
    /// Whoever may pass; none where nobody is asked.
    async fn check(&self, request: &mut Request) -> Result<Option<Identified>, Refusal> {
        let demand = match self.needs {
            Needs::Nobody => Demand::Nothing,
            Needs::Scope(scope) => Demand::Scopes(vec![scope]),
            Needs::Scopes(scopes) => Demand::Scopes(scopes.to_vec()),
            Needs::Stream => {
                let raw = request.uri().path().strip_prefix(PREFIX);
                let forks = request.headers().contains_key(FORKED_FROM);
                authorize::of_stream(request.method(), raw.unwrap_or_default(), forks)
            }
            // Nothing by itself; what it is about is looked at below.
            Needs::Run(_) => Demand::Scopes(Vec::new()),
        };
        if demand == Demand::Nothing {
            return Ok(None);
        }
        let identities = &self.shared.identities;
        let identified = identities
            .identify(request.headers(), request.extensions())
            .await?;
        authorize::check(&identified.caller, &demand)?;
        if let Needs::Run(act) = self.needs {
            let path = request
                .extract_parts::<Path<HashMap<String, String>>>()
                .await;
            let parameters = path.map(|Path(parameters)| parameters).unwrap_or_default();
            let of = |name: &str| parameters.get(name).map_or("", String::as_str);
            let about = AboutRun {
                id: of("id"),
                what: match of("name") {
                    "" => of("rpc"),
                    name => name,
                },
            };
            let engine = &self.shared.engine;
            authorize::check_run(engine, &identified.caller, act, about).await?;
        }
        Ok(Some(identified))
    }
}

/// An answer that waits or stays open does so no longer than the token that asked for it.
async fn bounded(
    shared: &Shared,
    ends: Timestamp,
    answer: impl Future<Output = Response>,
) -> Response {
    let left = |shared: &Shared| -> Duration { shared.streams.now().until(ends) };
    let Ok(response) = tokio::time::timeout(left(shared), answer).await else {
        return Refusal::Expired.into_response();
    };
    let ended = tokio::time::sleep(left(shared));
    response.map(|body| Body::from_stream(body.into_data_stream().take_until(ended)))
}
