//! `GET` with `live=long-poll`: responds when messages arrive, or without messages after a timeout.

use axum::body::Body;
use axum::http::{StatusCode, header};
use axum::response::Response;

use super::cursor::cursor;
use super::etag::etag;
use super::reply::{Reply, body_of};
use super::server::{Reading, StreamServer};
use crate::failure::Failure;
use crate::stream_protocol as names;

pub(crate) async fn respond(
    server: &StreamServer,
    reading: Reading,
) -> Result<Response<Body>, Failure> {
    let Reading {
        mut reader,
        query,
        view,
    } = reading;
    let options = &server.options;
    let from = reader.offset();
    let chunk = reader
        .next_within(options.chunk_bytes, options.long_poll_timeout)
        .await?;
    let now = cursor(server.streams.now(), query.cursor, server.streams.random());
    if chunk.messages.is_empty() {
        return Ok(Reply::new(StatusCode::NO_CONTENT)
            .after(&chunk)
            .with(names::CURSOR, now)
            .caching("no-store")
            .empty());
    }
    let content_type = &reader.info().content_type;
    let etag = etag(reader.info(), view, from, &chunk);
    // Shared caches must not store journals.
    let caching = view.map(|_| "private");
    Ok(Reply::new(StatusCode::OK)
        .with_some(header::CACHE_CONTROL, caching)
        .with(header::CONTENT_TYPE, content_type)
        .after(&chunk)
        .with(names::CURSOR, now)
        .with(header::ETAG, etag)
        .body(body_of(&chunk.messages, content_type)))
}
