//! Rollback: undoing what is done, the latest first, one at a time.
//!
//! The code requests a rollback (`ctx.rollback()`), or the executor does when the run ends with an
//! error. The log (`log.rs`) decides what is undone; the journal decides which undo is next, and
//! the result of each undo is a record. A requested rollback continues even if the code no longer
//! awaits it, and even if the code has returned.
//!
//! The first record of a rollback that ends the run also fixes the run's final status: later
//! requests change nothing. A rollback that the code requested fixes nothing.

mod log;
mod undo_attempts;

#[cfg(test)]
mod tests;

use everstep_model::planted::{self, Bug};
use everstep_model::record::TimerPurpose;
use everstep_model::{Body, Failure, Location, Scope};

use super::context::Context;
use super::divergence::{Divergence, Halt};
use super::operations::{Kind, Obsolete, OpId, Resolution};
use super::state::Phase;
use crate::undo::Progress;
use log::UndoLog;
pub use undo_attempts::{UndoEnd, UndoStart};

/// The rollbacks of an execution.
#[derive(Debug, Default)]
pub struct Rollback {
    pub(super) log: UndoLog,
    /// Calls of the code that have not resolved. A call that the code dropped stays in the list,
    /// because it waited too.
    calls: Vec<OpId>,
    /// The scopes of `calls`.
    pub(super) calling_scopes: Vec<Scope>,
    /// Why the latest rollback was requested.
    reason: Option<Failure>,
    /// Whether the journal fixes the run's final status.
    ending: bool,
}

/// What is left to do for the requested rollbacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UndoState {
    /// Nothing.
    Over,
    /// The next undo may begin.
    Due,
    /// This process executes an undo, or its result is not durable yet.
    InFlight,
    /// The next attempt begins when its timer fires.
    Waiting,
}

impl Rollback {
    /// Sets why the run ends with a rollback of everything that is done; `None` if it does not.
    pub fn end_run(&mut self, reason: Option<Failure>) {
        self.log.want_all(reason.is_some());
        if reason.is_some() {
            self.reason = reason;
        }
    }

    /// Returns what is left to do for the requested rollbacks.
    #[must_use]
    pub fn state(&self) -> UndoState {
        if self.log.has_in_flight() {
            return UndoState::InFlight;
        }
        match self.log.next().map(|next| &next.progress) {
            None => UndoState::Over,
            Some(Progress::Backoff(_)) => UndoState::Waiting,
            Some(_) => UndoState::Due,
        }
    }

    /// Returns the divergence of code that supplies no undo for something that must be undone.
    pub fn missing_undo(&self, is_supplied: impl Fn(&Location) -> bool) -> Option<Divergence> {
        let log = &self.log;
        let mut to_run = log.to_undo().filter(|done| !log.is_passed_over(done));
        let what = &to_run.find(|done| !is_supplied(&done.what.location))?.what;
        let detail = format!(
            "the {} is to be undone, and the code gives no undo for it",
            what.word()
        );
        let recorded = (what.first_record(), what.location.clone());
        Some(divergence(recorded, detail))
    }

    /// Returns why the last rollback could not undo everything.
    #[must_use]
    pub fn failure(&self) -> Option<&Failure> {
        self.log.failure()
    }

    /// Returns whether the journal fixes the run's final status, so that later records cannot
    /// change it.
    #[must_use]
    pub fn is_ending_decided(&self) -> bool {
        self.ending
    }

    /// Returns whether later records cannot matter: the final status is fixed, and there is no
    /// child left that must be undone if it completes.
    #[must_use]
    pub fn is_beyond_change(&self) -> bool {
        self.ending && !self.log.fold.has_open_children()
    }

    /// Records that the code requests a rollback of everything that this pass has reached.
    pub(super) fn call(
        &mut self,
        location: Location,
        reason: Failure,
        cx: &mut Context,
    ) -> Option<OpId> {
        if cx.state.is_cancelled() {
            return Some(cx.open_refused(location));
        }
        self.log.want_reached();
        self.reason = Some(reason);
        let scope = location.scope.clone();
        let op = cx.operations.open(location, Kind::Rollback);
        self.calls.push(op);
        self.calling_scopes.push(scope);
        self.resolve_calls(cx);
        Some(op)
    }

    /// Returns whether the next undo was requested by code that has returned meanwhile.
    pub(super) fn is_next_own(&self, phase: &Phase) -> bool {
        *phase == Phase::Returned && self.log.next().is_some_and(|next| next.wanted)
    }

    /// Notes what a record says is done. Records about undos have their own fold.
    pub(super) fn fold_done(&mut self, body: &Body, phase: &Phase) {
        if !is_about_undo(body) {
            self.log.fold(body);
        }
        if let Phase::Backoff = phase {
            self.log.begin_pass();
        }
    }

    /// Folds a record about an undo. Code that runs must have requested the undo, unless it did so
    /// in an iteration that is gone.
    pub(super) fn fold_undo(&mut self, body: &Body, has_gone: bool, cx: &mut Context) {
        let done = self.log.fold.named_by(body);
        let is_wanted = done.is_some_and(|done| done.wanted);
        let phase = &cx.state.phase;
        if matches!(phase, Phase::Returned | Phase::Broken(_)) {
            self.ending |= !(*phase == Phase::Returned && is_wanted);
        } else if let Some(location) = body.location()
            && !is_wanted
            && !has_gone
        {
            let (word, beginning) = done.map_or(("step", "step_started"), |done| {
                (done.what.word(), done.what.first_record())
            });
            let divergence = divergence(
                (beginning, location.clone()),
                format!("the {word} was undone, but the code did not roll back"),
            );
            cx.state.halt(Halt::Diverged(Box::new(divergence)));
            return;
        }
        if planted::is(Bug::UndoRepeatedAfterCrash) && self.is_forgotten(body) {
            return;
        }
        self.log.fold(body);
        self.resolve_calls(cx);
    }

    /// Returns whether another process undid something at the end of the run. Only a planted bug
    /// uses this.
    fn is_forgotten(&self, body: &Body) -> bool {
        let is_undone = matches!(body, Body::UndoCompleted(_));
        is_undone && self.ending && !self.log.has_in_flight()
    }

    /// Resolves the calls of the code when nothing that they include is left.
    fn resolve_calls(&mut self, cx: &mut Context) {
        if self.log.next().is_some() {
            return;
        }
        let failure = self.log.failure().cloned().map(Box::new);
        self.calling_scopes.clear();
        for op in std::mem::take(&mut self.calls) {
            let resolution = Resolution::RolledBack(failure.clone());
            cx.operations.resolve(op, resolution);
        }
    }

    /// Returns the timers of undos that wait for their next attempt.
    pub(super) fn timers(&self) -> impl Iterator<Item = Obsolete> {
        let done = self.log.fold.done.iter();
        done.filter_map(|done| match done.progress {
            Progress::Backoff(due) => {
                let at = Some(done.what.location.clone());
                Some(Obsolete::Timer(due, TimerPurpose::Undo, at))
            }
            _ => None,
        })
    }
}

pub(super) fn is_about_undo(body: &Body) -> bool {
    matches!(
        body,
        Body::UndoStarted(_) | Body::UndoCompleted(_) | Body::UndoFailed(_) | Body::UndoSkipped(_)
    )
}

fn divergence(recorded: (&'static str, Location), detail: String) -> Divergence {
    Divergence {
        recorded: Some(recorded),
        detail: Some(detail),
        ..Divergence::default()
    }
}
