//! `GET` reads from an offset, and with `live=long-poll` waits for messages. Event streams are in
//! `sse.rs`.

use std::sync::Arc;

use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use everstep_engine::streams::ReadFrom;

use super::caching::{cursor, etag, matches};
use super::query::{Live, Query};
use super::reply::{Reply, body_of};
use super::request::{Reading, StreamRequest, StreamServer};
use super::sse;
use crate::connections::Closing;
use crate::failure::Failure;
use crate::stream_protocol as names;

/// Messages never change, so responses can be cached; only more messages may follow.
const CACHED: &str = "private, max-age=60, stale-while-revalidate=300";

/// The approximate size of the response to a long-poll. Many wait at once and may be answered
/// together.
const LONG_POLL_BYTES: usize = 64 * 1024;

/// Responses of journals must be revalidated, because the rights of a caller may change.
const CACHED_VIEW: &str = "private, no-cache";

pub(crate) async fn get(
    server: Arc<StreamServer>,
    request: StreamRequest,
) -> Result<Response, Failure> {
    let path = request.address.stream()?;
    let query = Query::parse(&request.query)?;
    let reading = Reading {
        reader: server.streams.read(&path, query.from).await?,
        query,
        view: None,
    };
    respond(server, reading, request).await
}

/// Responds to a read of a user's stream or of a journal.
pub(crate) async fn respond(
    server: Arc<StreamServer>,
    reading: Reading,
    request: StreamRequest,
) -> Result<Response, Failure> {
    let StreamRequest {
        headers,
        caller,
        closing,
        ..
    } = request;
    match reading.query.live {
        Live::No => {
            // Until the response is counted, which happens when it is returned.
            let _turn = server.read_turns.wait(&caller).await;
            read(&server, reading, &headers).await
        }
        Live::LongPoll => {
            let _permit = server.wait_permits.acquire(&caller)?;
            long_poll(&server, reading, &closing).await
        }
        Live::Sse => {
            let permit = server.wait_permits.acquire(&caller)?;
            Ok(sse::respond(server, reading, permit, caller, closing))
        }
    }
}

async fn read(
    server: &StreamServer,
    mut reading: Reading,
    headers: &HeaderMap,
) -> Result<Response, Failure> {
    let reader = &mut reading.reader;
    let from = reader.offset();
    let chunk = reader.next_chunk(server.options.chunk_bytes).await?;
    let content_type = &reader.info().content_type;
    let reply = Reply::new(StatusCode::OK)
        .with(header::CONTENT_TYPE, content_type)
        .after(&chunk);
    let body = || body_of(&chunk.messages, content_type);
    if reading.query.from == ReadFrom::Tail {
        return Ok(reply.caching("no-store").body(body()));
    }
    let cached = match &reading.view {
        None => CACHED,
        Some(_) => CACHED_VIEW,
    };
    let etag = etag(reader.info(), reading.view.as_deref(), from, &chunk);
    if matches(headers, &etag) {
        let unchanged = Reply::new(StatusCode::NOT_MODIFIED).after(&chunk);
        return Ok(unchanged.with(header::ETAG, etag).caching(cached).empty());
    }
    let reply = reply.with(header::ETAG, etag).caching(cached);
    Ok(reply.body(body()))
}

/// Responds when messages arrive, or without messages after a timeout or when the server closes.
async fn long_poll(
    server: &StreamServer,
    reading: Reading,
    closing: &Closing,
) -> Result<Response, Failure> {
    let Reading {
        mut reader,
        query,
        view,
    } = reading;
    let (streams, options) = (&server.streams, &server.options);
    let from = reader.offset();
    let bytes = options.chunk_bytes.min(LONG_POLL_BYTES);
    let waiting = reader.next_within(bytes, options.long_poll_timeout);
    let arrived = tokio::select! {
        biased;
        chunk = waiting => Some(chunk?),
        () = closing.begun() => None,
    };
    let chunk = match arrived {
        Some(chunk) => chunk,
        None => reader.next_chunk(bytes).await?,
    };
    let cursor = cursor(streams.now(), query.cursor, streams.random());
    let reply = |status| Reply::new(status).after(&chunk).with(names::CURSOR, cursor);
    if chunk.messages.is_empty() {
        return Ok(reply(StatusCode::NO_CONTENT).caching("no-store").empty());
    }
    let content_type = &reader.info().content_type;
    // Shared caches must not store journals.
    let caching = view.as_ref().map(|_| "private");
    Ok(reply(StatusCode::OK)
        .with_some(header::CACHE_CONTROL, caching)
        .with(header::CONTENT_TYPE, content_type)
        .with(
            header::ETAG,
            etag(reader.info(), view.as_deref(), from, &chunk),
        )
        .body(body_of(&chunk.messages, content_type)))
}
