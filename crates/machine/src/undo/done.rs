//! What is done and can be undone: the arguments of each undo, and its progress.

use std::collections::BTreeMap;

use everstep_model::{Failure, Location, Payload, StepOptions, Timestamp};

use super::subject::Subject;

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

/// A step or child that is not undone, and that completed or failed after it registered a payload
/// for its undo.
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

    /// Returns whether this process executes an attempt of the undo, or its record is not durable
    /// yet.
    pub(crate) fn is_in_flight(&self) -> bool {
        match self.progress {
            Progress::Announcing | Progress::Running | Progress::Recording => true,
            Progress::Due | Progress::Announced | Progress::Backoff(_) | Progress::Failed(_) => {
                false
            }
        }
    }
}

/// The order of entries. Later ones are greater.
type Order = i64;

/// Everything that is done and not undone, in order, with an index by subject.
#[derive(Clone, Debug, Default)]
pub(crate) struct DoneList {
    entries: BTreeMap<Order, Done>,
    by_subject: BTreeMap<Subject, Order>,
}

/// Lists with the same entries in the same order are equal. Their internal positions depend on what
/// was removed before.
impl PartialEq for DoneList {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl DoneList {
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns all entries, the latest last.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &Done> {
        self.entries.values()
    }

    pub(crate) fn iter_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut Done> {
        self.entries.values_mut()
    }

    pub(crate) fn get(&self, what: &Subject) -> Option<&Done> {
        self.entries.get(self.by_subject.get(what)?)
    }

    pub(crate) fn get_mut(&mut self, what: &Subject) -> Option<&mut Done> {
        self.entries.get_mut(self.by_subject.get(what)?)
    }

    /// Returns the steps and children at a location.
    pub(super) fn at<'a>(&'a self, location: &'a Location) -> impl Iterator<Item = &'a Subject> {
        at(&self.by_subject, location)
    }

    /// Adds an entry as the latest one.
    pub(super) fn push(&mut self, done: Done) {
        let last = self.entries.last_key_value();
        let order = last.map_or(0, |(last, _)| last + 1);
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

/// Returns the subjects at a location among the keys of a map. The step sorts before the children.
pub(super) fn at<'a, T>(
    map: &'a BTreeMap<Subject, T>,
    location: &'a Location,
) -> impl Iterator<Item = &'a Subject> {
    let from_here = map.range(Subject::step(location)..);
    from_here
        .map(|(what, _)| what)
        .take_while(move |what| what.location == *location)
}
