//! Sleeps.

use std::time::Duration;

use everstep_model::record::Sleeping;
use everstep_model::{Body, Name, Timestamp};

use super::call::Call;
use super::context::Called;
use super::earlier_passes::Remembered;
use super::execution::Replay;
use super::operations::{Kind, OpId};

/// A call of a sleep.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "plain data")]
pub enum SleepCall {
    For(Duration),
    Until(Timestamp),
}

impl Call for SleepCall {
    type Output = OpId;
    const RECORD: &'static str = "sleeping";

    fn call(self, called: Called, _: &Name, replay: &mut Replay) -> Option<OpId> {
        let cx = &mut replay.context;
        let until = match self {
            Self::For(duration) => cx.position.deadline(duration),
            Self::Until(until) => until,
        };
        let until = match cx.open_decided(&called, Self::RECORD, || Kind::Sleep { until }) {
            Err(op) => return op,
            // Recorded again, because the timer of the earlier pass was deleted with that pass.
            Ok(Some(Remembered::Open(_, Some(earlier)))) => earlier,
            Ok(_) => until,
        };
        let sleeping = Sleeping {
            location: called.location,
            until,
        };
        let Some(Body::Sleeping(recorded)) = cx.add_line(sleeping, Some(called.site)) else {
            return None;
        };
        let Sleeping { location, until } = recorded;
        Some(cx.operations.open(location, Kind::Sleep { until }))
    }
}
