//! Loops.

use serde::{Deserialize, Serialize};

use crate::codec::codec;
use crate::location::Location;
use crate::offset::RecordRange;
use crate::payload::Payload;

/// A loop finished an iteration. Gaps in a journal are legal where this record names them, and nowhere else.
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
    /// Records dropped with this commit.
    #[serde(default)]
    pub dropped: Vec<RecordRange>,
}
codec!(LoopAdvanced {
    location,
    iteration,
    state,
    done,
    dropped
});
