//! `GET` with `live=sse`: an event stream. Each data event is followed by a control event with the
//! position of the reader.

use std::convert::Infallible;
use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{StatusCode, header};
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use everstep_engine::streams::{Chunk, ContentType, Reader, StreamError};
use futures_util::stream;
use serde::Serialize;

use super::caching::cursor;
use super::reply::{Reply, body_of};
use super::request::{Reading, StreamServer};
use crate::auth::Caller;
use crate::body_budget::counted;
use crate::connections::Closing;
use crate::permits::WaitPermit;
use crate::stream_protocol as names;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Control {
    stream_next_offset: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_cursor: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    up_to_date: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    stream_closed: bool,
}

/// The approximate size of the messages of one event in bytes. An event is created when the client
/// has taken the one before, so this limits what a connection buffers.
const EVENT_BYTES: usize = 64 * 1024;

/// The size above which an event counts for the budget of responses. A message is never split.
const LARGE_EVENT: usize = 256 * 1024;

/// An open event stream.
struct EventStream {
    server: Arc<StreamServer>,
    reader: Reader,
    /// The end of its lifetime, on the monotonic clock.
    until: Duration,
    cursor: Option<u64>,
    /// Whether the first control event was sent.
    started: bool,
    ended: bool,
    closing: Closing,
    caller: Caller,
    _permit: WaitPermit,
}

pub(crate) fn respond(
    server: Arc<StreamServer>,
    reading: Reading,
    permit: WaitPermit,
    caller: Caller,
    closing: Closing,
) -> Response {
    let until = server.streams.elapsed() + server.options.sse_lifetime;
    let Reading { reader, query, .. } = reading;
    let encoding = is_encoded(&reader.info().content_type).then_some("base64");
    let open = EventStream {
        server,
        reader,
        until,
        cursor: query.cursor,
        started: false,
        ended: false,
        closing,
        caller,
        _permit: permit,
    };
    let events = stream::unfold(open, |mut open| async move {
        let event = open.next().await?;
        Some((Ok::<_, Infallible>(event), open))
    });
    Reply::new(StatusCode::OK)
        .with(header::CONTENT_TYPE, "text/event-stream")
        .with_some(names::SSE_ENCODING, encoding)
        .caching("no-cache")
        .body(Body::from_stream(events))
}

impl EventStream {
    async fn next(&mut self) -> Option<Bytes> {
        if self.ended {
            return None;
        }
        let before = self.reader.offset();
        let chunk = match self.chunk().await {
            Ok(Some(chunk)) => chunk,
            // The server is closing; the client reconnects to another.
            Ok(None) => return None,
            Err(error) => {
                // The headers are sent; the client reconnects and then receives the error.
                tracing::debug!(%error, "event stream ended by an error");
                return None;
            }
        };
        let is_late = self.remaining().is_zero();
        self.ended = chunk.closed || is_late;
        if chunk.next == before && !chunk.closed && self.started {
            return None;
        }
        self.started = true;
        let bytes = chunk.messages.iter().map(Bytes::len).sum();
        if bytes <= LARGE_EVENT {
            return Some(self.events(&chunk));
        }
        // If there is no memory for it, the client reconnects and waits.
        let budget = &self.server.response_budget;
        let account = budget.hold(Some(&self.caller), bytes).ok()?;
        Some(counted(self.events(&chunk), Arc::new(account)))
    }

    fn remaining(&self) -> Duration {
        let now = self.server.streams.elapsed();
        self.until.saturating_sub(now)
    }

    /// Returns `None` when the server closes.
    async fn chunk(&mut self) -> Result<Option<Chunk>, StreamError> {
        let bytes = self.server.options.chunk_bytes.min(EVENT_BYTES);
        if !self.started {
            return self.reader.next_chunk(bytes).await.map(Some);
        }
        let remaining = self.remaining();
        tokio::select! {
            biased;
            () = self.closing.begun() => Ok(None),
            chunk = self.reader.next_move_within(bytes, remaining) => chunk.map(Some),
        }
    }

    fn events(&mut self, chunk: &Chunk) -> Bytes {
        let mut text = String::new();
        let content_type = &self.reader.info().content_type;
        if !chunk.messages.is_empty() {
            let body = body_of(&chunk.messages, content_type);
            match is_encoded(content_type) {
                true => event(&mut text, "data", &STANDARD.encode(&body)),
                false => event(&mut text, "data", &String::from_utf8_lossy(&body)),
            }
        }
        let streams = &self.server.streams;
        let next = cursor(streams.now(), self.cursor, streams.random());
        self.cursor = Some(next);
        let control = Control {
            stream_next_offset: chunk.next.to_string(),
            stream_cursor: (!chunk.closed).then(|| next.to_string()),
            up_to_date: chunk.up_to_date,
            stream_closed: chunk.closed,
        };
        let control = serde_json::to_string(&control).unwrap_or_default();
        event(&mut text, "control", &control);
        text.into()
    }
}

/// Returns whether messages are sent as base64, because events are text.
fn is_encoded(content_type: &ContentType) -> bool {
    !content_type.is_text() && !content_type.is_json()
}

/// Writes one event. Every line of the payload is a field of its own, so that a payload can neither
/// end its event nor begin another.
fn event(text: &mut String, name: &str, payload: &str) {
    let _ = writeln!(text, "event: {name}");
    let unified = payload.replace("\r\n", "\n").replace('\r', "\n");
    for line in unified.split('\n') {
        // Parsers strip one leading space, so a line that begins with a space gets another.
        let space = if line.starts_with(' ') { " " } else { "" };
        let _ = writeln!(text, "data:{space}{line}");
    }
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payload_cannot_end_its_event() {
        for payload in ["a\n\nevent: control", "a\r\revent: x", "a\r\n\r\nb", ""] {
            let mut text = String::new();
            event(&mut text, "data", payload);
            assert_eq!(text.matches("\n\n").count(), 1, "{text:?}");
            assert!(text.ends_with("\n\n") && !text.contains('\r'));
            let mut lines = text.lines().skip(1);
            assert!(lines.all(|line| line.is_empty() || line.starts_with("data:")));
        }
    }
}
