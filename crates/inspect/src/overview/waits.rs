//! Events, waits, sleeps, rpcs and awaited children.

use everstep_model::record::{
    ChildFinished, ChildStarted, Event, RpcRequested, Sleeping, WaitCompleted, Waiting,
};
use everstep_model::{Location, Name};

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

    /// Returns whether the run waits for an event. An executor that is at work takes an event that
    /// has arrived; until then its wait is open.
    pub(super) fn has_open_wait(&self) -> bool {
        let has_unmet = || !self.unmet_waits().is_empty();
        !self.waits.is_empty() && (!self.woken || has_unmet())
    }

    /// Returns the waits for which no event has arrived.
    pub(crate) fn unmet_waits(&self) -> Vec<&WaitView> {
        let mut at_hand: Vec<&Name> = self.events.iter().map(|event| &event.name).collect();
        let waits = self.waits.iter();
        waits
            .filter(|wait| {
                let met_by = at_hand.iter().position(|name| wait.names.contains(name));
                met_by.map(|position| at_hand.remove(position)).is_none()
            })
            .collect()
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
