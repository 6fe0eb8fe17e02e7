//! `PUT` creates a stream, or succeeds if the same stream exists; `HEAD` returns its metadata, and
//! `DELETE` removes it.

use std::time::Duration;

use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use everstep_engine::streams::{Create, Fork, Lifetime, StreamInfo};

use super::headers::{content_type, is_true, text, whole_number};
use super::reply::Reply;
use super::request::{Address, StreamRequest, StreamServer};
use crate::auth::unreached;
use crate::failure::Failure;
use crate::{rfc3339, stream_protocol as names};

pub(crate) async fn put(
    server: &StreamServer,
    request: StreamRequest,
) -> Result<Response, Failure> {
    let (address, headers) = (request.address, request.headers);
    let fork = fork(&headers, &address)?;
    let source = fork.as_ref().map(|fork| fork.source.as_str());
    if source.is_some_and(|path| !request.caller.limits().reaches_stream(path)) {
        return Err(unreached("stream"));
    }
    let create = Create {
        path: address.stream()?,
        content_type: content_type(&headers)?,
        lifetime: lifetime(&headers)?,
        closed: is_true(&headers, &names::CLOSED),
        fork,
        body: server.body_limits.read(request.body).await?,
    };
    let subscriptions = &server.subscriptions;
    let _growing = subscriptions.before_growth(&create.path, true).await?;
    let created = server.streams.create(create).await?;
    let reply = match created.created {
        true => Reply::new(StatusCode::CREATED).with(header::LOCATION, address.url()),
        false => Reply::new(StatusCode::OK),
    };
    let info = &created.info;
    Ok(reply
        .with(header::CONTENT_TYPE, &info.content_type)
        .at(info.next)
        .closed(info.closed)
        .empty())
}

/// Does not renew the TTL.
pub(crate) async fn head(
    server: &StreamServer,
    request: StreamRequest,
) -> Result<Response, Failure> {
    let info = server.streams.info(&request.address.stream()?).await?;
    Ok(respond_with_info(&info))
}

pub(crate) fn respond_with_info(info: &StreamInfo) -> Response {
    Reply::new(StatusCode::OK)
        .with(header::CONTENT_TYPE, &info.content_type)
        .at(info.next)
        .closed(info.closed)
        .with_some(names::TTL, info.ttl.map(|ttl| ttl.as_secs()))
        .with_some(names::EXPIRES_AT, info.expires_at)
        .caching("no-store")
        .empty()
}

/// Keeps the data while forks need it.
pub(crate) async fn delete(
    server: &StreamServer,
    request: StreamRequest,
) -> Result<Response, Failure> {
    server.streams.delete(&request.address.stream()?).await?;
    Ok(Reply::new(StatusCode::NO_CONTENT).empty())
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
