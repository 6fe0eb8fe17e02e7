//! Rpcs: typed calls that a person or another program answers.

use std::time::Duration;

use everstep_model::record::{RpcAnswered, RpcCompleted, RpcRequested};
use everstep_model::{Body, Name, Payload, RpcId};

use super::call::Call;
use super::context::{Called, Context};
use super::earlier_passes::Remembered;
use super::execution::Replay;
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

impl Call for RpcCall {
    type Output = OpId;
    const RECORD: &'static str = "rpc_requested";

    fn call(self, called: Called, method: &Name, replay: &mut Replay) -> Option<OpId> {
        let cx = &mut replay.context;
        let id = RpcId::of(&cx.run.id, cx.run.generation, &called.location);
        let resolved = || Kind::Rpc {
            id: id.clone(),
            deadline: None,
        };
        let deadline = match cx.open_decided(&called, Self::RECORD, resolved) {
            Err(op) => return op,
            // Requested again with the same id and deadline, because the rows of the earlier pass
            // were deleted with that pass.
            Ok(Some(Remembered::Open(_, earlier))) => earlier,
            Ok(_) => self.timeout.map(|timeout| cx.position.deadline(timeout)),
        };
        let requested = RpcRequested {
            location: called.location,
            rpc_id: id,
            method: method.clone(),
            args: self.args,
            deadline,
            schema: self.schema,
        };
        let Some(Body::RpcRequested(recorded)) = cx.add_line(requested, Some(called.site)) else {
            return None;
        };
        let kind = Kind::Rpc {
            id: recorded.rpc_id,
            deadline: recorded.deadline,
        };
        Some(cx.operations.open(recorded.location, kind))
    }
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
    cx.add_line(completed, None);
    cx.operations.resolve(op, Resolution::Answer(answer));
}
