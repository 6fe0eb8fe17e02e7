//! The rows that a commit changes.

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
    /// the commit where they ask for it.
    pub put: Vec<Row>,
    /// Rows to delete. Deleting a row that does not exist is no error.
    pub delete: Vec<RowKey>,
    /// Shared rows to delete, each only if the stored row is equal. A row that differs stays, and
    /// the rest of the commit applies.
    pub delete_exact: Vec<SharedRow>,
}

impl RowChanges {
    #[must_use]
    #[allow(missing_docs, reason = "the name says it")]
    pub fn is_empty(&self) -> bool {
        self.put.is_empty() && self.delete.is_empty() && self.delete_exact.is_empty()
    }
}
