//! What a judgement needs from a backend, and what it returns.

use everstep_model::{NodeId, Record, RecordNumber, Timestamp};

use crate::commit::Fence;
use crate::head::Head;
use crate::row::{Row, RowKey};

/// Everything except the head that a judgement depends on.
pub trait JudgeContext {
    /// Returns the time by the store's own clock.
    fn now(&self) -> Timestamp;
    /// Returns whether the lease of a node is alive by the store's clock.
    fn is_alive(&self, node: NodeId) -> bool;
    /// Returns a row, including changes by earlier commits of the batch.
    fn row(&self, key: &RowKey) -> Option<Row>;
    /// Returns the first record of the commit that used this dedup id on this stream.
    fn dedup(&self, id: &str) -> Option<RecordNumber>;
}

/// The judgement of a commit that is not refused.
#[derive(Debug, PartialEq)]
#[allow(missing_docs, reason = "plain data")]
pub enum Verdict {
    /// The commit applies.
    Apply {
        /// The head after the commit.
        head: Box<Head>,
        /// The number of the commit's first record.
        first: RecordNumber,
        /// The fence of the claim, if the commit claimed the run.
        taken: Option<Fence>,
    },
    /// The commit was applied before, and this was its first record.
    Duplicate { first: RecordNumber },
}

/// Appends records to a head and returns the number of the first one.
pub(super) fn append(head: &mut Head, records: &[Record]) -> RecordNumber {
    let first = head.next;
    head.next = first.plus(records.len());
    head.frame = head.frame.after(records);
    first
}
