//! What the engine sends to an activation.

use everstep_model::{Entry, Failure, Record, RecordNumber};

/// A message of the engine to an activation.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// The append is durable. The activation folds `before`, then its own records from `first` on.
    Appended {
        /// Number of the append's first record.
        first: RecordNumber,
        /// Records that were committed before the append and that the activation did not know.
        before: Vec<Entry>,
        /// The append's own records.
        records: Vec<Record>,
    },
    /// The store refused a guarded append. The activation folds `came` and decides again.
    Missed {
        /// Inbox records that the activation did not know.
        came: Vec<Entry>,
        /// The append's own records, which were not written.
        records: Vec<Record>,
    },
    /// The records of the append may not be written, for this reason. The activation parks the run.
    Refused(Box<Failure>),
    /// The journal has more records to read.
    Grew,
    /// A suspended run has work again, and this activation holds the claim: read on.
    Resumed,
    /// The claim or the store is lost: drop everything.
    Lost,
    /// The engine needs the memory: drop the run when it is suspended.
    Evict,
    /// The engine shuts down: finish the steps in flight, begin none, release the run.
    Stop,
}
