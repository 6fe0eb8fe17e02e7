//! The envelope of the State Protocol: one change of one row.

use bytes::Bytes;
use everstep_model::{Body, Entry, RecordNumber, Timestamp, one_line};
use serde::Serialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Operation {
    Insert,
    Update,
    Delete,
}

/// One change. Consumers rely on the headers, and on a value that is an object unless the row is
/// deleted.
#[derive(Serialize)]
struct Change<'a, V: Serialize> {
    #[serde(rename = "type")]
    kind: &'a str,
    key: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<V>,
    headers: Headers<'a>,
}

#[derive(Serialize)]
struct Headers<'a> {
    operation: Operation,
    timestamp: Timestamp,
    /// The number of the record. Only messages that are records have it.
    #[serde(skip_serializing_if = "Option::is_none")]
    number: Option<RecordNumber>,
    /// The id by which the client that caused the change recognises it.
    #[serde(skip_serializing_if = "Option::is_none")]
    txid: Option<&'a str>,
}

/// Returns a record as a message. `None` if a stored payload is damaged.
pub(super) fn record(
    entry: &Entry,
    kind: &str,
    key: &str,
    operation: Operation,
    value: impl Serialize,
) -> Option<Bytes> {
    let number = Some(entry.number);
    render(entry, number, (kind, key), operation, Some(value))
}

/// Returns the change of a row that follows from a record. `None` if a stored payload is damaged.
pub(super) fn changed(
    entry: &Entry,
    kind: &str,
    key: &str,
    operation: Operation,
    value: impl Serialize,
) -> Option<Bytes> {
    render(entry, None, (kind, key), operation, Some(value))
}

pub(super) fn deleted(entry: &Entry, kind: &str, key: &str) -> Option<Bytes> {
    render(entry, None, (kind, key), Operation::Delete, None::<()>)
}

fn render(
    entry: &Entry,
    number: Option<RecordNumber>,
    (kind, key): (&str, &str),
    operation: Operation,
    value: Option<impl Serialize>,
) -> Option<Bytes> {
    let change = Change {
        kind,
        key,
        value,
        headers: Headers {
            operation,
            timestamp: entry.record.time,
            number,
            txid: match &entry.record.body {
                Body::Event(event) => event.dedup_id.as_deref(),
                Body::RpcAnswered(answer) => answer.dedup_id.as_deref(),
                _ => None,
            },
        },
    };
    let text = serde_json::to_string(&change);
    let text = text.inspect_err(|error| {
        tracing::error!(%error, kind, key, "cannot render record");
    });
    Some(one_line(text.ok()?).into())
}
