//! Rows of what the run waits for: events, sleeps, children and rpcs. A row is deleted when its
//! operation ends for whatever reason, such as an answer, a timeout, a lost race, or the end of the
//! run.

use std::collections::BTreeMap;

use bytes::Bytes;
use everstep_inspect::Overview;
use everstep_model::{Body, Entry, Location, Name, Payload, RpcId, Timestamp};
use everstep_protocol::workflow::WaitKind;
use serde::Serialize;

use super::audience::Audience;
use super::change::{Operation, changed, deleted};
use super::row_key::key_of;

/// A wait for an event, a sleep, or a child that the run waits for.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WaitRow<'a> {
    id: &'a Location,
    kind: WaitKind,
    /// The name of the wait or sleep, or the workflow of the child.
    name: &'a Name,
    events: &'a [Name],
    since: Timestamp,
    deadline: Option<Timestamp>,
}

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

/// The operation of a row. The order is the order of the rows of one record.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Open {
    Wait(Location),
    Rpc(RpcId),
}

/// The rows that exist, by their operations.
#[derive(Default)]
pub(super) struct OpenRows {
    keys: BTreeMap<Open, String>,
}

impl OpenRows {
    /// Returns the changes of these rows that follow from a record, which the overview contains.
    pub(super) fn changes(
        &mut self,
        entry: &Entry,
        overview: &Overview,
        audience: &Audience,
    ) -> Vec<Bytes> {
        if is_never_about_waits(&entry.record.body) {
            return Vec::new();
        }
        let waits = waits(overview, audience);
        let rpcs = overview.rpcs.iter();
        let rpcs = rpcs.filter(|rpc| audience.sees_rpc(&rpc.method));
        let keys = waits.iter();
        let keys = keys.map(|wait| (Open::Wait(wait.id.clone()), key_of(wait.id)));
        let keys = keys.chain(rpcs.map(|rpc| {
            let id = rpc.rpc_id.clone();
            (Open::Rpc(id.clone()), id.0.to_string())
        }));
        let before = std::mem::replace(&mut self.keys, keys.collect());
        let mut changes = Vec::new();
        let ended = before
            .iter()
            .filter(|(open, _)| !self.keys.contains_key(open));
        changes.extend(ended.filter_map(|(open, key)| deleted(entry, row_type(open), key)));
        let began = waits.iter().filter(|wait| {
            let open = Open::Wait(wait.id.clone());
            !before.contains_key(&open)
        });
        changes.extend(began.filter_map(|wait| {
            let insert = Operation::Insert;
            changed(entry, "wait", &key_of(wait.id), insert, wait)
        }));
        if let Body::RpcRequested(request) = &entry.record.body {
            let open = Open::Rpc(request.rpc_id.clone());
            if self.keys.contains_key(&open) && !before.contains_key(&open) {
                let row = RpcRow {
                    id: &request.rpc_id,
                    method: &request.method,
                    args: &request.args,
                    deadline: request.deadline,
                    schema: request.schema.as_ref(),
                    asked_at: entry.record.time,
                };
                changes.extend(changed(
                    entry,
                    "rpc",
                    &request.rpc_id.0,
                    Operation::Insert,
                    row,
                ));
            }
        }
        changes
    }
}

fn row_type(open: &Open) -> &'static str {
    match open {
        Open::Wait(_) => "wait",
        Open::Rpc(_) => "rpc",
    }
}

/// Returns the open waits that the readers see. Which children a run has is not shown to clients.
fn waits<'a>(overview: &'a Overview, audience: &Audience) -> Vec<WaitRow<'a>> {
    let mut waits = Vec::new();
    waits.extend(overview.waits.iter().map(|wait| WaitRow {
        id: &wait.location,
        kind: WaitKind::Event,
        name: &wait.location.name,
        events: &wait.names,
        since: wait.since,
        deadline: wait.deadline,
    }));
    waits.extend(overview.sleeps.iter().map(|sleep| WaitRow {
        id: &sleep.location,
        kind: WaitKind::Sleep,
        name: &sleep.location.name,
        events: &[],
        since: sleep.since,
        deadline: Some(sleep.until),
    }));
    let children = overview.children.iter().filter(|_| !audience.is_client());
    waits.extend(children.map(|child| WaitRow {
        id: &child.location,
        kind: WaitKind::Child,
        name: &child.workflow,
        events: &[],
        since: child.since,
        deadline: child.deadline,
    }));
    waits
}

/// Whether a record of this kind neither opens nor closes a wait or rpc. These kinds are frequent.
fn is_never_about_waits(body: &Body) -> bool {
    matches!(
        body,
        Body::Event(_)
            | Body::StepStarted(_)
            | Body::StepCompleted(_)
            | Body::StepFailed(_)
            | Body::StateChanged(_)
            | Body::Emitted(_)
            | Body::Note(_)
            | Body::Sent(_)
            | Body::Replied(_)
            | Body::AttributeSet(_)
    )
}
