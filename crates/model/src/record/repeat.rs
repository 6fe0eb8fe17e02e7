//! Loops.

use serde::{Deserialize, Serialize};

use crate::codec::codec;
use crate::location::Location;
use crate::offset::{RecordNumber, RecordRange};
use crate::payload::Payload;
use crate::time::Timestamp;

/// Some iterations of a loop, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IterationRange {
    /// The first.
    pub first: u64,
    /// The last.
    pub last: u64,
}
codec!(IterationRange { first, last });

/// Records that are no longer in a journal, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gap {
    /// The first.
    pub first: RecordNumber,
    /// The last.
    pub last: RecordNumber,
    /// The latest time of any of them: the run's time does not go back where they are missing.
    pub time: Timestamp,
}
codec!(Gap { first, last, time });

/// Operations that resolved in an iteration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResolvedInside {
    /// The loop.
    #[serde(rename = "id")]
    pub location: Location,
    /// The iteration.
    pub iteration: u64,
    /// How many.
    pub count: u32,
}
codec!(ResolvedInside {
    location,
    iteration,
    count
});

/// A loop finished an iteration. Gaps in a journal are legal where the last of these that dropped something names
/// them, and nowhere else.
///
/// It belongs to the iteration it begins, and is dropped with it; so whatever a reader must know of everything dropped
/// before is said again by each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LoopAdvanced {
    /// The loop.
    #[serde(rename = "id")]
    pub location: Location,
    /// The iteration that comes next, or the last one if the loop is over.
    pub iteration: u64,
    /// The state it begins with, or what the loop returned.
    pub state: Payload,
    /// Whether the loop is over.
    pub done: bool,
    /// Everything before this record was folded when the iteration began, which was before this was durable.
    pub folded: RecordNumber,
    /// How many operations had resolved since the last of those records was folded, without those in iterations of loops
    /// that this one does not stand in.
    #[serde(default)]
    pub resolved: u32,
    /// The run's time when the iteration began.
    pub now: Timestamp,
    /// Records dropped with this commit.
    #[serde(default)]
    pub dropped: Vec<RecordRange>,
    /// The iterations of this loop that are no longer in the journal.
    #[serde(default)]
    pub gone: Vec<IterationRange>,
    /// How many inbox records of the whole journal were dropped so far.
    #[serde(default)]
    pub inbox_dropped: u64,
    /// Every gap of the whole journal, these included; given by each record that drops something.
    #[serde(default)]
    pub gaps: Vec<Gap>,
    /// Whether the iteration begins only when this record is folded: so much was said before that it had to be durable.
    #[serde(default)]
    pub durable: bool,
    /// Everything before this record was folded when the code first called the loop: nothing of it stands further up.
    #[serde(default)]
    pub began: RecordNumber,
    /// How many had resolved, likewise, in open iterations of other loops: those that are still in the journal resolve
    /// as many before this iteration begins.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resolved_inside: Vec<ResolvedInside>,
    /// Whether undos began, or were passed over, in iterations of the whole journal that were dropped so far.
    #[serde(default)]
    pub undo_begun: bool,
    /// Whether one of them succeeded.
    #[serde(default)]
    pub undone: bool,
    /// Which moment at the place where the iteration began this was, from 0, as in [`TookEffect`](super::TookEffect).
    #[serde(default)]
    pub moment: u32,
    /// How many iterations before this one returned in the same poll of the code, without waiting for anything in between.
    /// A replay that lacks them goes on with this one in the poll in which it comes there.
    #[serde(default)]
    pub at_once: u64,
}
codec!(
    LoopAdvanced {
        location,
        iteration,
        state,
        done,
        folded,
        resolved,
        now,
        dropped,
        gone,
        inbox_dropped,
        gaps,
        durable,
        began
    } + { resolved_inside, undo_begun, undone, moment, at_once }
);
