//! The fold: what can be undone, in the order in which it was done, and whether the run rolls back.
//!
//! It is a function of the records alone, so it includes results of earlier passes of the function,
//! late results of operations that the code abandoned, and rollbacks that another process began.

use std::collections::BTreeMap;

use everstep_model::planted::{self, Bug};
use everstep_model::record::{
    ChildFinished, ChildOutcome, ChildStarted, LoopAdvanced, TimerFired, TimerPurpose, UndoFailed,
};
use everstep_model::{Body, ErrorCode, Failure, Location, Payload, Scope, Segment, StepOptions};
use rustc_hash::FxHashSet;

use super::done::{self, Done, DoneList, Progress};
use super::subject::Subject;

/// The undo state of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UndoFold {
    /// Steps and children that have an undo and no result yet.
    called: BTreeMap<Subject, StepOptions>,
    /// What is done and not undone, the latest last.
    pub(crate) done: DoneList,
    undone: FxHashSet<Subject>,
    /// What may have to be undone, by scope: everything in `done`, and children that have not
    /// ended, because they may complete even if the run no longer waits for them.
    live: BTreeMap<Scope, FxHashSet<Subject>>,
    /// Whether an undo ever began or was skipped.
    pub(crate) has_begun: bool,
    /// Whether anything was undone.
    pub(crate) has_undone: bool,
    pub(super) is_rolling_back: bool,
    end_requested: bool,
    /// Whether the results and payloads that undos receive are left out.
    is_without_arguments: bool,
}

impl UndoFold {
    /// Takes in the next record. Most kinds change nothing here.
    pub fn fold(&mut self, body: &Body) {
        self.end_requested |= requests_end(body);
        match body {
            Body::StepStarted(r) => {
                if let Some(options) = r.options.filter(|options| !options.undo.is_none()) {
                    self.called.insert(Subject::step(&r.location), options);
                }
            }
            Body::ChildStarted(r) => self.child_started(r),
            Body::ChildFinished(r) => self.child_finished(r),
            // An edited step counts as done; a skipped step does not.
            Body::StepEdited(r) => self.step_done(&r.location, 0, Some(&r.result), None),
            Body::StepCompleted(r) => {
                self.step_done(&r.location, r.attempt, Some(&r.result), r.undo.as_ref());
            }
            Body::StepFailed(r) if r.undo.is_some() => {
                self.step_done(&r.location, r.attempt, None, r.undo.as_ref());
            }
            Body::UndoStarted(r) => self.undo_started(body, r.attempt),
            Body::UndoCompleted(_) | Body::UndoSkipped(_) => self.undo_ended(body),
            Body::UndoFailed(r) => self.undo_failed(body, r),
            Body::TimerFired(r) if r.purpose == TimerPurpose::Undo => self.retry_due(r),
            Body::LoopAdvanced(r) if !r.dropped.is_empty() => self.forget_dropped(r),
            _ => {}
        }
        self.is_rolling_back = match body {
            Body::UndoStarted(_) => true,
            Body::UndoFailed(record) => record.retry_at.is_some(),
            Body::UndoCompleted(_) | Body::UndoSkipped(_) => !self.done.is_empty(),
            // Code may leave a rollback without writing anything, because it waits for something it
            // called before. The run then counts as rolling back until nothing is left to undo.
            body => self.is_rolling_back && !body.goes_forward(),
        };
    }

    /// Forgets the results and payloads that undos receive, and keeps none from now on. Readers
    /// that run no undos do not need them.
    pub fn forget_arguments(&mut self) {
        if !std::mem::replace(&mut self.is_without_arguments, true) {
            for done in self.done.iter_mut() {
                (done.output, done.payload) = (None, None);
            }
        }
    }

    /// Returns whether this record, which comes next, ends a pause because it requests the end of
    /// the run. Later requests, and requests during a rollback, change nothing.
    #[must_use]
    pub fn ends_pause(&self, body: &Body) -> bool {
        requests_end(body) && !self.end_requested && !self.is_rolling_back
    }

    /// Returns whether one of these records, which follow in the journal, ends a pause: it resumes
    /// or ends the run, or requests its end.
    pub(crate) fn ends_pause_ahead<'a>(
        &self,
        ahead: impl Iterator<Item = &'a Body> + Clone,
    ) -> bool {
        let resumes = |body: &Body| {
            matches!(body, Body::Resumed(_) | Body::ResumeRequested(_)) || body.terminal().is_some()
        };
        if ahead.clone().any(resumes) {
            return true;
        }
        // Only the first request counts.
        let Some(request) = ahead.clone().position(requests_end) else {
            return false;
        };
        let mut before = ahead.take(request).peekable();
        if self.end_requested || before.peek().is_none() {
            return !self.end_requested && !self.is_rolling_back;
        }
        let mut then = self.clone();
        before.for_each(|body| then.fold(body));
        !then.is_rolling_back
    }

    /// Returns whether a rollback has begun and something is left to undo.
    #[must_use]
    pub fn is_rolling_back(&self) -> bool {
        self.is_rolling_back
    }

    /// Returns whether this was undone, according to the journal.
    #[must_use]
    pub fn is_undone(&self, what: &Subject) -> bool {
        self.undone.contains(what)
    }

    /// Adds a child. A later pass may start another child where an earlier pass abandoned one. That
    /// one may still complete, so each of them is undone on its own.
    fn child_started(&mut self, record: &ChildStarted) {
        let child = Subject::child(&record.location, &record.run);
        if record.undo.is_none() {
            // A later pass waits for the same child, and no longer undoes it.
            if self.called.remove(&child).is_some() {
                self.remove_live(&child);
            }
            return;
        }
        let options = StepOptions {
            undo: record.undo,
            ..StepOptions::default()
        };
        self.add_live(&child);
        self.called.insert(child, options);
    }

    /// Takes in the end of a child. A child that failed or was cancelled has rolled itself back.
    fn child_finished(&mut self, record: &ChildFinished) {
        let is_it = |child: &&Subject| {
            child.child.is_some() && (record.run.is_none() || child.child == record.run)
        };
        let child = done::at(&self.called, &record.location).find(is_it);
        let Some(child) = child.cloned() else {
            return;
        };
        match &record.outcome {
            ChildOutcome::Completed(output) => self.add(child, 1, Some(output), None),
            ChildOutcome::Failed(_) | ChildOutcome::Cancelled(_) => {
                self.called.remove(&child);
                if self.done.get(&child).is_none() {
                    self.remove_live(&child);
                }
            }
        }
    }

    fn step_done(
        &mut self,
        step: &Location,
        attempt: u32,
        output: Option<&Payload>,
        payload: Option<&Payload>,
    ) {
        // Most runs have no undos.
        if !self.called.is_empty() {
            self.add(Subject::step(step), attempt, output, payload);
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
        let earlier = self.done.remove(&what);
        if output.is_some() {
            self.called.remove(&what);
        }
        self.add_live(&what);
        // The payload that an earlier attempt registered may still need undoing.
        let payload = payload
            .cloned()
            .or_else(|| earlier.and_then(|done| done.payload));
        let is_kept = !self.is_without_arguments;
        let done = Done {
            what,
            options,
            attempt,
            output: output.filter(|_| is_kept).cloned(),
            payload: payload.filter(|_| is_kept),
            progress: Progress::Due,
            highest: 0,
            failures: 0,
            wanted: false,
            reached: true,
        };
        match planted::is(Bug::UndoOrderReversed) {
            true => self.done.push_front(done),
            false => self.done.push(done),
        }
    }

    fn undo_started(&mut self, body: &Body, attempt: u32) {
        self.has_begun = true;
        if let Some(done) = self.named_by_mut(body) {
            done.highest = done.highest.max(attempt);
            if done.progress == Progress::Announcing && done.highest == attempt {
                done.progress = Progress::Announced;
            }
        }
    }

    fn undo_failed(&mut self, body: &Body, record: &UndoFailed) {
        let Some(done) = self.named_by_mut(body) else {
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
        // A rollback stops at the first undo that fails for good.
        for done in self.done.iter_mut() {
            done.wanted = false;
        }
    }

    fn undo_ended(&mut self, body: &Body) {
        self.has_begun = true;
        let Some(what) = self.subject_of(body) else {
            return;
        };
        self.done.remove(&what);
        self.remove_live(&what);
        if matches!(body, Body::UndoCompleted(_)) {
            self.has_undone = true;
            self.undone.extend(Subject::of(body));
        }
    }

    /// Makes a retry due. A timer does not name the child it is for, so the due time decides.
    fn retry_due(&mut self, record: &TimerFired) {
        let Some(location) = &record.location else {
            return;
        };
        for what in self.done.at(location).cloned().collect::<Vec<_>>() {
            if let Some(done) = self.done.get_mut(&what)
                && done.progress == Progress::Backoff(record.due)
            {
                done.progress = Progress::Due;
            }
        }
    }

    /// Forgets dropped iterations. They contain nothing that may have to be undone.
    fn forget_dropped(&mut self, record: &LoopAdvanced) {
        let iterations = record.location.inner_scope();
        let depth = iterations.segments().len();
        self.forget_where(|scope| {
            let Some(Segment::Iteration(iteration)) = scope.segments().get(depth) else {
                return false;
            };
            let mut gone = record.gone.iter();
            scope.is_within(&iterations)
                && gone.any(|range| (range.first..=range.last).contains(iteration))
        });
    }

    /// Returns the entry that an undo record is about.
    pub(crate) fn named_by(&self, body: &Body) -> Option<&Done> {
        self.done.get(&self.subject_of(body)?)
    }

    /// Returns whether anything inside this scope may have to be undone.
    pub(crate) fn has_live_in(&self, scope: &Scope) -> bool {
        let next = self.live.range(scope.clone()..).next();
        next.is_some_and(|(inner, _)| inner.is_within(scope))
    }

    /// Returns whether children that can be undone have not ended.
    pub(crate) fn has_open_children(&self) -> bool {
        self.called.keys().any(|what| what.child.is_some())
    }

    #[cfg(test)]
    pub(crate) fn called(&self) -> impl Iterator<Item = &Subject> {
        self.called.keys()
    }

    /// Forgets an iteration that is being dropped. Nothing in it is live.
    pub(crate) fn forget(&mut self, iteration: &Scope) {
        self.forget_where(|scope| scope.is_within(iteration));
    }

    fn forget_where(&mut self, is_gone: impl Fn(&Scope) -> bool) {
        let is_kept = |what: &Subject| !is_gone(&what.location.scope);
        self.called.retain(|what, _| is_kept(what));
        self.undone.retain(&is_kept);
        self.done.retain(is_kept);
        self.live.retain(|scope, _| !is_gone(scope));
    }

    fn add_live(&mut self, what: &Subject) {
        let scope = what.location.scope.clone();
        self.live.entry(scope).or_default().insert(what.clone());
    }

    fn remove_live(&mut self, what: &Subject) {
        let scope = &what.location.scope;
        if let Some(live) = self.live.get_mut(scope) {
            live.remove(what);
            if live.is_empty() {
                self.live.remove(scope);
            }
        }
    }

    /// Returns the subject of an undo record. Records of children did not name their run at first,
    /// when a location had one child at most.
    fn subject_of(&self, body: &Body) -> Option<Subject> {
        let named = Subject::of(body)?;
        if named.child.is_some() || self.done.get(&named).is_some() {
            return Some(named);
        }
        let child = self.done.at(&named.location).next().cloned();
        Some(child.unwrap_or(named))
    }

    fn named_by_mut(&mut self, body: &Body) -> Option<&mut Done> {
        let what = self.subject_of(body)?;
        self.done.get_mut(&what)
    }
}

/// Returns whether a record requests the end of the run.
pub(crate) fn requests_end(body: &Body) -> bool {
    match body {
        Body::CancelRequested(_) | Body::DeadlinePassed(_) => true,
        Body::ForcedFailure(forced) => forced.location.is_none(),
        _ => false,
    }
}
