//! Waits for events.

use everstep_model::record::{WaitCompleted, WaitTimedOut, Waiting};
use everstep_model::{Body, Name};

use super::call::Call;
use super::context::{Called, Context};
use super::earlier_passes::Remembered;
use super::event_queue::{EventQueue, WaitCall};
use super::execution::Replay;
use super::operations::{EventTaken, Kind, OpId, Resolution};

impl Call for WaitCall {
    type Output = OpId;
    const RECORD: &'static str = "waiting";

    fn call(self, called: Called, _: &Name, replay: &mut Replay) -> Option<OpId> {
        let cx = &mut replay.context;
        let kind = || Kind::Wait { deadline: None };
        let deadline = match cx.open_decided(&called, Self::RECORD, kind) {
            Err(op) => return op,
            // Recorded again, because the timer of the earlier pass was deleted with that pass.
            Ok(Some(Remembered::Open(_, earlier))) => earlier,
            Ok(_) => self.timeout.map(|timeout| cx.position.deadline(timeout)),
        };
        let location = called.location.clone();
        // A wait that resolves at once records only its result.
        let mut recorded_deadline = None;
        if !self.at_once {
            let waiting = Waiting {
                location: called.location,
                names: self.names.clone(),
                deadline,
                batch: self.batch,
            };
            let Some(Body::Waiting(recorded)) = cx.add_line(waiting, Some(called.site)) else {
                return None;
            };
            recorded_deadline = recorded.deadline;
        }
        let kind = Kind::Wait {
            deadline: recorded_deadline,
        };
        let op = cx.operations.open(location, kind);
        replay.event_queue.wait(op, self);
        Some(op)
    }
}

/// Resolves a wait with events, or without if it does not wait and there are none.
pub(super) fn resolve(op: OpId, events: Vec<EventTaken>, cx: &mut Context) {
    let Some(operation) = cx.operations.get(op) else {
        return;
    };
    let Kind::Wait { deadline } = operation.kind else {
        return;
    };
    let location = operation.location.clone();
    let body: Body = if events.is_empty() {
        WaitTimedOut { location }.into()
    } else {
        WaitCompleted {
            location,
            events: events.iter().map(|event| event.number).collect(),
            deadline,
        }
        .into()
    };
    cx.add_line(body, None);
    cx.operations.resolve(op, Resolution::Events(events));
}

pub(super) fn time_out(op: OpId, event_queue: &mut EventQueue, cx: &mut Context) {
    event_queue.forget(op);
    resolve(op, Vec::new(), cx);
}
