//! Feeds of the records of all runs, as streams that only the engine appends to.

use std::sync::Arc;

use axum::http::Method;
use axum::response::Response;
use bytes::Bytes;
use everstep_engine::streams::{FeedRecord, Render, StreamError};
use everstep_model::{Body, Entry, Generation, RecordFeed, RecordNumber, RunId, entry_from_json};
use serde::Serialize;
use serde_json::value::RawValue;

use super::address::reserved;
use super::views::full;
use crate::failure::Failure;
use crate::streams::query::Query;
use crate::streams::{Reading, StreamRequest, StreamServer, respond_to_read, respond_with_info};

/// A message of a feed.
#[derive(Serialize)]
struct Message<'a> {
    run: &'a RunId,
    generation: Generation,
    number: RecordNumber,
    /// The record in the full view.
    record: &'a RawValue,
}

/// Responds to a request about the feed with this name.
pub(crate) async fn dispatch(
    server: Arc<StreamServer>,
    method: Method,
    name: &str,
    request: StreamRequest,
) -> Result<Response, Failure> {
    let feed = RecordFeed::parse(name).ok_or(StreamError::Missing)?;
    match method {
        Method::GET => {
            let query = Query::parse(&request.query)?;
            let reader = server.streams.read_feed(feed, query.from, renderer());
            let reading = Reading {
                reader: reader.await?,
                query,
                view: None,
            };
            respond_to_read(server, reading, request).await
        }
        Method::HEAD => Ok(respond_with_info(&server.streams.feed_info(feed).await?)),
        _ => Err(reserved("only the engine appends to feeds")),
    }
}

/// Returns the function that renders the records of a feed.
pub(crate) fn renderer() -> Render {
    Arc::new(|stored: &Entry| match &stored.record.body {
        Body::Data(data) => render(&data.bytes).unwrap_or_else(|error| {
            tracing::error!(%error, "cannot render record of a feed");
            Vec::new()
        }),
        _ => Vec::new(),
    })
}

fn render(stored: &[u8]) -> Result<Vec<Bytes>, serde_json::Error> {
    let stored: FeedRecord = serde_json::from_slice(stored)?;
    let entry = entry_from_json(stored.record.get());
    let entry = entry.map_err(<serde_json::Error as serde::ser::Error>::custom)?;
    let message = |record: Bytes| {
        serde_json::to_vec(&Message {
            run: &stored.run,
            generation: stored.generation,
            number: entry.number,
            record: serde_json::from_slice(&record)?,
        })
    };
    let records = full::render(&entry).into_iter();
    records
        .map(|record| message(record).map(Bytes::from))
        .collect()
}
