//! Requests about streams, what their handlers share, and the addresses of streams as clients write
//! them.

use std::borrow::Cow;
use std::sync::Arc;

use axum::body::Body;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Uri, header};
use everstep_engine::streams::{Reader, StreamError, StreamPath, Streams};
use percent_encoding::percent_decode_str;

use super::query::Query;
use crate::auth::Caller;
use crate::body::BodyLimits;
use crate::body_budget::BodyBudget;
use crate::connections::Closing;
use crate::connections::Secured;
use crate::failure::Failure;
use crate::options::Options;
use crate::permits::WaitPermits;
use crate::read_turns::ReadTurns;
use crate::stream_protocol::PREFIX;
use crate::subscriptions::Subscriptions;

pub(crate) struct StreamServer {
    pub(crate) streams: Streams,
    pub(crate) subscriptions: Arc<Subscriptions>,
    pub(crate) wait_permits: WaitPermits,
    pub(crate) body_limits: BodyLimits,
    pub(crate) response_budget: Arc<BodyBudget>,
    pub(crate) read_turns: Arc<ReadTurns>,
    pub(crate) options: Arc<Options>,
}

/// A read in progress, of a user's stream or of a journal.
pub(crate) struct Reading {
    pub(crate) reader: Reader,
    pub(crate) query: Query,
    /// What identifies the view of a journal. `None` for a user's stream.
    pub(crate) view: Option<String>,
}

/// A request about a user's stream or a journal.
pub(crate) struct StreamRequest {
    pub(crate) address: Address,
    pub(crate) query: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Body,
    pub(crate) caller: Caller,
    pub(crate) closing: Closing,
}

/// The URL of a request, taken apart.
pub(crate) struct Address {
    /// Scheme and host.
    pub(crate) site: String,
    /// The path of all streams, including the path at which the router is mounted.
    pub(crate) base: String,
    /// The undecoded path of the stream, relative to `base`.
    pub(crate) raw: String,
}

impl Address {
    /// Returns `None` if the request is not about a stream. `public_url` overrides scheme and host.
    pub(crate) fn new(public_url: Option<&str>, original: &Uri, request: &Parts) -> Option<Self> {
        let raw = request.uri.path().strip_prefix(PREFIX)?.to_owned();
        let base = original.path().strip_suffix(&raw)?.to_owned();
        let host = request.headers.get(header::HOST);
        let host = host.and_then(|host| host.to_str().ok());
        let host = host.or_else(|| original.authority().map(|named| named.as_str()));
        let site = match public_url {
            Some(url) => url.trim_end_matches('/').to_owned(),
            None => {
                let is_secured = request.extensions.get::<Secured>().is_some();
                let scheme = if is_secured { "https" } else { "http" };
                format!("{scheme}://{}", host.unwrap_or("localhost"))
            }
        };
        Some(Self { site, base, raw })
    }

    /// Returns the absolute URL of the stream.
    pub(crate) fn url(&self) -> String {
        format!("{}{}{}", self.site, self.base, self.raw)
    }

    /// Returns the path of the user's stream at this address.
    pub(crate) fn stream(&self) -> Result<StreamPath, Failure> {
        stream_path(&self.raw)
    }

    /// Returns the stream at another address on this server, such as `/v1/stream/a`.
    pub(crate) fn stream_at(&self, address: &str) -> Result<StreamPath, Failure> {
        let local = address.strip_prefix(&self.site).unwrap_or(address);
        let raw = local.strip_prefix(&self.base).ok_or_else(|| {
            Failure::bad_request(format!("an address of a stream begins with {}", self.base))
        })?;
        stream_path(raw)
    }
}

/// Percent-decodes a path.
pub(crate) fn decode(raw: &str) -> Result<Cow<'_, str>, Failure> {
    let text = percent_decode_str(raw).decode_utf8();
    text.map_err(|_| Failure::bad_request("the path is not UTF-8"))
}

fn stream_path(raw: &str) -> Result<StreamPath, Failure> {
    let path = StreamPath::new(&decode(raw)?);
    Ok(path.map_err(StreamError::from)?)
}
