//! Requests that create, show, change and delete subscriptions. Requests of a subscriber that was
//! woken are in `lease_routes.rs`.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::http::{Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};

use super::deliver::describe_streams;
use super::error::SubscriptionError;
use super::keys::TokenWake;
use super::register::Subscriptions;
use super::requests::{StreamsBody, SubscriptionRequest, check_streams, config, parse};
use super::state::{Link, LinkType, START, Subscription};
use crate::auth::Limits;
use crate::body::BodyLimits;
use crate::failure::Failure;
use crate::json::respond;

const ID_BYTES_MAX: usize = 255;

/// The maximum size of the body of a woken subscriber's request in bytes.
const WAKE_BODY_BYTES_MAX: usize = 64 * 1024;

/// Handles a request. The gate lets woken subscribers pass, so their token is checked before their
/// body is read.
pub(crate) async fn dispatch(
    subscriptions: &Arc<Subscriptions>,
    request: SubscriptionRequest,
    body: Body,
    limits: BodyLimits,
) -> Result<Response, Failure> {
    let wake = match wake(subscriptions, &request).await {
        Ok(wake) => wake,
        Err(error) => return Ok(error.into_response()),
    };
    let limits = match wake {
        Some(_) => limits.at_most(WAKE_BODY_BYTES_MAX),
        None => limits,
    };
    let body = match request.method {
        Method::PUT | Method::POST => limits.read(body).await?,
        _ => Bytes::new(),
    };
    let response = route(subscriptions, &request, wake, &body).await;
    Ok(response.unwrap_or_else(IntoResponse::into_response))
}

/// Returns the wake of a woken subscriber's token, or `None` for other requests.
async fn wake<'a>(
    subscriptions: &Subscriptions,
    request: &'a SubscriptionRequest,
) -> Result<Option<TokenWake<'a>>, SubscriptionError> {
    let Some(id) = request.woken() else {
        return Ok(None);
    };
    let id = valid_id(id)?;
    subscriptions.wake_of_token(&id, request).await.map(Some)
}

async fn route(
    subscriptions: &Arc<Subscriptions>,
    request: &SubscriptionRequest,
    wake: Option<TokenWake<'_>>,
    body: &Bytes,
) -> Result<Response, SubscriptionError> {
    let segments: Vec<&str> = request.rest.split('/').collect();
    let (id, verb) = match segments.as_slice() {
        ["jwks.json"] if request.method == Method::GET => return subscriptions.key_set().await,
        ["subscriptions", id] => (id, None),
        ["subscriptions", id, "streams", path] if request.method == Method::DELETE => {
            let id = valid_id(id)?;
            subscriptions.check_reach(&id, &request.limits).await?;
            return subscriptions.unlink(&id, &decoded(path)?).await;
        }
        ["subscriptions", id, verb] => (id, Some(*verb)),
        _ => return Ok(Failure::unknown_route().into_response()),
    };
    let id = valid_id(id)?;
    // The token of a wake is only issued to a subscriber that reaches the streams.
    if wake.is_none() {
        subscriptions.check_reach(&id, &request.limits).await?;
    }
    match (&request.method, verb, wake) {
        (&Method::PUT, None, _) => subscriptions.create(&id, request, body).await,
        (&Method::GET, None, _) => subscriptions.show(&id).await,
        (&Method::DELETE, None, _) => subscriptions.delete(&id).await,
        (&Method::POST, Some("streams"), _) => subscriptions.link(&id, request, body).await,
        (&Method::POST, Some("claim"), _) => subscriptions.claim(&id, body).await,
        (_, Some("callback" | "ack"), Some(wake)) => subscriptions.ack(&id, wake, body).await,
        (_, Some("release"), Some(wake)) => subscriptions.release(&id, wake, body).await,
        _ => Ok(Failure::unknown_method().into_response()),
    }
}

fn decoded(raw: &str) -> Result<String, SubscriptionError> {
    let text = percent_decode_str(raw).decode_utf8();
    let text = text.map_err(|_| SubscriptionError::invalid("the address is not UTF-8"))?;
    Ok(text.into_owned())
}

fn valid_id(raw: &str) -> Result<String, SubscriptionError> {
    let id = decoded(raw)?;
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | ':' | '-');
    let fits = (1..=ID_BYTES_MAX).contains(&id.len()) && id.chars().all(allowed);
    match fits && !matches!(id.as_str(), "." | "..") {
        true => Ok(id),
        false => Err(SubscriptionError::invalid(
            "an id has 1 to 255 of the characters A-Z a-z 0-9 . _ : -",
        )),
    }
}

impl Subscriptions {
    /// Checks that a caller with limits reaches all streams of a subscription, if it exists.
    async fn check_reach(&self, id: &str, limits: &Limits) -> Result<(), SubscriptionError> {
        if limits.is_empty() {
            return Ok(());
        }
        match self.documents.load(id).await? {
            Some((_, known)) if !known.is_reached(limits) => Err(SubscriptionError::Unreached),
            Some(_) | None => Ok(()),
        }
    }

    async fn key_set(&self) -> Result<Response, SubscriptionError> {
        let keys = self.keys().await?;
        let headers = [
            (header::CONTENT_TYPE, "application/jwk-set+json"),
            (header::CACHE_CONTROL, "public, max-age=300"),
        ];
        Ok((headers, keys.published().to_string()).into_response())
    }

    async fn create(
        self: &Arc<Self>,
        id: &str,
        request: &SubscriptionRequest,
        body: &Bytes,
    ) -> Result<Response, SubscriptionError> {
        let config = config(body, self.targets)?;
        if !config.is_reached(&request.limits) {
            return Err(SubscriptionError::Unreached);
        }
        loop {
            if let Some((_, known)) = self.documents.load(id).await? {
                return match known.config == config {
                    true => self.show(id).await,
                    false => Err(SubscriptionError::Exists),
                };
            }
            let subscription = Subscription {
                id: id.to_owned(),
                config: config.clone(),
                base_url: request.base_url.clone(),
                links: Default::default(),
                generation: 0,
                wake: None,
            };
            if let Some(created) = self.subscribe(subscription).await? {
                return self.describe(StatusCode::CREATED, &created).await;
            }
        }
    }

    /// Creates a subscription with links to the streams that it names. Returns `None` if another
    /// exists.
    pub(super) async fn subscribe(
        &self,
        mut subscription: Subscription,
    ) -> Result<Option<Subscription>, SubscriptionError> {
        for path in subscription.config.streams.clone() {
            let link = self.explicit(&path).await?;
            subscription.links.insert(path, link);
        }
        self.documents.add_id(&subscription.id).await?;
        let is_written = self
            .documents
            .write(None, &subscription, Default::default())
            .await?;
        if is_written {
            self.remember(&subscription);
        }
        Ok(is_written.then_some(subscription))
    }

    /// Returns a link to a named stream. It begins at the current end of the stream.
    async fn explicit(&self, path: &str) -> Result<Link, SubscriptionError> {
        Ok(Link {
            link_type: LinkType::Explicit,
            acked: self.tail(path).await?.unwrap_or(START),
        })
    }

    async fn show(&self, id: &str) -> Result<Response, SubscriptionError> {
        let subscription = self.shown(id).await?;
        self.describe(StatusCode::OK, &subscription).await
    }

    async fn delete(&self, id: &str) -> Result<Response, SubscriptionError> {
        match self.remove(id).await? {
            true => Ok(StatusCode::NO_CONTENT.into_response()),
            false => Err(SubscriptionError::NotFound),
        }
    }

    async fn link(
        &self,
        id: &str,
        request: &SubscriptionRequest,
        body: &Bytes,
    ) -> Result<Response, SubscriptionError> {
        let body: StreamsBody = parse(body)?;
        check_streams(&body.streams)?;
        let mut streams = body.streams.iter();
        if !streams.all(|path| request.limits.reaches_stream(path)) {
            return Err(SubscriptionError::Unreached);
        }
        for path in &body.streams {
            let link = self.explicit(path).await?;
            let paths = std::slice::from_ref(path);
            let linked = self.change_with(id, paths, |subscription| {
                let known = subscription.links.entry(path.clone());
                known.or_insert_with(|| link.clone()).link_type = LinkType::Explicit;
                Ok(())
            });
            linked.await?;
        }
        Ok(StatusCode::NO_CONTENT.into_response())
    }

    async fn unlink(&self, id: &str, path: &str) -> Result<Response, SubscriptionError> {
        let paths = [path.to_owned()];
        let unlinked = self.change_with(id, &paths, |subscription| {
            subscription.links.remove(path);
            Ok(())
        });
        unlinked.await?;
        self.index.unlink(id, path);
        Ok(StatusCode::NO_CONTENT.into_response())
    }

    async fn describe(
        &self,
        status: StatusCode,
        subscription: &Subscription,
    ) -> Result<Response, SubscriptionError> {
        let tails = self.tails(subscription).await?;
        let webhook = match &subscription.config.webhook {
            Some(url) => json!({"url": url, "signing": {
                "alg": "ed25519",
                "kid": self.keys().await?.id,
                "jwks_url": format!("{}__ds/jwks.json", subscription.base_url),
            }}),
            None => Value::Null,
        };
        let body = json!({
            "id": subscription.id,
            "type": subscription.config.kind,
            "pattern": subscription.config.pattern,
            "streams": describe_streams(subscription, &tails),
            "webhook": webhook,
            "wake_stream": subscription.config.wake_stream,
            "lease_ttl_ms": subscription.config.lease_ttl_ms,
            "description": subscription.config.description,
            "with_messages": subscription.config.with_messages,
            "generation": subscription.generation,
        });
        Ok(respond(status, &body))
    }
}
