//! Removing streams.

use everstep_model::{StreamNumber, Timestamp};

use super::commit_id::CommitId;
use super::guard::Guard;
use crate::row::{Row, RowKey};
use crate::shared_row::SharedRow;

/// Removes streams with their records, heads, list rows, dedup ids, rpcs and effects.
///
/// All streams must be closed, except user streams, and the first one must not be superseded.
/// Timers are indexed by time and not by stream, so the commit names those that are left.
#[derive(Clone, Debug)]
pub struct RemoveCommit {
    /// The streams. Those of a run start with its newest generation.
    pub streams: Vec<StreamNumber>,
    /// The engine's clock.
    pub now: Timestamp,
    /// See [`super::Commit::id`].
    pub id: Option<CommitId>,
    /// Conditions on rows, judged in order.
    pub guards: Vec<Guard>,
    /// Rows to put, also of other streams. The store fills in nothing.
    pub put: Vec<Row>,
    /// Rows to delete besides those of the streams.
    pub delete: Vec<RowKey>,
    /// Shared rows to delete if they are unchanged. See [`super::Commit::delete_exact`].
    pub delete_exact: Vec<SharedRow>,
}

impl RemoveCommit {
    /// Removes these streams.
    #[must_use]
    pub fn new(streams: Vec<StreamNumber>, now: Timestamp) -> Self {
        Self {
            streams,
            now,
            id: None,
            guards: Vec::new(),
            put: Vec::new(),
            delete: Vec::new(),
            delete_exact: Vec::new(),
        }
    }
}
