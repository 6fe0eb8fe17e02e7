//! Changing rows without touching the stream they belong to.

use everstep_model::{StreamNumber, Timestamp};

use super::commit_id::CommitId;
use super::guard::Guard;
use super::row_changes::RowChanges;

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
    /// The rows that change with it.
    pub rows: RowChanges,
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
            rows: RowChanges::default(),
        }
    }

    /// Whether it deletes rows and puts none.
    #[must_use]
    pub fn only_deletes(&self) -> bool {
        self.rows.put.is_empty() && !self.rows.is_empty()
    }
}
