//! Requests of a subscriber that was woken: claims, acknowledgements and releases. Each names the
//! generation of its wake.

use std::sync::Arc;

use axum::body::Bytes;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::json;

use super::deliver::describe_streams;
use super::error::SubscriptionError;
use super::keys::TokenWake;
use super::register::Subscriptions;
use super::requests::{ClaimBody, SubscriptionRequest, WakeBody, bearer, parse};
use super::state::{Kind, Wake};
use crate::json::respond;

const WORKER_BYTES_MAX: usize = 255;

impl Subscriptions {
    /// Returns the wake of the request's token, which was issued for this subscription.
    pub(super) async fn wake_of_token<'a>(
        &self,
        id: &str,
        request: &'a SubscriptionRequest,
    ) -> Result<TokenWake<'a>, SubscriptionError> {
        let token = bearer(&request.headers)?;
        let wake = self.keys().await?.wake_of(token, id);
        wake.ok_or(SubscriptionError::TokenInvalid)
    }

    /// Acknowledges offsets. Either renews the lease or ends the wake.
    pub(super) async fn ack(
        self: &Arc<Self>,
        id: &str,
        wake: TokenWake<'_>,
        body: &Bytes,
    ) -> Result<Response, SubscriptionError> {
        let body = wake_body(wake, body)?;
        let (acks, wake_id) = (body.acks()?, &body.wake_id);
        let next_wake = match body.done {
            true => self.finish(id, wake_id, body.generation, &acks).await?,
            false => {
                let paths: Vec<String> = acks.iter().map(|ack| ack.path.clone()).collect();
                let tails = self.tails_of(&paths).await?;
                let now = self.streams.now();
                let acked = self.change_with(id, &paths, |subscription| {
                    let until = subscription.lease_from(now);
                    subscription.current(wake_id, body.generation)?.lease_until = until;
                    subscription.ack(&acks, &tails)
                });
                acked.await?;
                false
            }
        };
        let body = json!({"ok": true, "next_wake": next_wake});
        Ok(respond(StatusCode::OK, &body))
    }

    pub(super) async fn claim(
        self: &Arc<Self>,
        id: &str,
        body: &Bytes,
    ) -> Result<Response, SubscriptionError> {
        let body: ClaimBody = parse(body)?;
        if body.worker.is_empty() || body.worker.len() > WORKER_BYTES_MAX {
            return Err(SubscriptionError::invalid(
                "a worker's name has 1 to 255 bytes",
            ));
        }
        if self.find(id).await?.config.kind != Kind::PullWake {
            return Err(SubscriptionError::invalid("only a pull-wake is claimed"));
        }
        // The latest appends may not have been noticed yet.
        self.wake_if_pending(id).await?;
        let now = self.streams.now();
        let claimed = self.change(id, |subscription| subscription.claim(&body.worker, now));
        let (subscription, ()) = claimed.await?;
        let Some(Wake { id: wake_id, .. }) = subscription.wake.clone() else {
            return Err(SubscriptionError::NothingPending);
        };
        let mut subscription = self.with_more_links(subscription).await?;
        let mut tails = self.tails(&subscription).await?;
        if subscription.first_pending(&tails).is_none() {
            // Another node may have noticed the growth.
            self.check_links(id).await?;
            subscription = self.shown(id).await?;
            tails = self.tails(&subscription).await?;
        }
        let keys = self.keys().await?;
        let body = json!({
            "wake_id": wake_id,
            "generation": subscription.generation,
            "token": keys.token(id, &wake_id, subscription.generation),
            "streams": describe_streams(&subscription, &tails),
            "lease_ttl_ms": subscription.config.lease_ttl_ms,
        });
        Ok(respond(StatusCode::OK, &body))
    }

    /// Releases a claim. Another worker can claim what is pending.
    pub(super) async fn release(
        self: &Arc<Self>,
        id: &str,
        wake: TokenWake<'_>,
        body: &Bytes,
    ) -> Result<Response, SubscriptionError> {
        let body = wake_body(wake, body)?;
        self.finish(id, &body.wake_id, body.generation, &[]).await?;
        Ok(StatusCode::NO_CONTENT.into_response())
    }
}

/// Parses the body, and checks that it names the wake of the token.
fn wake_body(wake: TokenWake<'_>, body: &Bytes) -> Result<WakeBody, SubscriptionError> {
    let body: WakeBody = parse(body)?;
    match body.wake_id == wake.id && body.generation == wake.generation {
        true => Ok(body),
        false => Err(SubscriptionError::TokenInvalid),
    }
}
