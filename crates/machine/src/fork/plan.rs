//! The request for a copy, and its result.

#![allow(
    missing_docs,
    reason = "plain data; fields are explained where their names do not"
)]

use everstep_model::{Generation, Location, Payload, Record, RunId, RunStatus, Seed, Timestamp};

/// A request to copy a journal.
#[derive(Clone, Debug, PartialEq)]
pub struct ForkPlan {
    /// The run and generation to copy.
    pub source: (RunId, Generation),
    /// When that generation was created.
    pub began: Timestamp,
    /// The run and generation of the copy.
    pub target: (RunId, Generation),
    pub extent: ForkExtent,
    pub by: Option<String>,
    pub now: Timestamp,
    /// A random number that distinguishes the copy from all other runs with its id.
    pub mark: Seed,
}

/// How much of a journal is copied.
#[derive(Clone, Debug, PartialEq)]
pub enum ForkExtent {
    /// Only the record `created`, with this workflow version if one is given.
    Beginning(Option<u32>),
    /// Everything before an operation.
    Before {
        /// The operation. A location inside a loop means the whole loop.
        at: Location,
        /// For a step: the result that the copy assigns to it.
        edited: Option<Payload>,
    },
    /// Everything up to the current state of the run, or to its state before it was ended.
    End,
    /// Everything but the failures or requests that ended the run.
    Recovered,
    /// Everything but the undo that failed for good.
    RollbackRetried,
}

/// Why a journal cannot be copied as requested.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CannotFork {
    #[error("it has no operation `{0}`")]
    UnknownOperation(Location),
    /// A step that would be copied has no result yet.
    #[error(
        "its step `{0}` began before that operation and is still running; wait for its end, or terminate the run first"
    )]
    StillRunning(Location),
    /// Only steps have results that can be edited.
    #[error("`{0}` is not a step, so it has no result to edit")]
    NotAStep(Location),
    /// Loops are repeated as a whole.
    #[error("`{0}` is inside a loop, which is repeated as a whole, so its result cannot be edited")]
    InsideLoop(Location),
    /// Compaction has dropped records before the location.
    #[error(
        "its journal no longer contains everything before `{0}`, because loops keep only their last iterations"
    )]
    Compacted(Location),
    /// The result of a step cannot be edited after steps that were undone.
    #[error(
        "steps before `{0}` were undone, so a copy begins before them and cannot edit its result; recover the run, or copy it \
         without an edited result"
    )]
    Undone(Location),
    /// Only runs that have ended can be revived.
    #[error("it has not ended")]
    NotEnded,
    /// The request does not apply to runs that ended like this.
    #[error("it is {0}")]
    WrongStatus(RunStatus),
    #[error("its journal does not begin with `created`")]
    NoBeginning,
}

/// The copy of a journal.
#[derive(Clone, Debug, PartialEq)]
pub struct Forked {
    /// In order; the first is `created`.
    pub records: Vec<Record>,
    /// Whether the copy repeats steps that were undone.
    pub repeats_undone: bool,
}
