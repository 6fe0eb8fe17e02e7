//! Rows that the state view and the client view share: questions that can be answered, and the application's own.

use bytes::Bytes;
use everstep_model::record::{RowOperation, StateChanged};
use everstep_model::{Body, Entry, Name, Payload, RpcId, Timestamp};
use serde::Serialize;
use serde_json::value::RawValue;

use super::change::{Change, Headers, Operation};
use super::full::txid;

/// A question that can be answered. It goes when it was answered, or nobody did in time.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RpcRow<'a> {
    id: &'a RpcId,
    method: &'a Name,
    args: &'a Payload,
    deadline: Option<Timestamp>,
    schema: Option<&'a Payload>,
    asked_at: Timestamp,
}

/// A value of the application that is no object: consumers take objects only.
#[derive(Serialize)]
struct Wrapped<'a> {
    value: &'a RawValue,
}

/// A change of one row.
pub(super) fn row(
    entry: &Entry,
    kind: &str,
    key: &str,
    operation: Operation,
    value: Option<impl Serialize>,
) -> Option<Bytes> {
    Change {
        kind,
        key,
        value,
        headers: Headers {
            operation,
            timestamp: entry.record.time,
            txid: txid(&entry.record.body),
        },
    }
    .message()
}

pub(super) fn gone(entry: &Entry, kind: &str, key: &str) -> Option<Bytes> {
    row(entry, kind, key, Operation::Delete, None::<()>)
}

/// The rows of questions and of the application that follow from a record.
pub(super) fn shared(entry: &Entry) -> Option<Bytes> {
    match &entry.record.body {
        Body::RpcRequested(asked) => {
            let value = RpcRow {
                id: &asked.rpc_id,
                method: &asked.method,
                args: &asked.args,
                deadline: asked.deadline,
                schema: asked.schema.as_ref(),
                asked_at: entry.record.time,
            };
            row(
                entry,
                "rpc",
                &asked.rpc_id.0,
                Operation::Insert,
                Some(value),
            )
        }
        Body::RpcAnswered(answered) => gone(entry, "rpc", &answered.rpc_id.0),
        Body::RpcCompleted(over) if over.timed_out => gone(entry, "rpc", &over.rpc_id.0),
        Body::StateChanged(change) => application(entry, change),
        _ => None,
    }
}

fn application(entry: &Entry, change: &StateChanged) -> Option<Bytes> {
    let kind = change.collection.as_str();
    if change.operation == RowOperation::Delete {
        return gone(entry, kind, &change.key);
    }
    let value: &RawValue = serde_json::from_slice(change.value.as_bytes()).ok()?;
    match value.get().starts_with('{') {
        true => row(entry, kind, &change.key, Operation::Update, Some(value)),
        false => {
            let value = Wrapped { value };
            row(entry, kind, &change.key, Operation::Update, Some(value))
        }
    }
}
