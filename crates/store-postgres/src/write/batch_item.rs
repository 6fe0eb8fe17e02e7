//! Commits and their places in a batch.

use everstep_store::Commit;

use crate::number::count;

/// A commit and its place in the batch.
pub(crate) type BatchItem<'a> = (usize, &'a Commit);

/// Identifies a plain commit in its call: its number or, below zero, its place if it has none.
pub(crate) fn label((at, commit): BatchItem<'_>) -> i64 {
    let number = commit.id().map(|id| count(id.number));
    number.unwrap_or_else(|| -count(at as u64) - 1)
}
