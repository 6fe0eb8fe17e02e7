//! What an activation writes: records, together with what they mean for the run.

use everstep_machine::{LeftChild, Obsolete};
use everstep_model::{Record, RecordNumber, RunStatus};

/// What an append means for the run.
///
/// "Guarded" means that the store refuses the append if the inbox contains records that the
/// execution did not know when it decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// The run continues.
    Continue,
    /// The run continues with this status. Guarded.
    GoOnAs(RunStatus),
    /// The run waits for its inbox. Guarded.
    Suspend(RunStatus),
    /// The run is parked until an operator acts. Guarded.
    Park(RunStatus),
    /// The run returns to the queue, so that another node can continue it.
    Release,
    /// The executor was lost. The run returns to the queue; activations without progress are
    /// counted.
    Abandon,
    /// The run has ended. Guarded.
    End(RunStatus),
    /// The run has ended because of a record that its journal already contains.
    EndAnyway(RunStatus),
}

/// Records to write. At most one append of an activation is in flight.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "plain data")]
pub struct Append {
    pub records: Vec<Record>,
    pub then: Then,
    /// Number of records that the execution knows.
    pub seen: RecordNumber,
    /// Number of inbox records that the execution knows, for guarded appends.
    pub inbox_seen: u64,
    /// Whether the append resolves an operation or records a failed attempt.
    pub progress: bool,
    /// Rows to delete because their operations have ended.
    pub obsolete: Vec<Obsolete>,
    /// Children that the run no longer waits for.
    pub left: Vec<LeftChild>,
}
