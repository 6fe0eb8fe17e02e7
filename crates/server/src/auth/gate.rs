//! The gate in front of each handler: identifies and authorizes the caller.

use std::collections::HashMap;
use std::sync::Arc;

use axum::RequestExt;
use axum::extract::{Path, Request};
use everstep_engine::Engine;

use super::authorize::{self, Demand, RunTarget};
use super::caller::Caller;
use super::identify::{Identities, bearer};
use super::requirement::Requirement;
use super::validity::Validity;
use crate::connections::OpenConnection;
use crate::failure::Failure;
use crate::stream_protocol::PREFIX;

/// The gate of one route.
#[derive(Clone)]
pub(crate) struct Gate {
    pub(crate) identities: Arc<Identities>,
    pub(crate) engine: Engine,
    pub(crate) requires: Requirement,
}

impl Gate {
    /// Checks that the caller may call the handler, and puts the [`Caller`] into the extensions of
    /// the request. Public routes have none. Returns the key or token whose end ends the request.
    pub(crate) async fn admit(&self, request: &mut Request) -> Result<Option<Validity>, Failure> {
        let Some(caller) = self.check(request).await? else {
            return Ok(None);
        };
        let connection = request.extensions().get::<Arc<OpenConnection>>();
        if let Some(connection) = connection.filter(|connection| !connection.is_identified()) {
            connection.identify(&caller.identity().unwrap_or_default());
        }
        let validity = self.validity(request, &caller);
        request.extensions_mut().insert(caller);
        Ok(validity)
    }

    /// Returns the caller, or `None` for a public route.
    async fn check(&self, request: &mut Request) -> Result<Option<Caller>, Failure> {
        let demand = match self.requires {
            Requirement::Public => Demand::Nothing,
            Requirement::Scopes(scopes) => Demand::Scopes(scopes),
            Requirement::Unlimited(scopes) => Demand::Unlimited(scopes),
            Requirement::Stream => {
                let raw = request.uri().path().strip_prefix(PREFIX);
                let (method, headers) = (request.method(), request.headers());
                authorize::of_stream(method, raw.unwrap_or_default(), headers)
            }
            // Checked against the run below.
            Requirement::Run(_) => Demand::Scopes(&[]),
        };
        if demand == Demand::Nothing {
            return Ok(None);
        }
        let (headers, extensions) = (request.headers(), request.extensions());
        let caller = self.identities.identify(headers, extensions).await?;
        authorize::check_token(&self.engine, &caller).await?;
        authorize::check(&self.engine, &caller, &demand).await?;
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

    /// Returns the key or token whose end ends the request. An application's own caller has none.
    fn validity(&self, request: &Request, caller: &Caller) -> Option<Validity> {
        let has_credentials = caller.key().is_some() || caller.has_token();
        let bearer = bearer(request.headers()).filter(|_| has_credentials)?;
        Some(Validity {
            identities: self.identities.clone(),
            engine: self.engine.clone(),
            bearer,
            expires_at: caller.expires_at(),
        })
    }
}
