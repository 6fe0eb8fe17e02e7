//! Waking: a new generation is written down, then the webhook is called or the wake stream grows.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use everstep_engine::streams::{Append, ContentType, StreamError, StreamPath};
use everstep_model::Timestamp;
use ring::rand::SecureRandom;
use serde_json::{Value, json};

use super::client;
use super::error::Refused;
use super::register::Subscriptions;
use super::state::{Ack, Kind, Subscription, Tails};

const RETRY_FIRST_MS: u64 = 1_000;
const RETRY_MAX_MS: u64 = 60_000;

impl Subscriptions {
    /// Wakes a subscriber if a stream has grown and nobody is woken yet; says whether it did.
    pub(super) async fn consider(self: &Arc<Self>, id: &str) -> Result<bool, Refused> {
        let subscription = self.find(id).await?;
        if subscription.wake.is_some() {
            return Ok(false);
        }
        let tails = self.tails(&subscription).await?;
        if !subscription.is_pending(&tails) {
            return Ok(false);
        }
        self.wake(id, subscription.generation).await
    }

    /// Wakes a subscriber anew, unless somebody has done so since this generation.
    pub(super) async fn wake(self: &Arc<Self>, id: &str, generation: u64) -> Result<bool, Refused> {
        let (wake_id, now) = (new_id()?, self.streams.now());
        let begun = self.change(id, |subscription| {
            let is_first = subscription.generation == generation;
            if is_first {
                subscription.begin_wake(wake_id.clone(), now);
            }
            Ok(is_first)
        });
        let (subscription, is_first) = begun.await?;
        if is_first {
            self.deliver(&subscription).await?;
        }
        Ok(is_first)
    }

    /// Tells the subscriber of the wake that is written down.
    pub(super) async fn deliver(
        self: &Arc<Self>,
        subscription: &Subscription,
    ) -> Result<(), Refused> {
        match subscription.config.kind {
            Kind::Webhook => {
                tokio::spawn(self.clone().calling(subscription.clone()));
                Ok(())
            }
            Kind::PullWake => Ok(self.announce(subscription).await?),
        }
    }

    /// The task that calls a webhook. Its type is spelled out because one wake may lead to the next.
    fn calling(
        self: Arc<Self>,
        subscription: Subscription,
    ) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(async move {
            if let Err(refused) = self.call(&subscription).await {
                let id = subscription.id;
                tracing::debug!(?refused, id, "a webhook's answer is late");
            }
        })
    }

    async fn announce(&self, subscription: &Subscription) -> Result<(), StreamError> {
        let Some(stream) = &subscription.config.wake_stream else {
            return Ok(());
        };
        let tails = self.tails(subscription).await?;
        let pending = subscription
            .links
            .iter()
            .find(|(path, link)| tails.get(*path).is_some_and(|tail| *tail > link.acked));
        let event = json!({
            "type": "wake",
            "subscription_id": subscription.id,
            "stream": pending.map(|(path, _)| path),
            "generation": subscription.generation,
            "ts": self.streams.now().as_millis(),
        });
        let path = StreamPath::new(stream)?;
        self.before_growth(&path, false).await?;
        let append = Append {
            path,
            content_type: Some(ContentType::new("application/json")),
            body: event.to_string().into(),
            close: false,
            producer: None,
            seq: None,
        };
        match self.streams.append(append).await {
            Ok(_) => Ok(()),
            // Workers can still claim; there is just nobody who tells them.
            Err(error @ StreamError::Engine(_)) => Err(error),
            Err(error) => {
                tracing::warn!(%error, stream, "a wake could not be announced");
                Ok(())
            }
        }
    }

    /// Calls the webhook and does what its answer says.
    async fn call(self: &Arc<Self>, subscription: &Subscription) -> Result<(), Refused> {
        let (Some(url), Some(wake)) = (&subscription.config.webhook, &subscription.wake) else {
            return Ok(());
        };
        let (id, generation) = (subscription.id.as_str(), subscription.generation);
        let keys = self.keys().await?;
        let tails = self.tails(subscription).await?;
        let body = json!({
            "subscription_id": id,
            "wake_id": wake.id,
            "generation": generation,
            "streams": shown_streams(subscription, &tails),
            "callback_url": format!("{}__ds/subscriptions/{id}/callback", subscription.base_url),
            "callback_token": keys.token(id, &wake.id, generation),
        })
        .to_string();
        let signature = keys.signature(self.streams.now().as_millis() / 1_000, &body);
        let answered = client::post((url, self.reach), &signature, body).await;
        let answer = match answered {
            Ok(answer) if answer.status.is_success() => answer,
            Ok(answer) => return self.failed(id, generation, answer.status.to_string()).await,
            Err(error) => return self.failed(id, generation, error).await,
        };
        let answer: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
        if answer.get("done") == Some(&Value::Bool(true)) {
            let acks = tails.into_iter().map(|(path, offset)| Ack { path, offset });
            let acks: Vec<Ack> = acks.collect();
            self.finish(id, &wake.id, generation, &acks).await?;
        }
        Ok(())
    }

    async fn failed(&self, id: &str, generation: u64, why: String) -> Result<(), Refused> {
        tracing::warn!(id, why, "a webhook could not be called; it is called again");
        let (now, random) = (self.streams.now(), self.streams.random());
        let noted = self.change(id, |subscription| {
            let lease_until = subscription.lease_from(now);
            let wake = subscription.wake.as_mut();
            if let (Some(wake), true) = (wake, subscription.generation == generation) {
                wake.retry_at = Some(retry_at(now, wake.failures, random));
                wake.failures += 1;
                wake.lease_until = lease_until;
            }
            Ok(())
        });
        noted.await.map(drop)
    }

    /// The subscriber is done with a wake and has seen this; says whether it is woken again.
    pub(super) async fn finish(
        self: &Arc<Self>,
        id: &str,
        wake_id: &str,
        generation: u64,
        acks: &[Ack],
    ) -> Result<bool, Refused> {
        let tails = self.tails(&self.find(id).await?).await?;
        let finished = self.change(id, |subscription| {
            subscription.current(wake_id, generation)?;
            subscription.ack(acks, &tails)?;
            subscription.wake = None;
            Ok(())
        });
        finished.await?;
        self.consider(id).await
    }
}

/// Streams of a subscription as clients see them.
pub(super) fn shown_streams(subscription: &Subscription, tails: &Tails) -> Vec<Value> {
    let shown = subscription.links.iter().map(|(path, link)| {
        let tail = tails.get(path);
        json!({
            "path": path,
            "link_type": link.link_type,
            "acked_offset": link.acked.to_string(),
            "tail_offset": tail.unwrap_or(&link.acked).to_string(),
            "has_pending": tail.is_some_and(|tail| *tail > link.acked),
        })
    });
    shown.collect()
}

/// When a webhook that failed so often is called again: later each time, and not all at once.
fn retry_at(now: Timestamp, failures: u32, random: u64) -> Timestamp {
    let delay = RETRY_FIRST_MS.saturating_mul(1 << failures.min(10));
    let delay = delay.min(RETRY_MAX_MS);
    let spread = delay * 2 / 5;
    let delay = delay - spread / 2 + random % spread.max(1);
    now.after(Duration::from_millis(delay))
}

fn new_id() -> Result<String, Refused> {
    let mut bytes = [0; 16];
    let random = ring::rand::SystemRandom::new();
    let filled = random.fill(&mut bytes);
    filled.map_err(|_| Refused::invalid("the machine has no random numbers"))?;
    Ok(format!("wake_{}", URL_SAFE_NO_PAD.encode(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retries_wait_from_a_second_to_a_minute_and_spread() {
        for (failures, about) in [
            (0, 1_000),
            (1, 2_000),
            (5, 32_000),
            (6, 60_000),
            (99, 60_000),
        ] {
            for random in [0, 17, u64::MAX] {
                let at = retry_at(Timestamp::default(), failures, random).as_millis();
                let (least, most) = (about * 8 / 10, about * 12 / 10);
                assert!((least..=most).contains(&at), "{failures}: {at}");
            }
        }
    }
}
