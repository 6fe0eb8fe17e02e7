//! What a judgement needs from a backend, and what it returns.

use everstep_model::{NodeId, RecordNumber, Timestamp};

use crate::commit::Fence;
use crate::head::Head;
use crate::outcome::Refusal;
use crate::row::{Row, RowKey};

/// Everything except the head that a judgement depends on.
pub trait JudgeContext {
    /// The store's own clock.
    fn now(&self) -> Timestamp;
    /// Whether the lease of a node is alive by the store's clock.
    fn is_alive(&self, node: NodeId) -> bool;
    /// A row, including changes by earlier commits of the batch.
    fn row(&self, key: &RowKey) -> Option<Row>;
    /// The first record of the commit that used this dedup id on this stream.
    fn dedup(&self, id: &str) -> Option<RecordNumber>;
}

/// The judgement of a commit that may change a head.
#[derive(Debug, PartialEq)]
pub enum Verdict {
    /// The commit applies.
    Apply {
        /// The head after the commit.
        head: Box<Head>,
        /// The number of its first record.
        first: RecordNumber,
        /// The right that it claimed.
        taken: Option<Fence>,
    },
    /// It has been applied before.
    Duplicate {
        /// The first record of the original.
        first: RecordNumber,
    },
    /// The inbox holds more than the executor has seen: refuse with all records from here on.
    InboxGrew {
        /// The number of records that the author knows.
        seen: RecordNumber,
    },
    /// The commit is refused.
    Refuse(Refusal),
}
