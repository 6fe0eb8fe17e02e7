//! Loops.

use crate::codec::records;
use crate::location::Location;
use crate::offset::{RecordNumber, RecordRange};
use crate::payload::Payload;
use crate::time::Timestamp;

records! {
    /// A range of iterations, both ends included.
    #[derive(Copy, Eq)]
    pub struct IterationRange {
        pub first: u64,
        pub last: u64,
    }

    /// A range of dropped records, both ends included.
    #[derive(Copy, Eq)]
    pub struct Gap {
        pub first: RecordNumber,
        pub last: RecordNumber,
        /// The latest time of the dropped records, so that the run's time does not go back.
        pub time: Timestamp,
    }

    /// The number of operations that resolved in an iteration.
    #[derive(Eq)]
    pub struct ResolvedInside {
        #[serde(rename = "id")]
        pub location: Location,
        pub iteration: u64,
        pub count: u32,
    }

    /// A loop finished an iteration. A journal may have gaps only where the last of these records
    /// that dropped something names them.
    ///
    /// The record belongs to the iteration that it begins and is dropped with it, so each one
    /// repeats what readers must know about everything dropped before.
    pub struct LoopAdvanced {
        #[serde(rename = "id")]
        pub location: Location,
        /// The next iteration, or the last one if the loop has ended.
        pub iteration: u64,
        /// The state of the next iteration, or the result of the loop.
        pub state: Payload,
        /// Whether the loop has ended.
        pub done: bool,
        /// The records before this one were folded when the iteration began, which was before this
        /// record was durable.
        pub folded: RecordNumber,
        /// The number of operations that had resolved since the last of those records was folded,
        /// except those in iterations of loops that do not contain this one.
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
        /// The number of inbox records of the whole journal that were dropped so far.
        #[serde(default)]
        pub inbox_dropped: u64,
        /// All gaps of the journal, including these. Set by every record that drops something.
        #[serde(default)]
        pub gaps: Vec<Gap>,
        /// Whether the iteration begins only when this record is folded, because too much was not
        /// durable before.
        #[serde(default)]
        pub durable: bool,
        /// The records before this one were folded when the code first called the loop, so all
        /// records of the loop come later.
        #[serde(default)]
        pub began: RecordNumber,
    } + {
        /// The same numbers for open iterations of other loops. On replay, those that are still in
        /// the journal resolve as many operations before this iteration begins.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub resolved_inside: Vec<ResolvedInside>,
        /// Whether undos began or were skipped in iterations that were dropped so far, in the whole
        /// journal.
        #[serde(default)]
        pub undo_begun: bool,
        /// Whether one of these undos succeeded.
        #[serde(default)]
        pub undone: bool,
        /// The order among moments at the same position, counted from 0, as in
        /// [`TookEffect`](super::TookEffect).
        #[serde(default)]
        pub moment: u32,
        /// The number of iterations before this one that returned in the same poll of the code. A
        /// replay without them begins this iteration in the poll in which it reaches the loop.
        #[serde(default)]
        pub at_once: u64,
    }
}
