//! Questions and their answers.

use everstep_model::Location;
use everstep_model::record::{RpcAnswered, RpcRequested};

use super::{OpenRpc, Overview, Stamp};

impl Overview {
    pub(super) fn rpc_requested(&mut self, at: Stamp, record: &RpcRequested) {
        if self.opens(at, &record.location) {
            self.rpcs.push(OpenRpc {
                rpc_id: record.rpc_id.clone(),
                method: record.method.clone(),
                args: record.args.clone(),
                since: at.time,
                deadline: record.deadline,
                location: record.location.clone(),
            });
            return;
        }
        // A fork asks an inherited question again under an id of its own; the old id leads to the other run.
        let mut open = self.rpcs.iter_mut();
        if let Some(rpc) = open.find(|rpc| rpc.location == record.location) {
            rpc.rpc_id = record.rpc_id.clone();
        }
    }

    pub(super) fn rpc_answered(&mut self, record: &RpcAnswered) {
        self.rpcs.retain(|rpc| rpc.rpc_id != record.rpc_id);
    }

    pub(super) fn close_rpc(&mut self, location: &Location) {
        self.rpcs.retain(|rpc| rpc.location != *location);
    }
}
