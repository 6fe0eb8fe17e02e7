//! Rows that the state view and the client view share: open rpcs and the application's own rows.

use bytes::Bytes;
use everstep_model::record::{RowOperation, StateChanged};
use everstep_model::{Body, Entry, Name, Payload, RpcId, Timestamp};
use serde::Serialize;
use serde_json::value::RawValue;

use super::change::{Operation, deleted, message};

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
            let (id, insert) = (&request.rpc_id.0, Operation::Insert);
            message(entry, "rpc", id, insert, Some(value))
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
    let (key, update) = (&change.key, Operation::Update);
    let value: &RawValue = serde_json::from_slice(change.value.as_bytes()).ok()?;
    match value.get().starts_with('{') {
        true => message(entry, kind, key, update, Some(value)),
        false => message(entry, kind, key, update, Some(Wrapped { value })),
    }
}
