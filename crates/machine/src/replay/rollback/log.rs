//! Which of the things that are done a rollback includes, and which undo is next.
//!
//! What is done is folded from the journal ([`UndoFold`]); this adds what the current execution decides.

use everstep_model::{Body, Failure, UndoMode};

use crate::undo::{Done, Progress, Subject, UndoFold};

#[derive(Debug, Default)]
pub(super) struct UndoLog {
    pub(super) fold: UndoFold,
    /// Whether the run ends with a rollback of everything.
    all: bool,
    /// Whether the point of no return was passed, so that only undos marked internal run.
    no_return: bool,
    /// Whether this execution requested a rollback. If not, there is nothing to search for.
    requested: bool,
}

impl UndoLog {
    /// Folds a record. Most kinds change nothing here.
    pub(super) fn fold(&mut self, body: &Body) {
        self.no_return |= matches!(body, Body::NoReturn(_));
        self.fold.fold(body);
    }

    pub(super) fn pass_no_return(&mut self) {
        self.no_return = true;
    }

    /// A further pass of the function begins; it has not reached anything yet.
    pub(super) fn begin_pass(&mut self) {
        for done in self.fold.done_mut() {
            done.reached = false;
        }
    }

    /// This pass takes over the result of a step or child of an earlier pass.
    pub(super) fn reach(&mut self, what: &Subject) {
        if let Some(done) = self.fold.get_mut(what) {
            done.reached = true;
        }
    }

    /// Requests a rollback of everything that this pass has reached.
    pub(super) fn want_reached(&mut self) {
        self.requested = true;
        let latest_first = self.fold.done_mut().rev();
        for done in latest_first.take_while(|done| !done.has_failed()) {
            done.wanted |= done.reached;
        }
    }

    /// Sets whether the run ends with a rollback of everything that is done.
    pub(super) fn want_all(&mut self, all: bool) {
        self.all = all;
        self.requested |= all;
    }

    /// What is to be undone, the next one first. An undo that failed for good hides everything before it.
    pub(super) fn to_undo(&self) -> impl Iterator<Item = &Done> {
        let done = self.requested.then(|| self.fold.done().rev());
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
        self.fold.get_mut(&what)
    }

    /// The undo that this process executes, or whose result is not durable yet.
    pub(super) fn in_flight(&self) -> Option<&Done> {
        let mut done = self.requested.then(|| self.fold.done())?;
        done.find(|done| match done.progress {
            Progress::Announcing | Progress::Running | Progress::Recording => true,
            Progress::Due | Progress::Announced | Progress::Backoff(_) | Progress::Failed(_) => {
                false
            }
        })
    }

    /// Whether an undo is skipped because the point of no return was passed.
    pub(super) fn is_passed_over(&self, done: &Done) -> bool {
        self.no_return && done.options.undo != UndoMode::Internal
    }

    /// Why the last rollback stopped.
    pub(super) fn failure(&self) -> Option<&Failure> {
        self.fold.done().find_map(|done| match &done.progress {
            Progress::Failed(failure) => Some(&**failure),
            _ => None,
        })
    }
}
