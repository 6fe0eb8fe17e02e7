//! What can be undone: the steps and children that were done, in the order they were done, and how far undoing each of
//! them is.
//!
//! The list is a function of the records alone, so that earlier passes of the function, late results of what the code
//! gave up, and a rollback that another process began are all in it. Iterations of loops stay in the journal as long as
//! they hold something that is live here.

use std::collections::BTreeMap;

use everstep_model::planted::{self, Bug};
use everstep_model::record::{ChildFinished, ChildOutcome, ChildStarted, TimerPurpose, UndoFailed};
use everstep_model::{Body, ErrorCode, Failure, Payload, Scope, StepOptions, UndoMode};
use rustc_hash::{FxHashMap, FxHashSet};

use super::done::{Done, Progress};
use crate::subject::Subject;

#[derive(Debug, Default)]
pub(in crate::replay) struct UndoLog {
    /// What has an undo and no result yet.
    called: FxHashMap<Subject, StepOptions>,
    /// What is not undone, the latest last.
    done: Vec<Done>,
    /// What may have to be undone, by scope: what is done, and children that are not over, because they may complete even
    /// if nobody waits for them.
    live: BTreeMap<Scope, FxHashSet<Subject>>,
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
                    self.called.insert(Subject::step(&r.location), options);
                }
            }
            Body::ChildStarted(r) => self.child_started(r),
            Body::ChildFinished(r) => self.child_finished(r),
            // Most runs have no undos.
            Body::StepCompleted(_) if self.called.is_empty() => {}
            Body::StepCompleted(r) => {
                let step = Subject::step(&r.location);
                self.add(step, r.attempt, Some(&r.result), r.undo.as_ref());
            }
            // The operator says that the step was done, and with which result. A skipped one was not done.
            Body::StepEdited(r) => {
                self.add(Subject::step(&r.location), 0, Some(&r.result), None);
            }
            Body::StepFailed(r) if r.undo.is_some() => {
                let step = Subject::step(&r.location);
                self.add(step, r.attempt, None, r.undo.as_ref());
            }
            Body::NoReturn(_) => self.no_return = true,
            Body::UndoStarted(r) => self.started(body, r.attempt),
            Body::UndoCompleted(_) => {
                self.remove(body);
                self.undone = true;
            }
            Body::UndoSkipped(_) => self.remove(body),
            Body::UndoFailed(r) => self.failed(body, r),
            Body::TimerFired(r) if r.purpose == TimerPurpose::Undo => {
                let all = self.done.iter_mut();
                let here = all.filter(|done| Some(&done.what.location) == r.location.as_ref());
                for done in here.filter(|done| done.progress == Progress::Backoff(r.due)) {
                    done.progress = Progress::Due;
                }
            }
            _ => {}
        }
    }

    /// A later pass may start another child in the place of one that was given up. That one may still complete: each of them
    /// is undone for itself.
    fn child_started(&mut self, record: &ChildStarted) {
        let child = Subject::child(&record.location, &record.run);
        if record.undo.is_none() {
            // A later pass waits for the same child, and does not undo it any more.
            if self.called.remove(&child).is_some() {
                self.settle(&child);
            }
            return;
        }
        let options = StepOptions {
            undo: record.undo,
            ..StepOptions::default()
        };
        self.may_be_undone(&child);
        self.called.insert(child, options);
    }

    /// A child that failed or was cancelled has undone itself what it did.
    fn child_finished(&mut self, record: &ChildFinished) {
        let is_it = |child: &&Subject| {
            child.location == record.location
                && child.child.is_some()
                && (record.run.is_none() || child.child == record.run)
        };
        let Some(child) = self.called.keys().find(is_it).cloned() else {
            return;
        };
        match &record.outcome {
            ChildOutcome::Completed(output) => self.add(child, 1, Some(output), None),
            ChildOutcome::Failed(_) | ChildOutcome::Cancelled(_) => {
                self.called.remove(&child);
                if self.at(&child).is_none() {
                    self.settle(&child);
                }
            }
        }
    }

    fn add(
        &mut self,
        what: Subject,
        attempt: u32,
        output: Option<&Payload>,
        payload: Option<&Payload>,
    ) {
        let Some(options) = self.called.get(&what).copied() else {
            return;
        };
        let earlier = self.done.iter().position(|done| done.what == what);
        let earlier = earlier.map(|index| self.done.remove(index));
        if output.is_some() {
            self.called.remove(&what);
        }
        self.may_be_undone(&what);
        let place = match planted::is(Bug::UndoOrderReversed) {
            true => 0,
            false => self.done.len(),
        };
        let done = Done {
            what,
            options,
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

    fn started(&mut self, body: &Body, attempt: u32) {
        self.begun = true;
        if let Some(done) = self.told_of_mut(body) {
            done.highest = done.highest.max(attempt);
            if done.progress == Progress::Announcing && done.highest == attempt {
                done.progress = Progress::Announced;
            }
        }
    }

    fn failed(&mut self, body: &Body, record: &UndoFailed) {
        let Some(done) = self.told_of_mut(body) else {
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

    fn remove(&mut self, body: &Body) {
        self.begun = true;
        if let Some(what) = self.subject_of(body) {
            self.done.retain(|done| done.what != what);
            self.settle(&what);
        }
    }

    fn may_be_undone(&mut self, what: &Subject) {
        let scope = what.location.scope.clone();
        self.live.entry(scope).or_default().insert(what.clone());
    }

    fn settle(&mut self, what: &Subject) {
        let scope = &what.location.scope;
        if let Some(live) = self.live.get_mut(scope) {
            live.remove(what);
            if live.is_empty() {
                self.live.remove(scope);
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
            .retain(|what, _| !what.location.scope.is_within(scope));
    }

    /// How many calls it remembers.
    #[cfg(test)]
    pub(in crate::replay) fn called(&self) -> usize {
        self.called.len()
    }

    /// Whether children that can be undone are not over.
    pub(super) fn has_open_children(&self) -> bool {
        self.called.keys().any(|what| what.child.is_some())
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

    /// This pass takes over the result of a step or child of an earlier one.
    pub(in crate::replay) fn reach(&mut self, what: &Subject) {
        if let Some(done) = self.at_mut(what) {
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
        let what = self.next()?.what.clone();
        self.at_mut(&what)
    }

    fn at(&self, what: &Subject) -> Option<&Done> {
        self.done.iter().find(|done| done.what == *what)
    }

    pub(super) fn at_mut(&mut self, what: &Subject) -> Option<&mut Done> {
        self.done.iter_mut().find(|done| done.what == *what)
    }

    /// What a record about an undo is about.
    pub(super) fn told_of(&self, body: &Body) -> Option<&Done> {
        self.at(&self.subject_of(body)?)
    }

    fn told_of_mut(&mut self, body: &Body) -> Option<&mut Done> {
        let what = self.subject_of(body)?;
        self.at_mut(&what)
    }

    /// What a record about an undo is about. Records of children once did not name their run: there was one child in a place.
    fn subject_of(&self, body: &Body) -> Option<Subject> {
        let told = Subject::of(body)?;
        if told.child.is_some() || self.at(&told).is_some() {
            return Some(told);
        }
        let here = |done: &&Done| done.what.location == told.location;
        let child = self.done.iter().find(here);
        Some(child.map_or(told.clone(), |child| child.what.clone()))
    }

    /// What is not undone, in the order it was done.
    pub(in crate::replay) fn live(&self) -> impl DoubleEndedIterator<Item = &Done> {
        self.done.iter()
    }

    /// Whether an undo is passed over because of the point of no return.
    pub(super) fn is_passed_over(&self, done: &Done) -> bool {
        self.no_return && done.options.undo != UndoMode::Internal
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
