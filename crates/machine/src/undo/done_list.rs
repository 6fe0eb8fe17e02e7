//! What is done and not undone, in order, with an index by subject.

use std::collections::BTreeMap;

use everstep_model::Location;

use super::done::Done;
use super::subject::Subject;

/// The order of entries. Later ones are greater.
type Order = i64;

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct DoneList {
    entries: BTreeMap<Order, Done>,
    by_subject: BTreeMap<Subject, Order>,
}

impl DoneList {
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// All entries, the latest last.
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = &Done> {
        self.entries.values()
    }

    pub(super) fn iter_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut Done> {
        self.entries.values_mut()
    }

    pub(super) fn get(&self, what: &Subject) -> Option<&Done> {
        self.entries.get(self.by_subject.get(what)?)
    }

    pub(super) fn get_mut(&mut self, what: &Subject) -> Option<&mut Done> {
        self.entries.get_mut(self.by_subject.get(what)?)
    }

    /// The steps and children at a location.
    pub(super) fn at<'a>(&'a self, location: &'a Location) -> impl Iterator<Item = &'a Subject> {
        let here = self.by_subject.range(Subject::step(location)..);
        here.map(|(what, _)| what)
            .take_while(move |what| what.location == *location)
    }

    /// Adds an entry as the latest one.
    pub(super) fn push(&mut self, done: Done) {
        let order = self
            .entries
            .last_key_value()
            .map_or(0, |(last, _)| last + 1);
        self.insert(order, done);
    }

    /// Adds an entry as the earliest one. Only a planted bug uses this.
    pub(super) fn push_front(&mut self, done: Done) {
        let first = self.entries.first_key_value();
        let order = first.map_or(0, |(first, _)| first - 1);
        self.insert(order, done);
    }

    fn insert(&mut self, order: Order, done: Done) {
        self.by_subject.insert(done.what.clone(), order);
        self.entries.insert(order, done);
    }

    pub(super) fn remove(&mut self, what: &Subject) -> Option<Done> {
        let order = self.by_subject.remove(what)?;
        self.entries.remove(&order)
    }

    pub(super) fn retain(&mut self, is_kept: impl Fn(&Subject) -> bool) {
        self.by_subject.retain(|what, _| is_kept(what));
        self.entries.retain(|_, done| is_kept(&done.what));
    }
}
