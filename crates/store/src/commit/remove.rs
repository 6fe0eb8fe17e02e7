//! Removing streams.

use everstep_model::{StreamNumber, Timestamp};

use super::commit_id::CommitId;
use super::guard::Guard;
use super::rows::RowChanges;

/// Removes streams with their records, heads, list rows, dedup ids, rpcs and effects.
///
/// All streams must be closed, except user streams, and the first one must not be superseded.
/// Timers are indexed by time and not by stream, so the commit names those that are left.
#[derive(Clone, Debug, Default)]
pub struct RemoveCommit {
    /// The streams of a run start with its newest generation.
    pub streams: Vec<StreamNumber>,
    pub now: Timestamp,
    pub id: Option<CommitId>,
    /// Only guards on rows and time are judged.
    pub guards: Vec<Guard>,
    /// Rows besides those of the streams. Rows to put keep the stream that they name.
    pub rows: RowChanges,
}

impl RemoveCommit {
    #[must_use]
    pub fn new(streams: Vec<StreamNumber>, now: Timestamp) -> Self {
        Self {
            streams,
            now,
            ..Self::default()
        }
    }
}
