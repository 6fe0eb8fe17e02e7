//! `POST` appends messages, closes the stream, or both.

use axum::http::StatusCode;
use axum::response::Response;
use everstep_engine::streams::{Append, StreamError};

use super::headers::{content_type, is_true, producer, short_text};
use super::reply::Reply;
use super::request::{StreamRequest, StreamServer};
use crate::failure::Failure;
use crate::stream_protocol as names;

pub(crate) async fn post(
    server: &StreamServer,
    request: StreamRequest,
) -> Result<Response, Failure> {
    let headers = &request.headers;
    let path = request.address.stream()?;
    let producer = producer(headers)?;
    let close = is_true(headers, &names::CLOSED);
    let content_type = content_type(headers)?;
    let seq = short_text(headers, &names::SEQ)?.map(str::to_owned);
    let body = server.body_limits.read(request.body).await?;
    if body.is_empty() && !close {
        return Err(Failure::bad_request("an append needs a body"));
    }
    if !body.is_empty() && content_type.is_none() {
        return Err(Failure::bad_request("an append needs a Content-Type"));
    }
    let close_only = body.is_empty();
    let append = Append {
        path,
        content_type,
        body,
        close,
        producer: producer.clone(),
        seq,
    };
    let subscriptions = &server.subscriptions;
    let _growing = subscriptions.before_growth(&append.path, false).await?;
    let appended = server.streams.append(append).await;
    let appended = appended.map_err(|error| rejected(error, producer.as_ref().map(|p| p.seq)))?;
    let status = match producer.is_some() && !appended.repeated && !close_only {
        true => StatusCode::OK,
        false => StatusCode::NO_CONTENT,
    };
    let seq = appended.seq.filter(|_| producer.is_some());
    let epoch = producer.map(|producer| producer.epoch);
    Ok(Reply::new(status)
        .at(appended.next)
        .closed(appended.closed)
        .with_some(names::PRODUCER_EPOCH, epoch)
        .with_some(names::PRODUCER_SEQ, seq)
        .empty())
}

/// Adds the producer's own sequence to the error of a closed stream. The reference client
/// interprets a conflict without these headers as a gap at 0 and retries forever.
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
