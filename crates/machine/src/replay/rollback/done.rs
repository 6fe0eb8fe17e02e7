//! One thing that was done and can be undone: what it was, what its undo will need, and how far undoing it is.

use everstep_model::{Failure, Payload, StepOptions, Timestamp};

use crate::subject::Subject;

/// How far undoing something is.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::replay) enum Progress {
    /// An attempt may begin.
    Due,
    /// The start of an attempt is being written, before it begins.
    Announcing,
    /// The start of an attempt is durable, and nobody has begun it.
    Announced,
    /// An attempt is under way here.
    Running,
    /// Its end is being written.
    Recording,
    /// The next attempt begins when its timer fires.
    Backoff(Timestamp),
    /// It failed for good, and nothing before it is undone either.
    Failed(Box<Failure>),
}

/// A step or child that was done, or of which enough was done to need an undo, and that is not undone.
#[derive(Clone, Debug)]
pub(in crate::replay) struct Done {
    pub(super) what: Subject,
    /// How the step is executed. Of a child only the undo is known here.
    pub(super) options: StepOptions,
    /// The attempt that did it.
    pub(super) attempt: u32,
    /// What it returned; none if it failed after registering a payload.
    pub(super) output: Option<Payload>,
    /// What it registered for its undo.
    pub(super) payload: Option<Payload>,
    pub(super) progress: Progress,
    /// Whether a rollback that the code asked for includes it.
    pub(super) wanted: bool,
    /// Whether this pass of the function has come by.
    pub(super) reached: bool,
    /// The highest attempt to undo it that is recorded or announced.
    pub(super) highest: u32,
    /// Recorded failures; takeovers do not count.
    pub(super) failures: u32,
}

impl Done {
    pub(super) fn has_failed(&self) -> bool {
        matches!(self.progress, Progress::Failed(_))
    }
}
