//! Rpcs: typed calls that a person or another program answers.

use std::time::Duration;

use everstep_model::record::{RpcAnswered, RpcCompleted, RpcRequested};
use everstep_model::{Body, Name, Payload, RpcId};

use super::context::{Called, Context, Earlier};
use super::earlier_passes::Remembered;
use super::operations::{Kind, OpId, Resolution};

/// A call of an rpc.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "plain data")]
pub struct RpcCall {
    pub args: Payload,
    /// The schema of the answer.
    pub schema: Option<Payload>,
    pub timeout: Option<Duration>,
}

pub(super) fn call(called: Called, method: &Name, rpc: RpcCall, cx: &mut Context) -> Option<OpId> {
    let location = called.location.clone();
    let rpc_id = RpcId::of(&cx.run.id, cx.run.generation, &location);
    let timeout = rpc.timeout;
    let mut deadline = timeout.map(|timeout| cx.position.deadline(timeout));
    match cx.earlier(&location) {
        Earlier::Known(Remembered::Resolved("rpc_requested", resolution)) => {
            let kind = Kind::Rpc {
                id: rpc_id,
                deadline: None,
            };
            let operations = &mut cx.operations;
            return Some(operations.open_resolved(location, kind, resolution));
        }
        // Requested again with the same id and deadline, because the rows of the earlier pass were
        // deleted with that pass.
        Earlier::Known(Remembered::Requested(earlier)) => deadline = earlier,
        Earlier::Known(other) => {
            cx.halt_on_other(&called, "rpc_requested", &other);
            return None;
        }
        Earlier::Refused => return Some(cx.open_refused(location)),
        Earlier::Unknown => {}
    }
    let requested = RpcRequested {
        location: called.location,
        rpc_id,
        method: method.clone(),
        args: rpc.args,
        deadline,
        schema: rpc.schema,
    };
    let Some(Body::RpcRequested(recorded)) = cx.say(requested, Some(called.site)) else {
        return None;
    };
    let kind = Kind::Rpc {
        id: recorded.rpc_id,
        deadline: recorded.deadline,
    };
    Some(cx.operations.open(location, kind))
}

pub(super) fn fold_answered(record: RpcAnswered, cx: &mut Context) {
    let open = cx.operations.at(&record.location);
    if let Some((op, operation)) = open
        && matches!(&operation.kind, Kind::Rpc { id, .. } if *id == record.rpc_id)
    {
        end(op, Some(record.answer), cx);
    }
}

/// Ends an rpc with an answer, or because it timed out.
pub(super) fn end(op: OpId, answer: Option<Payload>, cx: &mut Context) {
    let Some(operation) = cx.operations.get(op) else {
        return;
    };
    let Kind::Rpc { id, deadline } = operation.kind.clone() else {
        return;
    };
    let completed = RpcCompleted {
        location: operation.location.clone(),
        rpc_id: id,
        timed_out: answer.is_none(),
        deadline,
    };
    cx.say(completed, None);
    cx.operations.resolve(op, Resolution::Answer(answer));
}
