//! Which completed steps and children a rollback includes, and which undo is next.
//!
//! What is done is folded from the journal ([`UndoFold`]); this adds what the current execution
//! decides.

use everstep_model::{Body, Failure, UndoMode};

use crate::undo::{Done, Progress, Subject, UndoFold};

#[derive(Debug, Default)]
pub(in crate::replay) struct UndoLog {
    pub(in crate::replay) fold: UndoFold,
    /// Whether the run ends with a rollback of everything.
    all: bool,
    /// Whether the point of no return was passed, so that only undos marked internal run.
    pub(in crate::replay) no_return: bool,
    /// Whether this execution requested a rollback. If not, there is nothing to search for.
    requested: bool,
}

impl UndoLog {
    /// Folds a record. Most kinds change nothing here.
    pub(in crate::replay) fn fold(&mut self, body: &Body) {
        self.no_return |= body.passes_no_return();
        self.fold.fold(body);
    }

    /// Begins a further pass of the function, which has not reached anything yet.
    pub(in crate::replay) fn begin_pass(&mut self) {
        for done in self.fold.done.iter_mut() {
            done.reached = false;
        }
    }

    /// Marks a step or child of an earlier pass whose result this pass takes over.
    pub(in crate::replay) fn mark_reached(&mut self, what: &Subject) {
        if let Some(done) = self.fold.done.get_mut(what) {
            done.reached = true;
        }
    }

    /// Requests a rollback of everything that this pass has reached.
    pub(super) fn want_reached(&mut self) {
        self.requested = true;
        let latest_first = self.fold.done.iter_mut().rev();
        for done in latest_first.take_while(|done| !done.has_failed()) {
            done.wanted |= done.reached;
        }
    }

    /// Sets whether the run ends with a rollback of everything that is done.
    pub(super) fn want_all(&mut self, all: bool) {
        self.all = all;
        self.requested |= all;
    }

    /// Returns what is to be undone, the next one first. An undo that failed for good hides
    /// everything before it.
    pub(super) fn to_undo(&self) -> impl Iterator<Item = &Done> {
        let done = self.requested.then(|| self.fold.done.iter().rev());
        done.into_iter()
            .flatten()
            .take_while(|done| !done.has_failed())
            .filter(|done| self.all || done.wanted)
    }

    pub(super) fn next(&self) -> Option<&Done> {
        self.to_undo().next()
    }

    pub(super) fn next_mut(&mut self) -> Option<&mut Done> {
        let what = self.next()?.what.clone();
        self.fold.done.get_mut(&what)
    }

    /// Returns whether this process executes an undo, or the record of one is not durable yet.
    pub(super) fn has_in_flight(&self) -> bool {
        self.requested && self.fold.done.iter().any(Done::is_in_flight)
    }

    /// Returns whether an undo is skipped because the point of no return was passed.
    pub(super) fn is_passed_over(&self, done: &Done) -> bool {
        self.no_return && done.options.undo != UndoMode::Internal
    }

    pub(super) fn failure(&self) -> Option<&Failure> {
        self.fold.done.iter().find_map(|done| match &done.progress {
            Progress::Failed(failure) => Some(&**failure),
            _ => None,
        })
    }
}
