//! Responses with the headers of the Durable Streams protocol.

use axum::body::{Body, Bytes};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use everstep_engine::streams::{Chunk, ContentType, as_json_array};
use everstep_model::Offset;

use crate::stream_protocol as names;

/// Builder of a response.
pub(crate) struct Reply(Response);

impl Reply {
    pub(crate) fn new(status: StatusCode) -> Self {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = status;
        Self(response)
    }

    pub(crate) fn with(mut self, name: HeaderName, value: impl ToString) -> Self {
        if let Ok(value) = HeaderValue::from_str(&value.to_string()) {
            self.0.headers_mut().insert(name, value);
        }
        self
    }

    pub(crate) fn with_some(self, name: HeaderName, value: Option<impl ToString>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    pub(crate) fn at(self, next: Offset) -> Self {
        self.with(names::NEXT_OFFSET, next)
    }

    pub(crate) fn closed(self, closed: bool) -> Self {
        self.with_some(names::CLOSED, closed.then_some("true"))
    }

    /// Adds the position at which a read ended.
    pub(crate) fn after(self, chunk: &Chunk) -> Self {
        self.at(chunk.next)
            .with_some(names::UP_TO_DATE, chunk.up_to_date.then_some("true"))
            .closed(chunk.closed)
    }

    pub(crate) fn caching(self, how: &'static str) -> Self {
        self.with(header::CACHE_CONTROL, how)
    }

    pub(crate) fn body(mut self, body: impl Into<Body>) -> Response {
        *self.0.body_mut() = body.into();
        self.0
    }

    pub(crate) fn empty(self) -> Response {
        self.0
    }
}

/// Joins the messages of a read into one body.
pub(crate) fn body_of(messages: &[Bytes], content_type: &ContentType) -> Bytes {
    if content_type.is_json() {
        return as_json_array(messages);
    }
    match messages {
        [one] => one.clone(),
        many => many.concat().into(),
    }
}
