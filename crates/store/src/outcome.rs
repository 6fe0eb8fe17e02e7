//! Outcomes of commits.

use everstep_model::{Entry, RecordNumber, StreamNumber, Timestamp};

use crate::commit::Fence;
use crate::error::StoreError;
use crate::row::Row;

/// The outcome of one commit of a batch.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "plain data")]
pub enum Outcome {
    /// The commit was applied and is durable.
    Committed {
        stream: StreamNumber,
        /// The number of the commit's first record, or of the next record if it has none.
        first: RecordNumber,
        /// For an executor: the records between those that it had seen and `first`, in order. The
        /// executor folds these before its own.
        before: Vec<Entry>,
        /// The fence of the claim, if the commit claimed the run successfully.
        taken: Option<Fence>,
    },
    /// The commit was applied before (same executor sequence or same dedup id); nothing changed
    /// now. The fields describe the original commit as in `Committed`.
    Duplicate {
        stream: StreamNumber,
        first: RecordNumber,
        before: Vec<Entry>,
    },
    /// The commit was refused and changed nothing.
    Refused(Refusal),
}

impl Outcome {
    /// Returns the outcome of a commit that appends no records.
    #[must_use]
    pub fn committed(stream: StreamNumber, next: RecordNumber) -> Self {
        Self::Committed {
            stream,
            first: next,
            before: Vec::new(),
            taken: None,
        }
    }
}

/// The reason why a commit was refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages explain the variants")]
pub enum Refusal {
    #[error("the stream exists as number {0}")]
    Exists(StreamNumber),
    #[error("the stream does not exist")]
    NoStream,
    #[error("the stream is closed")]
    Closed,
    #[error("the stream is not closed")]
    Open,
    /// Another stream has superseded this one.
    #[error("the stream was superseded by another")]
    Superseded,
    /// The stream has more records than the author of the commit has read.
    #[error("the stream ends at record {0}")]
    EndsElsewhere(RecordNumber),
    /// The executor does not hold the run.
    #[error("the fence does not match")]
    Fenced,
    /// The sequence of an executor commit is neither the next nor the last one, or the sender of
    /// the commit has since sent one with a higher number.
    #[error("the commit is out of order")]
    OutOfOrder,
    /// Only an executor may write such a record.
    #[error("an inbox commit may only append inbox records")]
    NotInbox,
    /// `missed` are all records after those that the executor had seen.
    #[error("the inbox holds records the executor has not seen")]
    InboxGrew { missed: Vec<Entry> },
    #[error("the run holds {0} unconsumed events")]
    TooManyEvents(u64),
    #[error("a row exists that must not exist")]
    RowPresent(Box<Row>),
    #[error("a required row does not exist")]
    RowAbsent,
    #[error("a row has changed")]
    RowChanged,
    /// The store's clock has not reached the time of a guard.
    #[error("the store's clock shows {0}")]
    TooEarly(Timestamp),
    /// The stream, or a row that a guard names, cannot be read.
    #[error("the commit cannot be judged: {0}")]
    Unreadable(StoreError),
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        Self::Unreadable(error)
    }
}
