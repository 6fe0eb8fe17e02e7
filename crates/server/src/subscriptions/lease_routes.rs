//! What a subscriber sends once it is woken: claims, acknowledgements and releases, each under the generation of its wake.

use std::sync::Arc;

use axum::body::Bytes;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::json;

use super::deliver::shown_streams;
use super::error::{Refused, answer};
use super::register::Subscriptions;
use super::requests::{ClaimBody, WakeBody, bearer, parse};
use super::routes::Asked;
use super::state::{Kind, Wake};

const WORKER_BYTES_MAX: usize = 255;

impl Subscriptions {
    /// Checks that whoever speaks was given this wake.
    async fn check_token(&self, id: &str, asked: &Asked, body: &WakeBody) -> Result<(), Refused> {
        let token = bearer(&asked.headers)?;
        let keys = self.keys().await?;
        match keys.accepts(token, id, &body.wake_id, body.generation) {
            true => Ok(()),
            false => Err(Refused::TokenInvalid),
        }
    }

    /// An acknowledgement, which is also a sign of life; or the end of the wake.
    pub(super) async fn ack(
        self: &Arc<Self>,
        id: &str,
        asked: &Asked,
    ) -> Result<Response, Refused> {
        let body: WakeBody = parse(&asked.body)?;
        self.check_token(id, asked, &body).await?;
        let acks = body.acks()?;
        let next_wake = match body.done {
            true => {
                self.finish(id, &body.wake_id, body.generation, &acks)
                    .await?
            }
            false => {
                let tails = self.tails(&self.find(id).await?).await?;
                let now = self.streams.now();
                let acked = self.change(id, |subscription| {
                    let until = subscription.lease_from(now);
                    subscription
                        .current(&body.wake_id, body.generation)?
                        .lease_until = until;
                    subscription.ack(&acks, &tails)
                });
                acked.await?;
                false
            }
        };
        let said = json!({"ok": true, "next_wake": next_wake});
        Ok(answer(StatusCode::OK, &said))
    }

    pub(super) async fn claim(
        self: &Arc<Self>,
        id: &str,
        body: &Bytes,
    ) -> Result<Response, Refused> {
        let body: ClaimBody = parse(body)?;
        if body.worker.is_empty() || body.worker.len() > WORKER_BYTES_MAX {
            return Err(Refused::invalid("a worker's name has 1 to 255 bytes"));
        }
        if self.find(id).await?.config.kind != Kind::PullWake {
            return Err(Refused::invalid("only a pull-wake is claimed"));
        }
        // What has just grown may not have been noticed yet.
        self.consider(id).await?;
        let now = self.streams.now();
        let claimed = self.change(id, |subscription| subscription.claim(&body.worker, now));
        let (subscription, ()) = claimed.await?;
        let Some(Wake { id: wake_id, .. }) = &subscription.wake else {
            return Err(Refused::NothingPending);
        };
        let tails = self.tails(&subscription).await?;
        let keys = self.keys().await?;
        let said = json!({
            "wake_id": wake_id,
            "generation": subscription.generation,
            "token": keys.token(id, wake_id, subscription.generation),
            "streams": shown_streams(&subscription, &tails),
            "lease_ttl_ms": subscription.config.lease_ttl_ms,
        });
        Ok(answer(StatusCode::OK, &said))
    }

    /// A worker gives its claim back; what is pending goes to the next.
    pub(super) async fn release(
        self: &Arc<Self>,
        id: &str,
        asked: &Asked,
    ) -> Result<Response, Refused> {
        let body: WakeBody = parse(&asked.body)?;
        self.check_token(id, asked, &body).await?;
        self.finish(id, &body.wake_id, body.generation, &[]).await?;
        Ok(StatusCode::NO_CONTENT.into_response())
    }
}
