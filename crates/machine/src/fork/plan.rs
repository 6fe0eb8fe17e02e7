//! What to copy, and the result.

use everstep_model::{Generation, Location, Payload, Record, RunId, RunStatus, Seed, Timestamp};

/// What to make of a journal.
#[derive(Clone, Debug, PartialEq)]
pub struct ForkPlan {
    /// The run whose journal is copied, and which life of it.
    pub source: (RunId, Generation),
    /// When that life began.
    pub began: Timestamp,
    /// The run the new journal belongs to, and which life of it.
    pub target: (RunId, Generation),
    /// How much is copied.
    pub extent: ForkExtent,
    /// Who asked.
    pub by: Option<String>,
    /// The time of the copy.
    pub now: Timestamp,
    /// Drawn at random: tells the copy from every other one that has had, or will have, its id.
    pub mark: Seed,
}

/// How much of a journal is copied.
#[derive(Clone, Debug, PartialEq)]
pub enum ForkExtent {
    /// Nothing but how the run began. It gets this version of its workflow, if one is given.
    Beginning(Option<u32>),
    /// Everything before an operation.
    Before {
        /// The operation; a place inside a loop stands for the whole loop.
        at: Location,
        /// The result it is taken to have had, for a step.
        edited: Option<Payload>,
    },
    /// Everything up to where the run is, or was before something ended it.
    End,
    /// Everything but what made it fail, or what ended it.
    Recovered,
    /// Everything but the undo that failed for good.
    RollbackRetried,
}

/// Why a journal cannot be copied so.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CannotFork {
    /// There is no such operation.
    #[error("it has no operation `{0}`")]
    UnknownOperation(Location),
    /// A step that would be copied has no result yet.
    #[error(
        "its step `{0}` began before that place and is still running; wait for its end, or terminate the run first"
    )]
    StillRunning(Location),
    /// Only steps have results that can be edited.
    #[error("`{0}` is no step, so it has no result to edit")]
    NotAStep(Location),
    /// Loops are repeated as a whole.
    #[error("`{0}` is inside a loop, which is repeated as a whole, so its result cannot be edited")]
    InsideLoop(Location),
    /// Records from before the place are missing.
    #[error(
        "not all that came before `{0}` is in its journal any more, because loops keep only their last iterations"
    )]
    Compacted(Location),
    /// A result cannot be edited behind steps that were undone.
    #[error(
        "steps before `{0}` were undone, so a copy begins before them and cannot edit its result; recover the run, or copy it \
         without an edited result"
    )]
    Undone(Location),
    /// Only runs that have ended can be revived.
    #[error("it has not ended")]
    NotEnded,
    /// The run did not end in a way that this applies to.
    #[error("it is {0}")]
    WrongStatus(RunStatus),
    /// The first record is missing.
    #[error("its journal does not begin with `created`")]
    NoBeginning,
}

/// A journal's copy.
#[derive(Clone, Debug, PartialEq)]
pub struct Forked {
    /// Its records, in order; the first is `created`.
    pub records: Vec<Record>,
    /// Whether steps that were undone are done again.
    pub repeats_undone: bool,
}
