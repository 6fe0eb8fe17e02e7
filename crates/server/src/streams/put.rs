//! `PUT` creates a stream, or succeeds if the same stream exists.

use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use everstep_engine::streams::{ContentType, Create, Fork, Lifetime};

use super::header_values::{is_true, short_text, text, whole_number};
use super::reply::Reply;
use super::request::{Address, StreamRequest};
use super::server::StreamServer;
use crate::failure::Failure;
use crate::{rfc3339, stream_protocol as names};

pub(crate) async fn put(
    server: &StreamServer,
    request: StreamRequest,
) -> Result<Response<Body>, Failure> {
    let headers = &request.headers;
    let content_type = short_text(headers, &header::CONTENT_TYPE)?;
    let content_type = content_type.filter(|text| !text.trim().is_empty());
    let lifetime = lifetime(headers)?;
    let fork = fork(headers, &request.address)?;
    let closed = is_true(headers, &names::CLOSED);
    let create = Create {
        path: request.path,
        content_type: content_type.map(ContentType::new),
        lifetime,
        closed,
        fork,
        body: server.body_limits.read(request.body).await?,
    };
    server
        .subscriptions
        .before_growth(&create.path, true)
        .await?;
    let created = server.streams.create(create).await?;
    let reply = match created.created {
        true => Reply::new(StatusCode::CREATED).with(header::LOCATION, request.address.url()),
        false => Reply::new(StatusCode::OK),
    };
    let info = &created.info;
    Ok(reply
        .with(header::CONTENT_TYPE, &info.content_type)
        .at(info.next)
        .closed(info.closed)
        .empty())
}

pub(crate) fn lifetime(headers: &HeaderMap) -> Result<Lifetime, Failure> {
    let ttl = text(headers, &names::TTL)?;
    let expires_at = text(headers, &names::EXPIRES_AT)?;
    match (ttl, expires_at) {
        (None, None) => Ok(Lifetime::Unspecified),
        (Some(_), Some(_)) => Err(Failure::bad_request(
            "a stream has Stream-TTL or Stream-Expires-At, not both",
        )),
        (Some(ttl), None) => {
            let seconds = whole_number(&names::TTL, ttl)?;
            Ok(Lifetime::Ttl(Duration::from_secs(seconds)))
        }
        (None, Some(expires_at)) => {
            let time = rfc3339::parse(expires_at).ok_or_else(|| {
                Failure::bad_request("Stream-Expires-At is a time such as 2026-11-15T08:00:00Z")
            })?;
            Ok(Lifetime::Until(time))
        }
    }
}

fn fork(headers: &HeaderMap, address: &Address) -> Result<Option<Fork>, Failure> {
    let source = text(headers, &names::FORKED_FROM)?;
    let offset = text(headers, &names::FORK_OFFSET)?;
    let sub_offset = text(headers, &names::FORK_SUB_OFFSET)?;
    let Some(source) = source else {
        return match (offset, sub_offset) {
            (None, None) => Ok(None),
            _ => Err(Failure::bad_request(
                "Stream-Fork-Offset and Stream-Fork-Sub-Offset need Stream-Forked-From",
            )),
        };
    };
    let offset = offset.map(str::parse).transpose();
    let offset = offset.map_err(|_| Failure::bad_request("Stream-Fork-Offset is no offset"))?;
    let sub_offset = match sub_offset {
        Some(text) => whole_number(&names::FORK_SUB_OFFSET, text)?,
        None => 0,
    };
    if sub_offset > 0 && offset.is_none() {
        return Err(Failure::bad_request(
            "Stream-Fork-Sub-Offset needs Stream-Fork-Offset",
        ));
    }
    Ok(Some(Fork {
        source: address.stream_at(source)?,
        offset,
        sub_offset,
    }))
}
