//! Requests about subscriptions, and the validation of their bodies.

use axum::body::Bytes;
use axum::http::{HeaderMap, Method, header};
use everstep_engine::streams::StreamPath;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::error::SubscriptionError;
use super::register::feed_of;
use super::state::{Ack, Config, Kind};
use super::webhook_url::{self, WebhookTargets};
use crate::auth::Limits;

const LEASE_MS_MIN: u64 = 1_000;
const LEASE_MS_MAX: u64 = 600_000;
const LEASE_MS_DEFAULT: u64 = 30_000;
/// The most streams that a subscription may name.
const STREAMS_MAX: usize = 1_000;
const TEXT_BYTES_MAX: usize = 1_000;

/// A request below `__ds/`.
pub(crate) struct SubscriptionRequest {
    pub(crate) method: Method,
    /// The undecoded path behind `__ds/`.
    pub(crate) rest: String,
    /// The URL of all streams, as the client addresses them.
    pub(crate) base_url: String,
    pub(crate) headers: HeaderMap,
    /// The limits of the caller.
    pub(crate) limits: Limits,
}

impl SubscriptionRequest {
    /// Returns the undecoded id of the subscription, if the request is one of a woken subscriber.
    pub(super) fn woken(&self) -> Option<&str> {
        let rest = self.rest.strip_prefix("subscriptions/")?;
        let (id, verb) = rest.split_once('/')?;
        let is_woken = matches!(verb, "callback" | "ack" | "release");
        (is_woken && self.method == Method::POST).then_some(id)
    }
}

#[derive(Deserialize)]
struct ConfigBody {
    #[serde(rename = "type")]
    kind: Kind,
    pattern: Option<String>,
    #[serde(default)]
    streams: Vec<String>,
    webhook: Option<WebhookBody>,
    wake_stream: Option<String>,
    lease_ttl_ms: Option<u64>,
    description: Option<String>,
    #[serde(default)]
    with_messages: bool,
}

#[derive(Deserialize)]
struct WebhookBody {
    url: String,
}

#[derive(Deserialize)]
pub(super) struct StreamsBody {
    pub(super) streams: Vec<String>,
}

#[derive(Deserialize)]
pub(super) struct ClaimBody {
    pub(super) worker: String,
}

/// A request of a subscriber about its wake.
#[derive(Deserialize)]
pub(super) struct WakeBody {
    pub(super) wake_id: String,
    pub(super) generation: u64,
    #[serde(default)]
    acks: Vec<AckBody>,
    #[serde(default)]
    pub(super) done: bool,
}

#[derive(Deserialize)]
struct AckBody {
    stream: String,
    offset: String,
}

impl WakeBody {
    pub(super) fn acks(&self) -> Result<Vec<Ack>, SubscriptionError> {
        let acks = self.acks.iter().map(|ack| {
            let path = ack.stream.clone();
            match ack.offset.parse() {
                Ok(offset) => Ok(Ack { path, offset }),
                Err(_) => Err(SubscriptionError::InvalidOffset(path)),
            }
        });
        acks.collect()
    }
}

pub(super) fn parse<T: DeserializeOwned>(body: &Bytes) -> Result<T, SubscriptionError> {
    let parsed = serde_json::from_slice(body);
    parsed.map_err(|error| SubscriptionError::invalid(format!("the body is invalid: {error}")))
}

/// Returns the bearer token of a request.
pub(super) fn bearer(headers: &HeaderMap) -> Result<&str, SubscriptionError> {
    let value = headers.get(header::AUTHORIZATION);
    let value = value.and_then(|value| value.to_str().ok());
    let token = value.and_then(|value| value.strip_prefix("Bearer "));
    token.ok_or(SubscriptionError::TokenInvalid)
}

/// Parses and validates the configuration of a subscription.
pub(super) fn config(body: &Bytes, targets: WebhookTargets) -> Result<Config, SubscriptionError> {
    let body: ConfigBody = parse(body)?;
    let invalid = |detail: &str| Err(SubscriptionError::invalid(detail));
    let lease_ttl_ms = body.lease_ttl_ms.unwrap_or(LEASE_MS_DEFAULT);
    if !(LEASE_MS_MIN..=LEASE_MS_MAX).contains(&lease_ttl_ms) {
        return invalid("lease_ttl_ms is 1,000 to 600,000");
    }
    if body.pattern.is_none() && body.streams.is_empty() {
        return invalid("a subscription needs a pattern or streams");
    }
    let is_long =
        |text: &&Option<String>| text.as_ref().is_some_and(|it| it.len() > TEXT_BYTES_MAX);
    if [&body.pattern, &body.description].iter().any(is_long) {
        return invalid("a text is longer than 1,000 bytes");
    }
    check_streams(&body.streams)?;
    check_pattern(body.pattern.as_deref())?;
    if body.with_messages && !body.streams.iter().any(|path| feed_of(path).is_some()) {
        return invalid("with_messages needs a feed in streams");
    }
    let webhook = body.webhook.map(|webhook| webhook.url);
    match (body.kind, &webhook, &body.wake_stream) {
        (Kind::Webhook, Some(url), None) => {
            webhook_url::check(url, targets).map_err(SubscriptionError::UrlRejected)?;
        }
        (Kind::PullWake, None, Some(_)) if body.with_messages => {
            return invalid("with_messages needs a webhook");
        }
        (Kind::PullWake, None, Some(stream)) => check_path(stream)?,
        (Kind::Webhook, ..) => return invalid("a webhook needs webhook.url and nothing else"),
        (Kind::PullWake, ..) => return invalid("a pull-wake needs wake_stream and nothing else"),
    }
    Ok(Config {
        kind: body.kind,
        pattern: body.pattern,
        streams: body.streams,
        webhook,
        wake_stream: body.wake_stream,
        lease_ttl_ms,
        description: body.description,
        with_messages: body.with_messages,
    })
}

/// Rejects a pattern that only journals and feeds match, because patterns select streams of users.
fn check_pattern(pattern: Option<&str>) -> Result<(), SubscriptionError> {
    let first = pattern.and_then(|pattern| pattern.split('/').next());
    match first {
        Some("workflows" | "__ds") => Err(SubscriptionError::invalid(
            "a pattern selects streams of users; for runs, name a feed in streams: \
             __ds/feeds/records, __ds/feeds/failures or __ds/feeds/emits",
        )),
        Some(_) | None => Ok(()),
    }
}

pub(super) fn check_streams(streams: &[String]) -> Result<(), SubscriptionError> {
    if streams.len() > STREAMS_MAX {
        return Err(SubscriptionError::invalid(
            "a subscription names at most 1,000 streams",
        ));
    }
    let users = streams.iter().filter(|path| feed_of(path).is_none());
    users.map(String::as_str).try_for_each(check_path)
}

fn check_path(path: &str) -> Result<(), SubscriptionError> {
    let checked = StreamPath::new(path).map(drop);
    checked.map_err(|error| SubscriptionError::invalid(error.to_string()))
}
