//! `POST` appends messages, closes the stream, or both.

use axum::body::Body;
use axum::http::{StatusCode, header};
use axum::response::Response;
use everstep_engine::streams::{Append, ContentType, StreamError};

use super::header_values::{is_true, short_text};
use super::producer_headers::producer;
use super::reply::Reply;
use super::request::StreamRequest;
use super::server::StreamServer;
use crate::failure::Failure;
use crate::stream_protocol as names;

pub(crate) async fn post(
    server: &StreamServer,
    request: StreamRequest,
) -> Result<Response<Body>, Failure> {
    let headers = &request.headers;
    let producer = producer(headers)?;
    let close = is_true(headers, &names::CLOSED);
    let content_type = short_text(headers, &header::CONTENT_TYPE)?;
    let content_type = content_type.filter(|text| !text.trim().is_empty());
    let seq = short_text(headers, &names::SEQ)?.map(str::to_owned);
    let content_type = content_type.map(ContentType::new);
    let body = server.body_limits.read(request.body).await?;
    if body.is_empty() && !close {
        return Err(Failure::bad_request("an append needs a body"));
    }
    if !body.is_empty() && content_type.is_none() {
        return Err(Failure::bad_request("an append needs a Content-Type"));
    }
    let close_only = body.is_empty();
    let append = Append {
        path: request.path,
        content_type,
        body,
        close,
        producer: producer.clone(),
        seq,
    };
    server
        .subscriptions
        .before_growth(&append.path, false)
        .await?;
    let appended = server.streams.append(append).await;
    let appended = appended.map_err(|error| rejected(error, producer.as_ref().map(|p| p.seq)))?;
    let status = match producer.is_some() && !appended.repeated && !close_only {
        true => StatusCode::OK,
        false => StatusCode::NO_CONTENT,
    };
    let epoch = producer.map(|producer| producer.epoch);
    Ok(Reply::new(status)
        .at(appended.next)
        .closed(appended.closed)
        .with_some(names::PRODUCER_EPOCH, epoch)
        .with_some(
            names::PRODUCER_SEQ,
            appended.seq.filter(|_| epoch.is_some()),
        )
        .empty())
}

/// Adds the producer's own sequence to the error of a closed stream. The reference client interprets
/// a conflict without these headers as a gap at 0 and retries forever.
fn rejected(error: StreamError, seq: Option<u64>) -> Failure {
    let is_closed = matches!(error, StreamError::Closed { .. });
    let failure = Failure::from(error);
    match seq.filter(|_| is_closed) {
        Some(seq) => failure
            .with(names::PRODUCER_EXPECTED, seq)
            .with(names::PRODUCER_RECEIVED, seq),
        None => failure,
    }
}
