//! Events, waits, sleeps, rpcs and awaited children.

use everstep_model::Location;
use everstep_model::record::{
    ChildFinished, ChildStarted, Event, RpcRequested, Sleeping, WaitCompleted, Waiting,
};

use super::fold::{Overview, Stamp};
use super::views::{ChildView, EventView, OpenRpc, SleepView, WaitView};

impl Overview {
    pub(super) fn event(&mut self, at: Stamp, record: &Event) {
        self.events.push_back(EventView {
            name: record.name.clone(),
            number: at.number,
            time: at.time,
        });
    }

    pub(super) fn waiting(&mut self, at: Stamp, record: &Waiting) {
        if self.opens(at, &record.location) {
            self.waits.push(WaitView {
                location: record.location.clone(),
                names: record.names.clone(),
                since: at.time,
                deadline: record.deadline,
                batch: record.batch,
            });
        }
    }

    /// Takes the events even if the wait is closed: the executor decided the race between event and
    /// timeout.
    pub(super) fn wait_completed(&mut self, record: &WaitCompleted) {
        self.close_wait(&record.location);
        for taken in &record.events {
            let position = self.events.iter().position(|event| event.number == *taken);
            position.and_then(|position| self.events.remove(position));
        }
    }

    pub(super) fn close_wait(&mut self, location: &Location) {
        self.waits.retain(|wait| wait.location != *location);
    }

    pub(super) fn sleeping(&mut self, at: Stamp, record: &Sleeping) {
        if self.opens(at, &record.location) {
            self.sleeps.push(SleepView {
                location: record.location.clone(),
                since: at.time,
                until: record.until,
            });
        }
    }

    pub(super) fn child_started(&mut self, at: Stamp, record: &ChildStarted) {
        if self.opens(at, &record.location) && !record.detached {
            self.children.push(ChildView {
                location: record.location.clone(),
                run: record.run.clone(),
                workflow: record.workflow.clone(),
                since: at.time,
                deadline: record.deadline,
                on_close: record.on_close,
            });
        }
    }

    pub(super) fn child_finished(&mut self, record: &ChildFinished) {
        let is_it = |child: &ChildView| {
            child.location == record.location
                && record.run.as_ref().is_none_or(|run| *run == child.run)
        };
        self.children.retain(|child| !is_it(child));
    }

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

    pub(super) fn close_rpc(&mut self, location: &Location) {
        self.rpcs.retain(|rpc| rpc.location != *location);
    }
}
