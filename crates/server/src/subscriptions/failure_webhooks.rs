//! Webhooks for failures that the operator configures: subscriptions to the feed of failures whose
//! calls contain the failures.

use std::collections::BTreeSet;
use std::sync::Arc;

use everstep_engine::streams::FEEDS;
use everstep_model::{Payload, RecordFeed};

use super::error::SubscriptionError;
use super::register::Subscriptions;
use super::state::{Config, Kind, Subscription};
use super::webhook_url::{self, WebhookTargets};

/// The ids of these subscriptions begin with this.
const PREFIX: &str = "failures:";
/// How long after a call without acknowledgement the next one begins.
const LEASE_MS: u64 = 30_000;

/// Checks the URL of a webhook for failures. `loopback` says whether it may be on this machine.
///
/// # Errors
/// The rule that the URL breaks.
pub fn check_webhook_url(url: &str, loopback: bool) -> Result<(), &'static str> {
    let targets = match loopback {
        true => WebhookTargets::PublicAndLoopback,
        false => WebhookTargets::Public,
    };
    webhook_url::check(url, targets).map(drop)
}

impl Subscriptions {
    /// Subscribes the configured webhooks, and ends the subscriptions of webhooks that are no
    /// longer configured.
    pub(super) async fn subscribe_failures(
        self: &Arc<Self>,
        urls: &[String],
        base_url: &str,
    ) -> Result<(), SubscriptionError> {
        let mut wanted = BTreeSet::new();
        for url in urls {
            let id = id_of(url)?;
            if self.documents.load(&id).await?.is_none() {
                self.subscribe(failures_to(url, &id, base_url)).await?;
            }
            wanted.insert(id);
        }
        for id in self.documents.ids().await? {
            if id.starts_with(PREFIX) && !wanted.contains(&id) {
                self.remove(&id).await?;
            }
        }
        Ok(())
    }
}

fn id_of(url: &str) -> Result<String, SubscriptionError> {
    let digest = Payload::from_value(&url).map(|payload| payload.digest());
    let digest = digest.map_err(|error| SubscriptionError::invalid(error.to_string()))?;
    Ok(format!("{PREFIX}{digest}"))
}

fn failures_to(url: &str, id: &str, base_url: &str) -> Subscription {
    Subscription {
        id: id.to_owned(),
        config: Config {
            kind: Kind::Webhook,
            pattern: None,
            streams: vec![format!("{FEEDS}{}", RecordFeed::Failures)],
            webhook: Some(url.to_owned()),
            wake_stream: None,
            lease_ttl_ms: LEASE_MS,
            description: Some("failure_webhooks".to_owned()),
            with_messages: true,
        },
        base_url: base_url.to_owned(),
        links: Default::default(),
        generation: 0,
        wake: None,
    }
}
