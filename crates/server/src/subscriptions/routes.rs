//! The requests about subscriptions themselves: create, look, delete, and the streams they name. What a woken subscriber
//! sends is `lease_routes.rs`.

use std::sync::Arc;

use axum::body::Bytes;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};

use super::deliver::shown_streams;
use super::error::{Refused, answer};
use super::register::Subscriptions;
use super::requests::{StreamsBody, check_streams, config, parse};
use super::state::{Link, LinkType, START, Subscription};

const ID_BYTES_MAX: usize = 255;

/// A request below `__ds/`.
pub(crate) struct Asked {
    pub(crate) method: Method,
    /// What follows `__ds/`, as it was written.
    pub(crate) rest: String,
    /// The address of all streams, as the client knows it.
    pub(crate) base_url: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

pub(crate) async fn dispatch(subscriptions: &Arc<Subscriptions>, asked: Asked) -> Response {
    let answered = route(subscriptions, &asked).await;
    answered.unwrap_or_else(IntoResponse::into_response)
}

async fn route(it: &Arc<Subscriptions>, asked: &Asked) -> Result<Response, Refused> {
    let segments: Vec<&str> = asked.rest.split('/').collect();
    let (id, verb) = match segments.as_slice() {
        ["jwks.json"] if asked.method == Method::GET => return it.key_set().await,
        ["subscriptions", id] => (id, None),
        ["subscriptions", id, "streams", path] if asked.method == Method::DELETE => {
            return it.unlink(&valid_id(id)?, &decoded(path)?).await;
        }
        ["subscriptions", id, verb] => (id, Some(*verb)),
        _ => return Ok(StatusCode::NOT_FOUND.into_response()),
    };
    let id = valid_id(id)?;
    match (&asked.method, verb) {
        (&Method::PUT, None) => it.create(&id, asked).await,
        (&Method::GET, None) => it.show(&id).await,
        (&Method::DELETE, None) => it.delete(&id).await,
        (&Method::POST, Some("streams")) => it.link(&id, &asked.body).await,
        (&Method::POST, Some("callback" | "ack")) => it.ack(&id, asked).await,
        (&Method::POST, Some("claim")) => it.claim(&id, &asked.body).await,
        (&Method::POST, Some("release")) => it.release(&id, asked).await,
        _ => Ok(StatusCode::METHOD_NOT_ALLOWED.into_response()),
    }
}

fn decoded(raw: &str) -> Result<String, Refused> {
    let text = percent_decode_str(raw).decode_utf8();
    let text = text.map_err(|_| Refused::invalid("the address is not UTF-8"))?;
    Ok(text.into_owned())
}

fn valid_id(raw: &str) -> Result<String, Refused> {
    let id = decoded(raw)?;
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | ':' | '-');
    let fits = (1..=ID_BYTES_MAX).contains(&id.len()) && id.chars().all(allowed);
    match fits && !matches!(id.as_str(), "." | "..") {
        true => Ok(id),
        false => Err(Refused::invalid(
            "an id has 1 to 255 of the characters A-Z a-z 0-9 . _ : -",
        )),
    }
}

impl Subscriptions {
    async fn key_set(&self) -> Result<Response, Refused> {
        let keys = self.keys().await?;
        let mut response = answer(StatusCode::OK, &keys.published());
        let headers = response.headers_mut();
        let kind = HeaderValue::from_static("application/jwk-set+json");
        headers.insert(header::CONTENT_TYPE, kind);
        let cached = HeaderValue::from_static("public, max-age=300");
        headers.insert(header::CACHE_CONTROL, cached);
        Ok(response)
    }

    async fn create(self: &Arc<Self>, id: &str, asked: &Asked) -> Result<Response, Refused> {
        let config = config(&asked.body, self.reach)?;
        loop {
            if let Some((_, known)) = self.load(id).await? {
                return match known.config == config {
                    true => self.shown(StatusCode::OK, &known).await,
                    false => Err(Refused::Exists),
                };
            }
            let mut subscription = Subscription {
                id: id.to_owned(),
                config: config.clone(),
                base_url: asked.base_url.clone(),
                links: Default::default(),
                generation: 0,
                wake: None,
            };
            for path in &config.streams {
                let link = self.explicit(path).await?;
                subscription.links.insert(path.clone(), link);
            }
            self.enlist(id).await?;
            if self.write(None, &subscription).await? {
                self.know(&subscription);
                return self.shown(StatusCode::CREATED, &subscription).await;
            }
        }
    }

    /// A stream that is named counts from its end.
    async fn explicit(&self, path: &str) -> Result<Link, Refused> {
        Ok(Link {
            link_type: LinkType::Explicit,
            acked: self.tail(path).await?.unwrap_or(START),
        })
    }

    async fn show(&self, id: &str) -> Result<Response, Refused> {
        let subscription = self.find(id).await?;
        self.shown(StatusCode::OK, &subscription).await
    }

    async fn delete(&self, id: &str) -> Result<Response, Refused> {
        match self.remove(id).await? {
            true => Ok(StatusCode::NO_CONTENT.into_response()),
            false => Err(Refused::NotFound),
        }
    }

    async fn link(&self, id: &str, body: &Bytes) -> Result<Response, Refused> {
        let body: StreamsBody = parse(body)?;
        check_streams(&body.streams)?;
        for path in &body.streams {
            let link = self.explicit(path).await?;
            let linked = self.change(id, |subscription| {
                let known = subscription.links.entry(path.clone());
                known.or_insert_with(|| link.clone()).link_type = LinkType::Explicit;
                Ok(())
            });
            linked.await?;
        }
        Ok(StatusCode::NO_CONTENT.into_response())
    }

    async fn unlink(&self, id: &str, path: &str) -> Result<Response, Refused> {
        let unlinked = self.change(id, |subscription| {
            subscription.links.remove(path);
            Ok(())
        });
        unlinked.await?;
        Ok(StatusCode::NO_CONTENT.into_response())
    }

    async fn shown(&self, status: StatusCode, it: &Subscription) -> Result<Response, Refused> {
        let tails = self.tails(it).await?;
        let webhook = match &it.config.webhook {
            Some(url) => json!({"url": url, "signing": {
                "alg": "ed25519",
                "kid": self.keys().await?.id,
                "jwks_url": format!("{}__ds/jwks.json", it.base_url),
            }}),
            None => Value::Null,
        };
        let body = json!({
            "id": it.id,
            "type": it.config.kind,
            "pattern": it.config.pattern,
            "streams": shown_streams(it, &tails),
            "webhook": webhook,
            "wake_stream": it.config.wake_stream,
            "lease_ttl_ms": it.config.lease_ttl_ms,
            "description": it.config.description,
            "generation": it.generation,
        });
        Ok(answer(status, &body))
    }
}
