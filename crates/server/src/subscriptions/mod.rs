//! Subscriptions: whoever subscribes to streams is woken when they grow, by a webhook or through a stream of wakes.
//!
//! ```text
//!   append ──▶ link (durable, before it) ──▶ commit ──▶ told of the change ──▶ wake: a new generation, durable
//!                                                                               │
//!                      ack, done ◀── callback, claim, ack, release ◀── webhook or wake stream
//! ```
//!
//! All state is durable: one document per subscription (`state.rs`), an index of their ids, and the signing key. What is in
//! memory can be built again from them (`register.rs`). A wake has a generation; whoever answers under another is refused.

mod attend;
mod client;
mod deliver;
mod error;
mod glob;
mod keys;
mod lease_routes;
mod register;
mod requests;
mod routes;
mod schedule;
mod state;
mod webhook_url;

pub(crate) use register::Subscriptions;
pub(crate) use routes::{Asked, dispatch};
pub(crate) use webhook_url::Reach;

/// The streams that a body names, and whether it is about a webhook; none if it is refused.
#[cfg(test)]
pub(crate) fn fuzzed(body: &[u8]) -> Option<(Vec<String>, bool)> {
    let config = requests::config(&axum::body::Bytes::copy_from_slice(body), Reach::Public).ok()?;
    Some((config.streams, config.webhook.is_some()))
}
