//! Ends responses that wait or stay open when the key or the token of their request ends: by its
//! revocation, by its expiry, or because the signing secret was replaced.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, HttpBody};
use axum::response::Response;
use everstep_engine::Engine;
use everstep_model::Timestamp;
use everstep_protocol::Secret;
use futures_util::StreamExt;
use futures_util::future::{Either, select};

use super::identify::Identities;
use crate::failure::Failure;

/// How often the key or token of an open request is checked. Together with the age of copies in
/// memory, requests end within a second.
const CHECK_EVERY: Duration = Duration::from_millis(300);

/// The key or token of a request.
#[derive(Clone)]
pub(crate) struct Validity {
    pub(super) identities: Arc<Identities>,
    pub(super) engine: Engine,
    pub(super) bearer: Secret,
    /// When a token expires.
    pub(super) expires_at: Option<Timestamp>,
}

impl Validity {
    /// Runs a handler until the key or token ends, and limits its response likewise.
    pub(crate) async fn limit(
        self,
        response: impl Future<Output = Result<Response, Failure>>,
    ) -> Result<Response, Failure> {
        let response = {
            let response = std::pin::pin!(response);
            let ended = std::pin::pin!(self.ended());
            match select(response, ended).await {
                Either::Left((response, _)) => response?,
                Either::Right((failure, _)) => return Err(failure),
            }
        };
        // A complete body takes no time.
        if response.body().size_hint().exact().is_some() {
            return Ok(response);
        }
        let ended = async move { drop(self.ended().await) };
        Ok(response.map(|body| {
            let chunks = body.into_data_stream();
            Body::from_stream(chunks.take_until(Box::pin(ended)))
        }))
    }

    fn until_next_check(&self) -> Duration {
        let until_expiry = |expires_at| self.identities.now().until(expires_at);
        let remaining = self.expires_at.map_or(CHECK_EVERY, until_expiry);
        remaining.clamp(Duration::from_millis(1), CHECK_EVERY)
    }

    /// Waits until the key or token is no longer valid, and returns the error of such a request.
    async fn ended(&self) -> Failure {
        loop {
            self.engine.runtime().sleep(self.until_next_check()).await;
            match self.identities.by_bearer(&self.bearer).await {
                Err(failure) if failure.is_unauthenticated() => return failure,
                // An unavailable store does not end requests.
                Ok(_) | Err(_) => {}
            }
        }
    }
}
