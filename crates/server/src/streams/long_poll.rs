//! `GET` that waits: it is answered as soon as there is something, or says after a while that there was not.

use axum::body::Body;
use axum::http::{StatusCode, header};
use axum::response::Response;
use everstep_engine::streams::Reader;

use super::cursor::cursor;
use super::etag::etag;
use super::headers as names;
use super::query::Query;
use super::reply::{Reply, body_of};
use crate::failure::Failure;
use crate::router::Shared;

pub(crate) async fn answer(
    shared: &Shared,
    query: &Query,
    mut reader: Reader,
) -> Result<Response<Body>, Failure> {
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
    let etag = etag(reader.info(), from, &chunk);
    Ok(Reply::new(StatusCode::OK)
        .with(header::CONTENT_TYPE, content_type)
        .after(&chunk)
        .with(names::CURSOR, now)
        .with(header::ETAG, etag)
        .body(body_of(&chunk.messages, content_type)))
}
