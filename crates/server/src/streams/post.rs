//! `POST`: messages are appended, the stream is closed, or both.

use axum::body::Body;
use axum::http::{StatusCode, header};
use axum::response::Response;
use everstep_engine::streams::{Append, ContentType, StreamError};

use super::headers as names;
use super::producer_headers::producer;
use super::reply::Reply;
use super::route::{Asked, whole_body};
use crate::failure::Failure;
use crate::router::Shared;

pub(crate) async fn post(shared: &Shared, asked: Asked) -> Result<Response<Body>, Failure> {
    let headers = &asked.headers;
    let producer = producer(headers)?;
    let close = names::says_true(headers, &names::CLOSED);
    let content_type = names::short_text(headers, &header::CONTENT_TYPE)?;
    let content_type = content_type.filter(|text| !text.trim().is_empty());
    let seq = names::short_text(headers, &names::SEQ)?.map(str::to_owned);
    let content_type = content_type.map(ContentType::new);
    let body = whole_body(shared, asked.body).await?;
    if body.is_empty() && !close {
        return Err(Failure::bad_request("an append has a body"));
    }
    if !body.is_empty() && content_type.is_none() {
        return Err(Failure::bad_request("an append has a Content-Type"));
    }
    let close_only = body.is_empty();
    let append = Append {
        path: asked.path,
        content_type,
        body,
        close,
        producer: producer.clone(),
        seq,
    };
    shared
        .subscriptions
        .before_growth(&append.path, false)
        .await?;
    let appended = shared.streams.append(append).await;
    let appended = appended.map_err(|error| refused(error, producer.as_ref().map(|p| p.seq)))?;
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

/// A producer that meets a stream closed by another is told its own sequence: the common client takes a conflict without
/// these headers for a gap at 0 and sends for ever.
fn refused(error: StreamError, seq: Option<u64>) -> Failure {
    let is_closed = matches!(error, StreamError::Closed { .. });
    let failure = Failure::from(error);
    match seq.filter(|_| is_closed) {
        Some(seq) => failure
            .with(names::PRODUCER_EXPECTED, seq)
            .with(names::PRODUCER_RECEIVED, seq),
        None => failure,
    }
}
