//! Waits for events.

use std::time::Duration;

use everstep_model::record::{WaitCompleted, WaitTimedOut, Waiting};
use everstep_model::{Body, Name};

use super::context::{Called, Context, Earlier};
use super::earlier_passes::Remembered;
use super::mailbox::{Mailbox, Wanted};
use super::operations::{EventTaken, Kind, OpId, Resolution};

/// A call of a wait for events.
#[derive(Clone, Debug)]
pub struct WaitCall {
    /// The wait takes events of any of these names.
    pub names: Vec<Name>,
    /// The maximum number of events that it takes.
    pub batch: u32,
    /// Whether it resolves at once if there are no events.
    pub at_once: bool,
    /// How long it waits.
    pub timeout: Option<Duration>,
}

pub(super) fn call(
    called: Called,
    wait: WaitCall,
    mailbox: &mut Mailbox,
    cx: &mut Context,
) -> Option<OpId> {
    let location = called.location.clone();
    let deadline = match cx.earlier(&location) {
        Earlier::Known(Remembered::Resolved("waiting", resolution)) => {
            let (operations, kind) = (&mut cx.operations, Kind::Wait { deadline: None });
            return Some(operations.open_resolved(location, kind, resolution));
        }
        // Recorded again, because the timer of the earlier pass was deleted with that pass.
        Earlier::Known(Remembered::Waiting(earlier)) => earlier,
        Earlier::Known(other) => {
            cx.halt_on_other(&called, "waiting", &other);
            return None;
        }
        Earlier::Refused => return Some(cx.open_refused(location)),
        Earlier::Unknown => wait.timeout.map(|timeout| cx.position.deadline(timeout)),
    };
    let wanted = Wanted {
        names: wait.names,
        batch: usize::try_from(wait.batch).unwrap_or(usize::MAX).max(1),
        at_once: wait.at_once,
    };
    // A wait that resolves at once records only its result.
    let mut recorded_deadline = None;
    if !wanted.at_once {
        let waiting = Waiting {
            location: called.location,
            names: wanted.names.clone(),
            deadline,
            batch: wait.batch,
        };
        let Some(Body::Waiting(recorded)) = cx.say(waiting, Some(called.site)) else {
            return None;
        };
        recorded_deadline = recorded.deadline;
    }
    let kind = Kind::Wait {
        deadline: recorded_deadline,
    };
    let op = cx.operations.open(location, kind);
    mailbox.wait(op, wanted);
    Some(op)
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
    cx.say(body, None);
    cx.operations.resolve(op, Resolution::Events(events));
}

pub(super) fn time_out(op: OpId, mailbox: &mut Mailbox, cx: &mut Context) {
    mailbox.forget(op);
    resolve(op, Vec::new(), cx);
}
