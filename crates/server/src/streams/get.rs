//! `GET` reads from an offset. Waiting for more is in `long_poll.rs` and `sse.rs`.

use std::sync::Arc;

use axum::body::Body;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use everstep_engine::streams::ReadFrom;

use super::etag::{etag, matches};
use super::query::{Live, Query};
use super::reply::{Reply, body_of};
use super::request::StreamRequest;
use super::server::{Reading, StreamServer};
use super::{long_poll, sse};
use crate::failure::Failure;

/// Messages never change, so responses can be cached; only more messages may follow.
const CACHED: &str = "private, max-age=60, stale-while-revalidate=300";

/// Responses of journals must be revalidated, because the rights of a caller may change.
const CACHED_VIEW: &str = "private, no-cache";

pub(crate) async fn get(
    server: Arc<StreamServer>,
    request: StreamRequest,
) -> Result<Response<Body>, Failure> {
    let query = Query::parse(&request.query)?;
    let reading = Reading {
        reader: server.streams.read(&request.path, query.from).await?,
        query,
        view: None,
    };
    respond(server, reading, &request.headers).await
}

/// Responds to a read of a user's stream or of a journal.
pub(crate) async fn respond(
    server: Arc<StreamServer>,
    mut reading: Reading,
    headers: &HeaderMap,
) -> Result<Response<Body>, Failure> {
    match reading.query.live {
        Live::No => {}
        Live::LongPoll => {
            let _permit = server.wait_permits.acquire()?;
            return long_poll::respond(&server, reading).await;
        }
        Live::Sse => {
            let permit = server.wait_permits.acquire()?;
            return Ok(sse::respond(server, reading, permit));
        }
    }
    let reader = &mut reading.reader;
    let from = reader.offset();
    let chunk = reader.next_chunk(server.options.chunk_bytes).await?;
    let content_type = reader.info().content_type.clone();
    let reply = Reply::new(StatusCode::OK).with(header::CONTENT_TYPE, &content_type);
    if reading.query.from == ReadFrom::Tail {
        let body = body_of(&chunk.messages, &content_type);
        return Ok(reply.after(&chunk).caching("no-store").body(body));
    }
    let cached = match reading.view {
        None => CACHED,
        Some(_) => CACHED_VIEW,
    };
    let etag = etag(reader.info(), reading.view, from, &chunk);
    if matches(headers, &etag) {
        let unchanged = Reply::new(StatusCode::NOT_MODIFIED);
        let unchanged = unchanged.with(header::ETAG, etag).caching(cached);
        return Ok(unchanged.after(&chunk).empty());
    }
    let body = body_of(&chunk.messages, &content_type);
    let reply = reply.after(&chunk).with(header::ETAG, etag);
    Ok(reply.caching(cached).body(body))
}
