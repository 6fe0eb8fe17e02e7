//! What can be undone: the steps and children that were done, in the order they were done, and how far undoing each of
//! them is.
//!
//! The list is a function of the records alone, so that earlier passes of the function, late results of what the code
//! gave up, and a rollback that another process began are all in it. Iterations of loops stay in the journal as long as
//! they hold something that is live here.

use std::collections::BTreeMap;

use everstep_model::planted::{self, Bug};
use everstep_model::record::{ChildFinished, ChildOutcome, ChildStarted, TimerPurpose, UndoFailed};
use everstep_model::{Body, ErrorCode, Failure, Location, Payload, Scope, StepOptions, UndoMode};
use rustc_hash::{FxHashMap, FxHashSet};

use super::done::{Done, Progress, Undoable};

#[derive(Debug, Default)]
pub(in crate::replay) struct UndoLog {
    /// What has an undo and no result yet.
    called: FxHashMap<Location, Undoable>,
    /// What is not undone, the latest last.
    done: Vec<Done>,
    /// The places of what may have to be undone, by scope: what is done, and children that are not over, because they may
    /// complete even if nobody waits for them.
    live: BTreeMap<Scope, FxHashSet<Location>>,
    /// Whether the run ends with a rollback of everything.
    all: bool,
    /// Whether only undos marked internal run.
    no_return: bool,
    /// Whether an undo ever began or was passed over.
    begun: bool,
    /// Whether anything was undone.
    undone: bool,
}

impl UndoLog {
    /// Learns from a record what is done and what is undone. Records about anything else say nothing here.
    pub(in crate::replay) fn learn(&mut self, body: &Body) {
        match body {
            Body::StepStarted(r) => {
                if let Some(options) = r.options.filter(|options| !options.undo.is_none()) {
                    let step = Undoable {
                        options,
                        child: None,
                    };
                    self.called.insert(r.location.clone(), step);
                }
            }
            Body::ChildStarted(r) => self.child_started(r),
            Body::ChildFinished(r) => self.child_finished(r),
            Body::StepCompleted(r) => {
                self.add(&r.location, r.attempt, Some(&r.result), r.undo.as_ref());
            }
            // The operator says that the step was done, and with which result. A skipped one was not done.
            Body::StepEdited(r) => self.add(&r.location, 0, Some(&r.result), None),
            Body::StepFailed(r) if r.undo.is_some() => {
                self.add(&r.location, r.attempt, None, r.undo.as_ref());
            }
            Body::NoReturn(_) => self.no_return = true,
            Body::UndoStarted(r) => self.started(&r.location, r.attempt),
            Body::UndoCompleted(r) => {
                self.remove(&r.location);
                self.undone = true;
            }
            Body::UndoSkipped(r) => self.remove(&r.location),
            Body::UndoFailed(r) => self.failed(r),
            Body::TimerFired(r) if r.purpose == TimerPurpose::Undo => {
                let done = r.location.as_ref().and_then(|at| self.at_mut(at));
                if let Some(done) = done.filter(|done| done.progress == Progress::Backoff(r.due)) {
                    done.progress = Progress::Due;
                }
            }
            _ => {}
        }
    }

    /// A later pass may start another child in the place of one that was given up: then this is the one that counts.
    fn child_started(&mut self, record: &ChildStarted) {
        if record.undo.is_none() {
            if self.called.remove(&record.location).is_some() {
                self.settle(&record.location);
            }
            return;
        }
        let child = Undoable {
            options: StepOptions {
                undo: record.undo,
                ..StepOptions::default()
            },
            child: Some(record.run.clone()),
        };
        self.called.insert(record.location.clone(), child);
        self.may_be_undone(&record.location);
    }

    /// A child that failed or was cancelled has undone itself what it did.
    fn child_finished(&mut self, record: &ChildFinished) {
        let location = &record.location;
        let called = self.called.get(location);
        let Some(started) = called.and_then(|called| called.child.as_ref()) else {
            return;
        };
        if record.run.as_ref().is_some_and(|run| run != started) {
            return;
        }
        match &record.outcome {
            ChildOutcome::Completed(output) => self.add(location, 1, Some(output), None),
            ChildOutcome::Failed(_) | ChildOutcome::Cancelled(_) => {
                self.called.remove(location);
                if self.at(location).is_none() {
                    self.settle(location);
                }
            }
        }
    }

    fn add(
        &mut self,
        location: &Location,
        attempt: u32,
        output: Option<&Payload>,
        payload: Option<&Payload>,
    ) {
        let Some(what) = self.called.get(location).cloned() else {
            return;
        };
        let earlier = self.done.iter().position(|done| done.location == *location);
        let earlier = earlier.map(|index| self.done.remove(index));
        if output.is_some() {
            self.called.remove(location);
        }
        self.may_be_undone(location);
        let place = match planted::is(Bug::UndoOrderReversed) {
            true => 0,
            false => self.done.len(),
        };
        let done = Done {
            location: location.clone(),
            what,
            attempt,
            output: output.cloned(),
            // What an earlier attempt registered may still need undoing.
            payload: payload
                .cloned()
                .or_else(|| earlier.and_then(|done| done.payload)),
            progress: Progress::Due,
            wanted: false,
            reached: true,
            highest: 0,
            failures: 0,
        };
        self.done.insert(place, done);
    }

    fn started(&mut self, location: &Location, attempt: u32) {
        self.begun = true;
        if let Some(done) = self.at_mut(location) {
            done.highest = done.highest.max(attempt);
            if done.progress == Progress::Announcing && done.highest == attempt {
                done.progress = Progress::Announced;
            }
        }
    }

    fn failed(&mut self, record: &UndoFailed) {
        let Some(done) = self.at_mut(&record.location) else {
            return;
        };
        done.failures += 1;
        done.highest = done.highest.max(record.attempt);
        if let Some(retry_at) = record.retry_at {
            done.progress = Progress::Backoff(retry_at);
            return;
        }
        let message = format!(
            "{} `{}` could not be undone: {}",
            done.what.word(),
            record.location,
            record.error.message
        );
        let failure = Failure::new(ErrorCode::UndoFailed, message).caused_by(record.error.clone());
        done.progress = Progress::Failed(Box::new(failure));
        // The chain stops here.
        for done in &mut self.done {
            done.wanted = false;
        }
    }

    fn remove(&mut self, location: &Location) {
        self.begun = true;
        self.done.retain(|done| done.location != *location);
        self.settle(location);
    }

    fn may_be_undone(&mut self, location: &Location) {
        let places = self.live.entry(location.scope.clone()).or_default();
        places.insert(location.clone());
    }

    fn settle(&mut self, location: &Location) {
        if let Some(places) = self.live.get_mut(&location.scope) {
            places.remove(location);
            if places.is_empty() {
                self.live.remove(&location.scope);
            }
        }
    }

    /// Whether anything inside this scope may have to be undone.
    pub(in crate::replay) fn has_live_in(&self, scope: &Scope) -> bool {
        let mut from_here = self.live.range(scope.clone()..);
        from_here
            .next()
            .is_some_and(|(inner, _)| inner.is_within(scope))
    }

    /// An iteration is gone, and nothing in it was live.
    pub(in crate::replay) fn forget(&mut self, scope: &Scope) {
        self.called
            .retain(|location, _| !location.scope.is_within(scope));
    }

    /// How many calls it remembers.
    #[cfg(test)]
    pub(in crate::replay) fn called(&self) -> usize {
        self.called.len()
    }

    pub(super) fn pass_no_return(&mut self) {
        self.no_return = true;
    }

    /// A further pass of the function begins: it has come by nothing yet.
    pub(in crate::replay) fn begin_pass(&mut self) {
        for done in &mut self.done {
            done.reached = false;
        }
    }

    /// This pass takes over the result of a step that an earlier one did.
    pub(in crate::replay) fn reach(&mut self, location: &Location) {
        if let Some(done) = self.at_mut(location) {
            done.reached = true;
        }
    }

    /// The code asks for a rollback: it includes what this pass knows to be done.
    pub(super) fn want_reached(&mut self) {
        let latest_first = self.done.iter_mut().rev();
        for done in latest_first.take_while(|done| !done.has_failed()) {
            done.wanted |= done.reached;
        }
    }

    /// Whether the run ends with a rollback, which includes everything that is done.
    pub(super) fn want_all(&mut self, all: bool) {
        self.all = all;
    }

    /// What is to be undone, the next one first; nothing from an undo on that failed for good.
    pub(super) fn to_undo(&self) -> impl Iterator<Item = &Done> {
        let latest_first = self.done.iter().rev();
        latest_first
            .take_while(|done| !done.has_failed())
            .filter(|done| self.all || done.wanted)
    }

    pub(super) fn next(&self) -> Option<&Done> {
        self.to_undo().next()
    }

    /// The one that is being undone here, or whose end is not durable yet.
    pub(super) fn in_flight(&self) -> Option<&Done> {
        self.done.iter().find(|done| match done.progress {
            Progress::Announcing | Progress::Running | Progress::Recording => true,
            Progress::Due | Progress::Announced | Progress::Backoff(_) | Progress::Failed(_) => {
                false
            }
        })
    }

    pub(super) fn next_mut(&mut self) -> Option<&mut Done> {
        let location = self.next()?.location.clone();
        self.at_mut(&location)
    }

    pub(super) fn at(&self, location: &Location) -> Option<&Done> {
        self.done.iter().rfind(|done| done.location == *location)
    }

    pub(super) fn at_mut(&mut self, location: &Location) -> Option<&mut Done> {
        self.done
            .iter_mut()
            .rfind(|done| done.location == *location)
    }

    /// What is not undone, in the order it was done.
    pub(in crate::replay) fn live(&self) -> impl DoubleEndedIterator<Item = &Done> {
        self.done.iter()
    }

    /// Whether an undo is passed over because of the point of no return.
    pub(super) fn is_passed_over(&self, done: &Done) -> bool {
        self.no_return && done.what.options.undo != UndoMode::Internal
    }

    /// Why the last rollback could not go on.
    pub(super) fn failure(&self) -> Option<&Failure> {
        self.done.iter().find_map(|done| match &done.progress {
            Progress::Failed(failure) => Some(&**failure),
            _ => None,
        })
    }

    pub(super) fn has_begun(&self) -> bool {
        self.begun
    }

    pub(super) fn has_undone(&self) -> bool {
        self.undone
    }
}
