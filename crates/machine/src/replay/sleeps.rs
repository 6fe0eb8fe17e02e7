//! Sleeps.

use std::time::Duration;

use everstep_model::record::Sleeping;
use everstep_model::{Body, Timestamp};

use super::context::{Called, Context, Earlier};
use super::earlier_passes::Remembered;
use super::operations::{Kind, OpId};

/// A call of a sleep.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "plain data")]
pub enum SleepCall {
    For(Duration),
    Until(Timestamp),
}

pub(super) fn call(called: Called, sleep: SleepCall, cx: &mut Context) -> Option<OpId> {
    let location = called.location.clone();
    let mut until = match sleep {
        SleepCall::For(duration) => cx.position.deadline(duration),
        SleepCall::Until(until) => until,
    };
    match cx.earlier(&location) {
        Earlier::Known(Remembered::Resolved("sleeping", resolution)) => {
            let (operations, kind) = (&mut cx.operations, Kind::Sleep { until });
            return Some(operations.open_resolved(location, kind, resolution));
        }
        // Recorded again, because the timer of the earlier pass was deleted with that pass.
        Earlier::Known(Remembered::Sleeping(earlier)) => until = earlier,
        Earlier::Known(other) => {
            cx.halt_on_other(&called, "sleeping", &other);
            return None;
        }
        Earlier::Refused => return Some(cx.open_refused(location)),
        Earlier::Unknown => {}
    }
    let sleeping = Sleeping {
        location: called.location,
        until,
    };
    let Some(Body::Sleeping(recorded)) = cx.say(sleeping, Some(called.site)) else {
        return None;
    };
    let until = recorded.until;
    Some(cx.operations.open(location, Kind::Sleep { until }))
}
