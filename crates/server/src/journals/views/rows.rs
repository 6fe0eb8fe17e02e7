//! Rows that the state view and the client view share: open rpcs and the application's own rows.

use bytes::Bytes;
use everstep_model::record::{RowOperation, StateChanged};
use everstep_model::{Body, Entry, Name, Payload, RpcId, Timestamp};
use serde::Serialize;
use serde_json::value::RawValue;

use super::change::{Change, Headers, Operation};
use super::full::txid;

/// An open rpc. The row is deleted when the rpc is answered or times out.
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

/// Wraps an application value that is not an object, because consumers accept objects only.
#[derive(Serialize)]
struct Wrapped<'a> {
    value: &'a RawValue,
}

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

pub(super) fn deleted(entry: &Entry, kind: &str, key: &str) -> Option<Bytes> {
    row(entry, kind, key, Operation::Delete, None::<()>)
}

/// Returns the change of a shared row that follows from a record.
pub(super) fn shared(entry: &Entry) -> Option<Bytes> {
    match &entry.record.body {
        Body::RpcRequested(request) => {
            let value = RpcRow {
                id: &request.rpc_id,
                method: &request.method,
                args: &request.args,
                deadline: request.deadline,
                schema: request.schema.as_ref(),
                asked_at: entry.record.time,
            };
            row(
                entry,
                "rpc",
                &request.rpc_id.0,
                Operation::Insert,
                Some(value),
            )
        }
        Body::RpcAnswered(answered) => deleted(entry, "rpc", &answered.rpc_id.0),
        Body::RpcCompleted(rpc) if rpc.timed_out => deleted(entry, "rpc", &rpc.rpc_id.0),
        Body::StateChanged(change) => application(entry, change),
        _ => None,
    }
}

fn application(entry: &Entry, change: &StateChanged) -> Option<Bytes> {
    let kind = change.collection.as_str();
    if change.operation == RowOperation::Delete {
        return deleted(entry, kind, &change.key);
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
