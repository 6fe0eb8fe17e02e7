//! Outcomes of commits.

use everstep_model::{Entry, RecordNumber, StreamNumber, Timestamp};

use crate::commit::Fence;
use crate::error::StoreError;
use crate::row::Row;

/// The outcome of one commit of a batch.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The commit was applied and is durable.
    Committed {
        /// The stream.
        stream: StreamNumber,
        /// The number of its first record, or of the next record if it has none.
        first: RecordNumber,
        /// For an executor: the records between those that it had seen and `first`, in order. Fold
        /// these first.
        before: Vec<Entry>,
        /// The right that it claimed, if the claim succeeded.
        taken: Option<Fence>,
    },
    /// It was applied before (same executor sequence or same dedup id); nothing changed now.
    Duplicate {
        /// The stream.
        stream: StreamNumber,
        /// The number of the original's first record.
        first: RecordNumber,
        /// As in `Committed`.
        before: Vec<Entry>,
    },
    /// It was refused and changed nothing.
    Refused(Refusal),
}

/// The reason why a commit was refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Refusal {
    /// The stream to create exists.
    #[error("the stream exists as number {0}")]
    Exists(StreamNumber),
    /// The stream does not exist.
    #[error("the stream does not exist")]
    NoStream,
    /// The stream is closed.
    #[error("the stream is closed")]
    Closed,
    /// The stream is not closed, and must be.
    #[error("the stream is not closed")]
    Open,
    /// Another stream has superseded this one.
    #[error("another stream has taken its place")]
    Superseded,
    /// The stream has more records than the author has read.
    #[error("the stream ends at record {0}")]
    EndsElsewhere(RecordNumber),
    /// The executor does not hold the run.
    #[error("the fence does not match")]
    Fenced,
    /// An executor's sequence is neither the next nor the last one, or a commit's number is lower
    /// than what its node has sent since.
    #[error("the commit comes out of order")]
    OutOfOrder,
    /// Only an executor may write such a record.
    #[error("an inbox commit may only append inbox records")]
    NotInbox,
    /// The inbox holds records that the executor has not seen.
    #[error("the inbox holds records the executor has not seen")]
    InboxGrew {
        /// All records after those that it had seen.
        missed: Vec<Entry>,
    },
    /// The run holds as many unconsumed events as allowed.
    #[error("the run holds {0} unconsumed events")]
    TooManyEvents(u64),
    /// A row that must not exist does.
    #[error("a row exists that must not")]
    RowPresent(Box<Row>),
    /// A row that must exist does not.
    #[error("a row does not exist that must")]
    RowAbsent,
    /// A row is not what the author has read.
    #[error("a row has changed")]
    RowChanged,
    /// The store's clock, which shows this time, has not reached the time of a guard.
    #[error("the store's clock shows {0}")]
    TooEarly(Timestamp),
    /// The stream, or a row that a guard names, cannot be read.
    #[error("it cannot be judged: {0}")]
    Unreadable(StoreError),
}
