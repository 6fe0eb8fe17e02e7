//! `HEAD`: what a stream is. Asking does not prolong its life.

use axum::body::Body;
use axum::http::{StatusCode, header};
use axum::response::Response;
use everstep_engine::streams::{StreamInfo, StreamPath};

use super::headers as names;
use super::reply::Reply;
use crate::failure::Failure;
use crate::router::Shared;

pub(crate) async fn head(shared: &Shared, path: &StreamPath) -> Result<Response<Body>, Failure> {
    let info = shared.streams.info(path).await?;
    Ok(answer(&info))
}

/// What a stream is, as headers.
pub(crate) fn answer(info: &StreamInfo) -> Response<Body> {
    Reply::new(StatusCode::OK)
        .with(header::CONTENT_TYPE, &info.content_type)
        .at(info.next)
        .closed(info.closed)
        .with_some(names::TTL, info.ttl.map(|ttl| ttl.as_secs()))
        .with_some(names::EXPIRES_AT, info.expires_at)
        .caching("no-store")
        .empty()
}
