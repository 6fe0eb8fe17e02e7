//! Changing rows without touching the stream they belong to.

use everstep_model::{StreamNumber, Timestamp};

use super::commit_id::CommitId;
use super::guard::Guard;
use crate::row::{Row, RowKey};
use crate::shared_row::SharedRow;

/// Changes rows and leaves the stream itself as it is.
///
/// A closed user stream accepts it. A closed run accepts it if it only deletes, because rows that a
/// run left behind are cleared after its end. For the same reason it may delete rows of a stream
/// that no longer exists.
#[derive(Clone, Debug)]
pub struct RowsCommit {
    /// The stream that the rows belong to.
    pub stream: StreamNumber,
    /// The engine's clock.
    pub now: Timestamp,
    /// See [`super::Commit::id`].
    pub id: Option<CommitId>,
    /// Conditions, judged in order.
    pub guards: Vec<Guard>,
    /// Rows to put. See [`super::Commit::put`].
    pub put: Vec<Row>,
    /// Rows to delete. See [`super::Commit::delete`].
    pub delete: Vec<RowKey>,
    /// Shared rows to delete if they are unchanged. See [`super::Commit::delete_exact`].
    pub delete_exact: Vec<SharedRow>,
}

impl RowsCommit {
    /// A change without rows.
    #[must_use]
    pub fn new(stream: StreamNumber, now: Timestamp) -> Self {
        Self {
            stream,
            now,
            id: None,
            guards: Vec::new(),
            put: Vec::new(),
            delete: Vec::new(),
            delete_exact: Vec::new(),
        }
    }

    /// Whether it deletes rows and puts none.
    #[must_use]
    pub fn only_deletes(&self) -> bool {
        let deletes = !self.delete.is_empty() || !self.delete_exact.is_empty();
        deletes && self.put.is_empty()
    }
}
