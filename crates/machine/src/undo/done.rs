//! One thing that is done and can be undone: the arguments of its undo, and how far the undo is.

use everstep_model::{Failure, Payload, StepOptions, Timestamp};

use super::subject::Subject;

/// How far an undo is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Progress {
    /// An attempt may begin.
    Due,
    /// The start of an attempt is being written; the attempt begins when it is durable.
    Announcing,
    /// The start of an attempt is durable, and the attempt has not begun.
    Announced,
    /// This process executes an attempt.
    Running,
    /// The result of an attempt is being written.
    Recording,
    /// The next attempt begins when its timer fires.
    Backoff(Timestamp),
    /// No attempt is left. What was done earlier is not undone either.
    Failed(Box<Failure>),
}

/// A step or child that is not undone, and that completed or failed after it registered a payload for its undo.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Done {
    pub(crate) what: Subject,
    /// The options of the step. For a child only `undo` is set.
    pub(crate) options: StepOptions,
    /// The attempt that completed, or that registered the payload.
    pub(crate) attempt: u32,
    /// The result; `None` if the step failed after it registered a payload.
    pub(crate) output: Option<Payload>,
    /// The payload that the step registered for its undo.
    pub(crate) payload: Option<Payload>,
    pub(crate) progress: Progress,
    /// The highest attempt of the undo that is recorded or announced.
    pub(crate) highest: u32,
    /// The number of recorded failures of the undo. Attempts that a crash cut short do not count.
    pub(crate) failures: u32,
    /// Set by replay: a rollback that the code requested includes it.
    pub(crate) wanted: bool,
    /// Set by replay: the current pass of the function has reached it.
    pub(crate) reached: bool,
}

impl Done {
    pub(crate) fn has_failed(&self) -> bool {
        matches!(self.progress, Progress::Failed(_))
    }
}
