//! `HEAD` returns the metadata of a stream. It does not renew the TTL.

use axum::body::Body;
use axum::http::{StatusCode, header};
use axum::response::Response;
use everstep_engine::streams::{StreamInfo, StreamPath};

use super::reply::Reply;
use super::server::StreamServer;
use crate::failure::Failure;
use crate::stream_protocol::{EXPIRES_AT, TTL};

pub(crate) async fn head(
    server: &StreamServer,
    path: &StreamPath,
) -> Result<Response<Body>, Failure> {
    let info = server.streams.info(path).await?;
    Ok(respond(&info))
}

pub(crate) fn respond(info: &StreamInfo) -> Response<Body> {
    Reply::new(StatusCode::OK)
        .with(header::CONTENT_TYPE, &info.content_type)
        .at(info.next)
        .closed(info.closed)
        .with_some(TTL, info.ttl.map(|ttl| ttl.as_secs()))
        .with_some(EXPIRES_AT, info.expires_at)
        .caching("no-store")
        .empty()
}
