//! Waking a subscriber: a new generation becomes durable, then the webhook is called or the wake is
//! appended to the wake stream.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use everstep_engine::streams::{Append, ContentType, StreamError, StreamPath};
use everstep_model::Timestamp;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use super::client;
use super::error::SubscriptionError;
use super::linking::LINKS_MAX;
use super::messages::Messages;
use super::register::Subscriptions;
use super::state::{Ack, Kind, Subscription, Tails};
use crate::auth::random_bytes;

const RETRY_FIRST_MS: u64 = 1_000;
const RETRY_MAX_MS: u64 = 60_000;

impl Subscriptions {
    /// Wakes a subscriber if a stream has grown and no wake is in progress. Returns whether it did.
    pub(super) async fn wake_if_pending(
        self: &Arc<Self>,
        id: &str,
    ) -> Result<bool, SubscriptionError> {
        if self.find(id).await?.wake.is_some() {
            return Ok(false);
        }
        loop {
            // Read before the ends of the streams, so that later growth is noticed.
            let grown = self.index.grown(id, LINKS_MAX);
            let (subscription, ()) = self.change(id, |_| Ok(())).await?;
            let tails = self.tails(&subscription).await?;
            if subscription.first_pending(&tails).is_some() {
                return self.wake(id, subscription.generation).await;
            }
            for (path, notice) in &grown {
                self.index.settled(id, path, *notice);
            }
            if grown.len() < LINKS_MAX {
                return Ok(false);
            }
        }
    }

    /// Wakes a subscriber, unless another wake has begun since this generation.
    pub(super) async fn wake(
        self: &Arc<Self>,
        id: &str,
        generation: u64,
    ) -> Result<bool, SubscriptionError> {
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

    /// Delivers the durable wake to the subscriber.
    pub(super) async fn deliver(
        self: &Arc<Self>,
        subscription: &Subscription,
    ) -> Result<(), SubscriptionError> {
        match subscription.config.kind {
            Kind::Webhook => {
                tokio::spawn(self.clone().call_task(subscription.clone()));
                Ok(())
            }
            Kind::PullWake => Ok(self.announce(subscription).await?),
        }
    }

    /// Calls a webhook. Boxed because a wake can recursively cause the next.
    fn call_task(self: Arc<Self>, subscription: Subscription) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            if let Err(error) = self.call(&subscription).await {
                let id = subscription.id;
                tracing::debug!(%error, id, "webhook response arrived too late");
            }
        })
    }

    async fn announce(&self, subscription: &Subscription) -> Result<(), StreamError> {
        let Some(stream) = &subscription.config.wake_stream else {
            return Ok(());
        };
        let tails = self.tails(subscription).await?;
        let event = json!({
            "type": "wake",
            "subscription_id": subscription.id,
            "stream": subscription.first_pending(&tails),
            "generation": subscription.generation,
            "ts": self.streams.now().as_millis(),
        });
        let path = StreamPath::new(stream)?;
        let _growing = self.before_growth(&path, false).await?;
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
            Err(error @ StreamError::Unavailable(_)) => Err(error),
            // Workers can still claim the wake, but are not notified.
            Err(error) => {
                tracing::warn!(%error, stream, "cannot append to wake stream");
                Ok(())
            }
        }
    }

    /// Calls the webhook. A response with `done` ends the wake.
    async fn call(self: &Arc<Self>, subscription: &Subscription) -> Result<(), SubscriptionError> {
        let (Some(url), Some(wake)) = (&subscription.config.webhook, &subscription.wake) else {
            return Ok(());
        };
        let (id, generation) = (subscription.id.as_str(), subscription.generation);
        let keys = self.keys().await?;
        let subscription = &self.with_more_links(subscription.clone()).await?;
        let tails = self.tails(subscription).await?;
        let mut streams = describe_streams(subscription, &tails);
        let with_messages = subscription.config.with_messages;
        let messages = match with_messages {
            true => self.messages(subscription, &tails).await?,
            false => Messages::default(),
        };
        messages.add_to(&mut streams);
        let body = json!({
            "subscription_id": id,
            "wake_id": wake.id,
            "generation": generation,
            "streams": streams,
            "callback_url": format!("{}__ds/subscriptions/{id}/callback", subscription.base_url),
            "callback_token": keys.token(id, &wake.id, generation),
        })
        .to_string();
        let signature = keys.signature(self.streams.now().as_millis() / 1_000, &body);
        let answered = client::post((url, self.targets), &signature, body).await;
        let answer = match answered {
            Ok(answer) if answer.status.is_success() => answer,
            Ok(answer) => return self.failed(id, generation, answer.status.to_string()).await,
            Err(error) => return self.failed(id, generation, error).await,
        };
        if with_messages {
            self.finish(id, &wake.id, generation, &messages.acks())
                .await?;
            return Ok(());
        }
        let answer: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
        if answer.get("done") == Some(&Value::Bool(true)) {
            let acks = tails.into_iter().map(|(path, offset)| Ack { path, offset });
            let acks: Vec<Ack> = acks.collect();
            self.finish(id, &wake.id, generation, &acks).await?;
            return Ok(());
        }
        let now = self.streams.now();
        let retry = None::<fn(u32) -> Timestamp>;
        let ended = self.change(id, |it| {
            it.end_call(generation, now, retry);
            Ok(())
        });
        ended.await.map(drop)
    }

    async fn failed(
        &self,
        id: &str,
        generation: u64,
        why: String,
    ) -> Result<(), SubscriptionError> {
        tracing::warn!(id, why, "webhook call failed, retrying");
        let (now, random) = (self.streams.now(), self.streams.random());
        let retry = |failures| retry_at(now, failures, random);
        let ended = self.change(id, |it| {
            it.end_call(generation, now, Some(retry));
            Ok(())
        });
        ended.await.map(drop)
    }

    /// Acknowledges offsets and ends a wake. Returns whether the subscriber is woken again.
    pub(super) async fn finish(
        self: &Arc<Self>,
        id: &str,
        wake_id: &str,
        generation: u64,
        acks: &[Ack],
    ) -> Result<bool, SubscriptionError> {
        let paths: Vec<String> = acks.iter().map(|ack| ack.path.clone()).collect();
        let tails = self.tails_of(&paths).await?;
        let finished = self.change_with(id, &paths, |subscription| {
            subscription.current(wake_id, generation)?;
            subscription.ack(acks, &tails)?;
            subscription.wake = None;
            Ok(())
        });
        finished.await?;
        self.wake_if_pending(id).await
    }
}

/// Describes the streams of a subscription in responses.
pub(super) fn describe_streams(subscription: &Subscription, tails: &Tails) -> Vec<Value> {
    let streams = subscription.links.iter().map(|(path, link)| {
        let tail = tails.get(path);
        json!({
            "path": path,
            "link_type": link.link_type,
            "acked_offset": link.acked.to_string(),
            "tail_offset": tail.unwrap_or(&link.acked).to_string(),
            "has_pending": link.is_pending(tail),
        })
    });
    streams.collect()
}

/// Returns when a webhook is called again after a number of failures: exponential backoff with
/// jitter.
fn retry_at(now: Timestamp, failures: u32, random: u64) -> Timestamp {
    let delay = RETRY_FIRST_MS.saturating_mul(1 << failures.min(10));
    let delay = delay.min(RETRY_MAX_MS);
    let spread = delay * 2 / 5;
    let delay = delay - spread / 2 + random % spread.max(1);
    now.after(Duration::from_millis(delay))
}

fn new_id() -> Result<String, SubscriptionError> {
    let bytes = random_bytes::<16>()?;
    Ok(format!("wake_{}", URL_SAFE_NO_PAD.encode(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retries_back_off_from_a_second_to_a_minute_with_jitter() {
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
