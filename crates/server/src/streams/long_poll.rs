//! `GET` that waits: it is answered as soon as there is something, or says after a while that there was not.

use axum::body::Body;
use axum::http::{StatusCode, header};
use axum::response::Response;

use super::cursor::cursor;
use super::etag::etag;
use super::get::Reading;
use super::headers as names;
use super::reply::{Reply, body_of};
use crate::failure::Failure;
use crate::router::Shared;

pub(crate) async fn answer(shared: &Shared, reading: Reading) -> Result<Response<Body>, Failure> {
    let Reading {
        mut reader,
        query,
        view,
    } = reading;
    let options = &shared.options;
    let from = reader.offset();
    let chunk = reader
        .next_within(options.chunk_bytes, options.long_poll_timeout)
        .await?;
    let now = cursor(shared.streams.now(), query.cursor, shared.streams.random());
    if chunk.messages.is_empty() {
        return Ok(Reply::new(StatusCode::NO_CONTENT)
            .after(&chunk)
            .with(names::CURSOR, now)
            .caching("no-store")
            .empty());
    }
    let content_type = &reader.info().content_type;
    let etag = etag(reader.info(), view, from, &chunk);
    // What a journal says is nobody's business but its reader's.
    let caching = view.map(|_| "private");
    Ok(Reply::new(StatusCode::OK)
        .with_some(header::CACHE_CONTROL, caching)
        .with(header::CONTENT_TYPE, content_type)
        .after(&chunk)
        .with(names::CURSOR, now)
        .with(header::ETAG, etag)
        .body(body_of(&chunk.messages, content_type)))
}
