//! Rollback: undoing what is done, the latest first, one at a time.
//!
//! A rollback is asked for by the code (`ctx.rollback()`), or by the executor when the run ends with an error. What it
//! undoes is in the log (`log.rs`); which undo is next follows from the journal, and what became of it is a record. A
//! rollback that was asked for goes on even if nobody awaits it any more, and even if the code has returned.
//!
//! The first record of a rollback that ends the run also decides as what it ends: requests that come later change
//! nothing. What the code asked for itself decides nothing, whenever it is undone.

mod log;

#[cfg(test)]
mod tests;

use everstep_model::planted::{self, Bug};
use everstep_model::record::{NoReturn, UndoCompleted, UndoFailed, UndoSkipped, UndoStarted};
use everstep_model::{
    Body, Entry, Failure, Location, Payload, RetryPolicy, RunId, Scope, StepOptions, Timestamp,
};

use super::control::Pause;
use super::divergence::{CallSite, Divergence, Halt};
use super::operation::{Kind, Obsolete, OpId, Resolution};
use super::{Phase, Replay};
use crate::retry::{FailureClass, after_step_failure};
use crate::undo::{Done, Progress, Subject};
pub(super) use log::UndoLog;

/// Where the rollbacks of an execution stand.
#[derive(Debug, Default)]
pub(super) struct Rollback {
    pub(super) log: UndoLog,
    /// The code's own calls that have not resolved, and where they stand. One that the code gave up stays among them: it
    /// waited all the same.
    calls: Vec<(OpId, Scope)>,
    /// Why the latest rollback was asked for.
    reason: Option<Failure>,
    /// Whether the journal says as what the run ends.
    ending: bool,
}

/// What is to be done for the rollbacks that were asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UndoState {
    /// Nothing, or nothing any more.
    Over,
    /// The next undo may begin.
    Due,
    /// An undo is under way here, or its end is not durable yet.
    InFlight,
    /// The next attempt begins when its timer fires.
    Waiting,
}

/// An attempt to undo a step or child that begins now.
#[derive(Clone, Debug, PartialEq)]
pub struct UndoStart {
    /// The step or child.
    pub location: Location,
    /// The run, if it is a child.
    pub child: Option<RunId>,
    /// Which attempt to undo it, from 1.
    pub attempt: u32,
    /// Recorded failures so far.
    pub failures: u32,
    /// How the step was executed; of a child nothing but its undo.
    pub options: StepOptions,
    /// The attempt that did the step; a child is its own first.
    pub step_attempt: u32,
    /// What the step or child returned; none if a step failed after registering a payload.
    pub output: Option<Payload>,
    /// What the step registered for its undo.
    pub payload: Option<Payload>,
    /// Why the run rolls back.
    pub failure: Failure,
}

impl Replay {
    /// The code rolls back what is done, and goes on when that is over.
    pub fn call_rollback(
        &mut self,
        scope: &Scope,
        reason: Failure,
        site: CallSite,
    ) -> Option<OpId> {
        let name = self.names.internal("__rollback").ok()?;
        let location = self.call(scope, &name, "rollback", site)?;
        if self.cancel.is_some() {
            return Some(self.open_refused(location));
        }
        self.rollback.log.want_reached();
        self.rollback.reason = Some(reason);
        let op = self.operations.open(location, Kind::Rollback);
        self.rollback.calls.push((op, scope.clone()));
        self.settle_rollbacks();
        Some(op)
    }

    /// From here on only undos marked internal run.
    pub fn no_return(&mut self, scope: &Scope, site: CallSite) {
        self.write(scope, "__no_return", site, |location| {
            NoReturn { location }.into()
        });
        self.rollback.log.pass_no_return();
    }

    /// Whether the run, as things stand, ends with a rollback of everything that is done, and why.
    pub fn end_with_rollback(&mut self, reason: Option<Failure>) {
        self.rollback.log.want_all(reason.is_some());
        if reason.is_some() {
            self.rollback.reason = reason;
        }
    }

    /// What is to be done for the rollbacks that were asked for.
    #[must_use]
    pub fn undo_state(&self) -> UndoState {
        let log = &self.rollback.log;
        if log.in_flight().is_some() {
            return UndoState::InFlight;
        }
        match log.next().map(|next| &next.progress) {
            None => UndoState::Over,
            Some(Progress::Backoff(_)) => UndoState::Waiting,
            Some(_) => UndoState::Due,
        }
    }

    /// What will be undone, the next one first.
    fn to_run(&self) -> impl Iterator<Item = &Done> {
        let log = &self.rollback.log;
        log.to_undo().filter(|done| !log.is_passed_over(done))
    }

    /// The divergence of code that does not know how to undo something that its journal says can be undone.
    pub fn undo_missing(&self, is_given: impl Fn(&Location) -> bool) -> Option<Divergence> {
        let missing = self.to_run().find(|done| !is_given(&done.what.location))?;
        let what = &missing.what;
        let detail = format!(
            "the {} is to be undone, and the code gives no undo for it",
            what.word()
        );
        let recorded = (what.first_record(), what.location.clone());
        Some(undo_divergence(recorded, detail))
    }

    /// Why the last rollback could not undo everything, if it could not.
    #[must_use]
    pub fn rollback_failure(&self) -> Option<&Failure> {
        self.rollback.log.failure()
    }

    /// Whether anything was undone.
    #[must_use]
    pub fn has_undone(&self) -> bool {
        self.rollback.log.fold.has_undone() || self.loops.kept.has_dropped_undone()
    }

    /// Whether an undo ever began: results that a further pass of the function would rely on may not hold any more.
    #[must_use]
    pub fn has_begun_undoing(&self) -> bool {
        self.rollback.log.fold.has_begun() || self.loops.kept.has_dropped_undos()
    }

    /// Whether the journal says as what the run ends, so that nothing that comes can change it.
    #[must_use]
    pub fn ending_is_decided(&self) -> bool {
        self.rollback.ending
    }

    /// Whether what is undone next was asked for by code that has returned meanwhile.
    #[must_use]
    pub fn next_undo_is_own(&self) -> bool {
        self.phase == Phase::Returned && self.rollback.log.next().is_some_and(|next| next.wanted)
    }

    /// Whether nothing that comes can matter any more: it is decided as what the run ends, and no child is left that would have
    /// to be undone if it completed.
    #[must_use]
    pub fn is_beyond_change(&self) -> bool {
        self.rollback.ending && !self.rollback.log.fold.has_open_children()
    }

    /// The record that begins the rollback of a run that ends, and so decides as what it ends.
    pub fn announce_rollback(&mut self) -> Option<Body> {
        let log = &mut self.rollback.log;
        let is_passed_over = log.next().is_some_and(|next| log.is_passed_over(next));
        let next = log.next_mut()?;
        if is_passed_over {
            next.progress = Progress::Recording;
            return Some(skipped(&next.what));
        }
        next.progress = Progress::Announcing;
        Some(started(&next.what, next.highest + 1))
    }

    /// What [`Self::announce_rollback`] gave was not written.
    pub fn retract_rollback(&mut self) {
        if let Some(next) = self.rollback.log.next_mut()
            && matches!(next.progress, Progress::Announcing | Progress::Recording)
        {
            next.progress = Progress::Due;
        }
    }

    /// Begins the next undo if it may begin: everything known is folded, and it is due.
    pub fn begin_undo(&mut self) -> Option<UndoStart> {
        if self.dry || self.winding_down || !self.may_undo() {
            return None;
        }
        self.pass_over();
        if self.undo_state() != UndoState::Due {
            return None;
        }
        let (cautious, reason) = (self.cautious, self.rollback.reason.clone()?);
        let next = self.rollback.log.next_mut()?;
        if next.progress == Progress::Due {
            next.highest += 1;
            self.outgoing.push(started(&next.what, next.highest));
            if cautious || next.options.fenced {
                next.progress = Progress::Announcing;
                self.strict = true;
                return None;
            }
        }
        next.progress = Progress::Running;
        Some(start_of(next, reason))
    }

    /// Undos that do not run, because the point of no return was passed, are recorded as such.
    fn pass_over(&mut self) {
        let log = &mut self.rollback.log;
        if log.in_flight().is_some() {
            return;
        }
        let passed: Vec<Subject> = log
            .to_undo()
            .take_while(|done| done.progress == Progress::Due && log.is_passed_over(done))
            .map(|done| done.what.clone())
            .collect();
        for what in passed {
            if let Some(done) = log.fold.get_mut(&what) {
                done.progress = Progress::Recording;
            }
            self.outgoing.push(skipped(&what));
            self.strict = true;
        }
    }

    /// An attempt to undo a step succeeded.
    pub fn complete_undo(&mut self, start: &UndoStart) {
        if self.end_undo(start) {
            let completed = UndoCompleted {
                location: start.location.clone(),
                attempt: start.attempt,
                run: start.child.clone(),
            };
            self.outgoing.push(completed.into());
        }
    }

    /// An attempt to undo a step failed: there will be another, or the rollback has failed.
    pub fn fail_undo(
        &mut self,
        start: &UndoStart,
        error: Failure,
        class: FailureClass,
        retry: RetryPolicy,
        now: Timestamp,
    ) {
        if self.end_undo(start) {
            let options = StepOptions {
                retry,
                ..start.options
            };
            let (_, retry_at) = after_step_failure(&options, start.failures, class, now);
            let failed = UndoFailed {
                location: start.location.clone(),
                attempt: start.attempt,
                error: error.at_attempt(start.attempt),
                retry_at,
                run: start.child.clone(),
            };
            self.outgoing.push(failed.into());
        }
    }

    fn end_undo(&mut self, start: &UndoStart) -> bool {
        let what = Subject {
            location: start.location.clone(),
            child: start.child.clone(),
        };
        let done = self.rollback.log.fold.get_mut(&what);
        let running = done.filter(|done| done.progress == Progress::Running);
        let Some(done) = running else { return false };
        done.progress = Progress::Recording;
        self.strict = true;
        true
    }

    /// Whether an undo may begin: all that is known is folded, nothing holds the run, and if it ends, the journal says so.
    fn may_undo(&self) -> bool {
        let is_settled = matches!(self.phase, Phase::Broken(_)) || self.is_settled();
        self.unfolded.is_empty()
            && is_settled
            && self.halted.is_none()
            && self.pause == Pause::No
            && (self.phase == Phase::Running || self.rollback.ending || self.next_undo_is_own())
    }

    /// Notes what a record says is done. Records about undos are folded in their turn.
    pub(super) fn note_done(&mut self, body: &Body) {
        let is_about_undo = matches!(
            body,
            Body::UndoStarted(_)
                | Body::UndoCompleted(_)
                | Body::UndoFailed(_)
                | Body::UndoSkipped(_)
        );
        if !is_about_undo {
            self.rollback.log.fold(body);
        }
        if self.phase == Phase::Backoff {
            self.rollback.log.begin_pass();
        }
    }

    /// Where an open operation stands.
    #[must_use]
    pub fn location_of(&self, op: OpId) -> Option<&Location> {
        self.operations.get(op).map(|operation| &operation.location)
    }

    /// Folds a record about an undo. Where the code runs, it must have asked for it, be it in an iteration that is gone.
    pub(super) fn fold_undo(&mut self, body: &Body) {
        let done = self.rollback.log.fold.named_by(body);
        let is_wanted = done.is_some_and(|done| done.wanted);
        if matches!(self.phase, Phase::Returned | Phase::Broken(_)) {
            self.rollback.ending |= !(self.phase == Phase::Returned && is_wanted);
        } else if let Some(location) = body.location()
            && !is_wanted
            && !self.loops.kept.has_forgotten()
        {
            let (word, beginning) = done.map_or(("step", "step_started"), |done| {
                (done.what.word(), done.what.first_record())
            });
            let divergence = undo_divergence(
                (beginning, location.clone()),
                format!("the {word} was undone, but the code did not roll back"),
            );
            self.halt(Halt::Diverged(Box::new(divergence)));
            return;
        }
        if planted::is(Bug::UndoRepeatedAfterCrash) && self.is_forgotten(body) {
            return;
        }
        self.rollback.log.fold(body);
        self.settle_rollbacks();
    }

    /// Whether a record says that something was undone by another process at the end of the run. Only a planted bug asks.
    fn is_forgotten(&self, body: &Body) -> bool {
        let is_undone = matches!(body, Body::UndoCompleted(_));
        is_undone && self.rollback.ending && self.rollback.log.in_flight().is_none()
    }

    /// Where the code asked for the rollbacks that go on.
    pub(super) fn rollback_askers(&self) -> Vec<Scope> {
        let calls = self.rollback.calls.iter();
        calls.map(|(_, scope)| scope.clone()).collect()
    }

    /// Resolves the code's calls once nothing is left that they include.
    fn settle_rollbacks(&mut self) {
        if self.rollback.log.next().is_some() {
            return;
        }
        let failure = self.rollback.log.failure().cloned().map(Box::new);
        for (op, _) in std::mem::take(&mut self.rollback.calls) {
            let resolution = Resolution::RolledBack(failure.clone());
            self.pending.push_back((op, resolution));
        }
    }

    /// Folds a record of a run whose code was dropped: only what its rollback needs to know matters.
    pub(super) fn fold_broken(&mut self, entry: Entry) {
        match entry.record.body {
            body @ (Body::UndoStarted(_)
            | Body::UndoCompleted(_)
            | Body::UndoFailed(_)
            | Body::UndoSkipped(_)) => {
                self.fold_undo(&body);
                self.pending.clear();
            }
            Body::PauseRequested(_) => self.pause = Pause::Asked,
            Body::Paused(_) => self.pause = Pause::Parked,
            body => {
                if let Some(status) = body.terminal() {
                    self.phase = Phase::Ended(status);
                } else if matches!(body, Body::StepCompleted(_) | Body::StepFailed(_)) {
                    let at = body.location().and_then(|at| self.operations.at(at));
                    if let Some((op, _)) = at {
                        self.operations.close(op);
                    }
                }
            }
        }
    }

    /// The run fails, whatever its code does; unless the journal says already as what it ends.
    pub(super) fn break_off(&mut self, failure: Failure) {
        if !self.rollback.ending {
            self.phase = Phase::Broken(Box::new(failure));
        }
    }

    /// Whether an execution that cannot go on leaves something to undo, and the journal does not say yet that the run fails.
    #[must_use]
    pub fn must_break_off_first(&self) -> bool {
        let is_forced = |entry: &Entry| matches!(&entry.record.body, Body::ForcedFailure(forced) if forced.location.is_none());
        !self.rollback.log.fold.done().is_empty() && !self.unfolded.iter().any(is_forced)
    }

    /// The timers of undos that wait.
    pub(super) fn undo_timers(&self) -> impl Iterator<Item = Obsolete> {
        use everstep_model::record::TimerPurpose;
        self.rollback
            .log
            .fold
            .done()
            .iter()
            .filter_map(|done| match done.progress {
                Progress::Backoff(due) => {
                    let at = Some(done.what.location.clone());
                    Some(Obsolete::Timer(due, TimerPurpose::Undo, at))
                }
                _ => None,
            })
    }
}

fn undo_divergence(recorded: (&'static str, Location), detail: String) -> Divergence {
    Divergence {
        record: None,
        recorded: Some(recorded),
        recorded_site: None,
        called: None,
        called_site: None,
        detail: Some(detail),
    }
}

fn started(what: &Subject, attempt: u32) -> Body {
    UndoStarted {
        location: what.location.clone(),
        attempt,
        run: what.child.clone(),
    }
    .into()
}

fn skipped(what: &Subject) -> Body {
    UndoSkipped {
        location: what.location.clone(),
        run: what.child.clone(),
    }
    .into()
}

fn start_of(done: &Done, failure: Failure) -> UndoStart {
    UndoStart {
        location: done.what.location.clone(),
        child: done.what.child.clone(),
        attempt: done.highest,
        failures: done.failures,
        options: done.options,
        step_attempt: done.attempt,
        output: done.output.clone(),
        payload: done.payload.clone(),
        failure,
    }
}
