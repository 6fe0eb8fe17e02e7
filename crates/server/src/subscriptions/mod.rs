//! Subscriptions: the server wakes a subscriber when its streams grow, by a webhook or through a
//! wake stream.
//!
//! ```text
//!   append ──▶ link (durable, before it) ──▶ commit ──▶ change noticed ──▶ wake: a new generation, durable
//!                                                                            │
//!                    ack, done ◀── callback, claim, ack, release ◀── webhook or wake stream
//! ```
//!
//! All state is durable (`documents.rs`): one document per subscription (`state.rs`), an index of
//! their ids, and the signing key. The state in memory (`link_index.rs`) is rebuilt from them.
//! Every wake has a generation; requests with another generation are rejected.

mod attend;
mod client;
mod deliver;
mod documents;
mod error;
mod failure_webhooks;
mod glob;
mod keys;
mod lease_routes;
mod link_index;
mod linking;
mod links;
mod messages;
mod register;
mod requests;
mod routes;
mod schedule;
mod state;
mod webhook_url;

pub use failure_webhooks::check_webhook_url;
pub(crate) use register::Subscriptions;
pub(crate) use requests::SubscriptionRequest;
pub(crate) use routes::dispatch;
pub(crate) use webhook_url::WebhookTargets;

/// Returns the streams that a body names, and whether it has a webhook. `None` if it is rejected.
#[cfg(test)]
pub(crate) fn fuzzed(body: &[u8]) -> Option<(Vec<String>, bool)> {
    let config = requests::config(
        &axum::body::Bytes::copy_from_slice(body),
        WebhookTargets::Public,
    )
    .ok()?;
    Some((config.streams, config.webhook.is_some()))
}
