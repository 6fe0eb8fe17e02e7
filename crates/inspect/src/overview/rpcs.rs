//! Rpcs and their answers.

use everstep_model::Location;
use everstep_model::record::{RpcAnswered, RpcRequested};

use super::fold::{Overview, Stamp};
use super::views::OpenRpc;

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
        // A copied run repeats an open rpc under an id of its own; the old id belongs to the
        // original run.
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
