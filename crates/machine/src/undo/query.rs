//! Queries of replay.

use everstep_model::{Body, Scope};

use super::done::Done;
use super::fold::UndoFold;
use super::subject::Subject;

impl UndoFold {
    /// What is done and not undone, the latest last.
    pub(crate) fn done(&self) -> impl DoubleEndedIterator<Item = &Done> {
        self.done.iter()
    }

    pub(crate) fn done_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut Done> {
        self.done.iter_mut()
    }

    pub(crate) fn has_done(&self) -> bool {
        !self.done.is_empty()
    }

    pub(crate) fn get(&self, what: &Subject) -> Option<&Done> {
        self.done.get(what)
    }

    pub(crate) fn get_mut(&mut self, what: &Subject) -> Option<&mut Done> {
        self.done.get_mut(what)
    }

    /// The entry that an undo record is about.
    pub(crate) fn named_by(&self, body: &Body) -> Option<&Done> {
        self.get(&self.subject_of(body)?)
    }

    /// Whether anything inside this scope may have to be undone.
    pub(crate) fn has_live_in(&self, scope: &Scope) -> bool {
        let mut from_here = self.live.range(scope.clone()..);
        from_here
            .next()
            .is_some_and(|(inner, _)| inner.is_within(scope))
    }

    /// Whether children that can be undone have not ended.
    pub(crate) fn has_open_children(&self) -> bool {
        self.called.keys().any(|what| what.child.is_some())
    }

    /// Whether an undo ever began or was skipped.
    pub(crate) fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// Whether anything was undone.
    pub(crate) fn has_undone(&self) -> bool {
        self.has_undone
    }

    #[cfg(test)]
    pub(crate) fn called(&self) -> impl Iterator<Item = &Subject> {
        self.called.keys()
    }

    #[cfg(test)]
    pub(super) fn is_rolling_back(&self) -> bool {
        self.is_rolling_back
    }
}
