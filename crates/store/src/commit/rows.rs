//! Changes of rows: as a part of any commit, and as a commit that leaves its stream unchanged.

use everstep_model::{StreamNumber, Timestamp};

use super::commit_id::CommitId;
use super::guard::Guard;
use crate::row::{Row, RowKey};
use crate::shared_row::SharedRow;

/// The rows that a commit changes. Deletions come before puts, so a row that is named in both is
/// replaced.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowChanges {
    /// Rows to insert or replace.
    ///
    /// They belong to the stream of the commit: the store fills in its number, which the author of
    /// a creation cannot know, and the end of a producer's append. Only a stream row that names a
    /// stream keeps that number. Shared rows belong to no stream; the store fills in the time of
    /// the commit where they request it.
    pub put: Vec<Row>,
    /// Rows to delete. Deleting a row that does not exist is no error.
    pub delete: Vec<RowKey>,
    /// Shared rows to delete, each only if the stored row is equal. A row that differs stays, and
    /// the rest of the commit applies.
    pub delete_exact: Vec<SharedRow>,
}

impl RowChanges {
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.put.is_empty() && self.delete.is_empty() && self.delete_exact.is_empty()
    }
}

/// Changes rows and leaves the stream itself as it is.
///
/// A closed user stream accepts it. A closed run accepts it if it only deletes, because rows that a
/// run left behind are cleared after its end. For the same reason it may delete rows of a stream
/// that no longer exists.
#[derive(Clone, Debug, Default)]
pub struct RowsCommit {
    /// The stream that the rows belong to.
    pub stream: StreamNumber,
    pub now: Timestamp,
    pub id: Option<CommitId>,
    pub guards: Vec<Guard>,
    pub rows: RowChanges,
}

impl RowsCommit {
    #[must_use]
    pub fn new(stream: StreamNumber, now: Timestamp) -> Self {
        Self {
            stream,
            now,
            ..Self::default()
        }
    }

    /// Returns whether the commit deletes rows and puts none.
    #[must_use]
    pub fn only_deletes(&self) -> bool {
        self.rows.put.is_empty() && !self.rows.is_empty()
    }
}
