//! `GET`: what there is from an offset on. Waiting for more is `long_poll.rs` and `sse.rs`.

use std::sync::Arc;

use axum::body::Body;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use everstep_engine::streams::{ReadFrom, Reader};
use everstep_protocol::access::View;

use super::etag::{etag, is_known};
use super::query::{Live, Query};
use super::reply::{Reply, body_of};
use super::route::Asked;
use super::{long_poll, sse};
use crate::failure::Failure;
use crate::place::place;
use crate::router::Shared;

/// What was read never changes; only what follows it does.
const CACHED: &str = "private, max-age=60, stale-while-revalidate=300";

/// A read that is under way.
pub(crate) struct Reading {
    pub(crate) reader: Reader,
    pub(crate) query: Query,
    /// Of a journal, what of it is shown.
    pub(crate) view: Option<View>,
}

pub(crate) async fn get(shared: Arc<Shared>, asked: Asked) -> Result<Response<Body>, Failure> {
    let query = Query::parse(&asked.query)?;
    let reading = Reading {
        reader: shared.streams.read(&asked.path, query.from).await?,
        query,
        view: None,
    };
    answer(shared, reading, &asked.headers).await
}

/// Answers a read, of a user's stream or of a journal.
pub(crate) async fn answer(
    shared: Arc<Shared>,
    mut reading: Reading,
    headers: &HeaderMap,
) -> Result<Response<Body>, Failure> {
    match reading.query.live {
        Live::No => {}
        Live::LongPoll => {
            let _place = place(&shared)?;
            return long_poll::answer(&shared, reading).await;
        }
        Live::Sse => {
            let place = place(&shared)?;
            return Ok(sse::answer(shared, reading, place));
        }
    }
    let reader = &mut reading.reader;
    let from = reader.offset();
    let chunk = reader.next_chunk(shared.options.chunk_bytes).await?;
    let content_type = reader.info().content_type.clone();
    let reply = Reply::new(StatusCode::OK).with(header::CONTENT_TYPE, &content_type);
    if reading.query.from == ReadFrom::Tail {
        let body = body_of(&chunk.messages, &content_type);
        return Ok(reply.after(&chunk).caching("no-store").body(body));
    }
    let etag = etag(reader.info(), reading.view, from, &chunk);
    if is_known(headers, &etag) {
        let unchanged = Reply::new(StatusCode::NOT_MODIFIED);
        let unchanged = unchanged.with(header::ETAG, etag).caching(CACHED);
        return Ok(unchanged.after(&chunk).empty());
    }
    let body = body_of(&chunk.messages, &content_type);
    let reply = reply.after(&chunk).with(header::ETAG, etag);
    Ok(reply.caching(CACHED).body(body))
}
