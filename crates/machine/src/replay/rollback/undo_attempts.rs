//! Attempts to undo a step or child: when one begins, and what its end means.

use everstep_model::record::{UndoCompleted, UndoFailed, UndoSkipped, UndoStarted};
use everstep_model::{
    Body, Failure, Location, Payload, RetryPolicy, RunId, StepOptions, Timestamp,
};

use super::{Rollback, UndoState};
use crate::replay::attempts::Attempts;
use crate::replay::outgoing::Outgoing;
use crate::retry::{FailureClass, after_step_failure};
use crate::undo::{Done, Progress, Subject};

/// An attempt to undo a step or child that begins now.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "plain data")]
pub struct UndoStart {
    pub location: Location,
    /// The child's run; `None` for a step.
    pub child: Option<RunId>,
    /// The number of the attempt to undo it, from 1.
    pub attempt: u32,
    pub failures: u32,
    /// The options of the step. For a child only `undo` is set.
    pub options: StepOptions,
    /// The attempt that completed the step; 1 for a child.
    pub step_attempt: u32,
    /// The result; `None` if the step failed after it registered a payload.
    pub output: Option<Payload>,
    /// The payload that the step registered for its undo.
    pub payload: Option<Payload>,
    /// Why the run rolls back.
    pub failure: Failure,
}

/// How an attempt to undo a step or child ended.
#[derive(Clone, Debug)]
pub enum UndoEnd {
    /// It is undone.
    Completed,
    /// It failed, and is retried under this policy.
    Failed(Failure, FailureClass, RetryPolicy),
}

impl Rollback {
    /// Returns the first record of a rollback that ends the run, which fixes the final status.
    pub fn announce(&mut self) -> Option<Body> {
        let log = &mut self.log;
        let is_passed_over = log.next().is_some_and(|next| log.is_passed_over(next));
        let next = log.next_mut()?;
        if is_passed_over {
            next.progress = Progress::Recording;
            return Some(skipped(&next.what, true));
        }
        next.progress = Progress::Announcing;
        Some(started(&next.what, next.highest + 1, true))
    }

    /// Takes back [`Self::announce`], whose record was not written.
    pub fn retract(&mut self) {
        if let Some(next) = self.log.next_mut()
            && matches!(next.progress, Progress::Announcing | Progress::Recording)
        {
            next.progress = Progress::Due;
        }
    }

    /// Begins the next undo if it is due. An announced attempt begins when its start is durable.
    pub(in crate::replay) fn begin_undo(
        &mut self,
        attempts: Attempts,
        outgoing: &mut Outgoing,
    ) -> Option<UndoStart> {
        self.pass_over(outgoing);
        if self.state() != UndoState::Due {
            return None;
        }
        let reason = self.reason.clone()?;
        let next = self.log.next_mut()?;
        if next.progress == Progress::Due {
            next.highest += 1;
            outgoing.push(started(&next.what, next.highest, false));
            if attempts == Attempts::Announced || next.options.fenced {
                next.progress = Progress::Announcing;
                outgoing.require_durable();
                return None;
            }
        }
        next.progress = Progress::Running;
        Some(start_of(next, reason))
    }

    /// Records undos that do not run because the point of no return was passed.
    fn pass_over(&mut self, outgoing: &mut Outgoing) {
        let log = &mut self.log;
        if log.has_in_flight() {
            return;
        }
        let passed: Vec<Subject> = log
            .to_undo()
            .take_while(|done| done.progress == Progress::Due && log.is_passed_over(done))
            .map(|done| done.what.clone())
            .collect();
        for what in passed {
            outgoing.push_strict(skipped(&what, false));
            if let Some(done) = log.fold.done.get_mut(&what) {
                done.progress = Progress::Recording;
            }
        }
    }

    pub(in crate::replay) fn end_undo(
        &mut self,
        start: &UndoStart,
        end: UndoEnd,
        now: Timestamp,
        outgoing: &mut Outgoing,
    ) {
        let what = Subject {
            location: start.location.clone(),
            child: start.child.clone(),
        };
        let done = self.log.fold.done.get_mut(&what);
        let Some(done) = done.filter(|done| done.progress == Progress::Running) else {
            return;
        };
        done.progress = Progress::Recording;
        let Subject {
            location,
            child: run,
        } = what;
        let attempt = start.attempt;
        match end {
            UndoEnd::Completed => outgoing.push_strict(UndoCompleted {
                location,
                attempt,
                run,
            }),
            UndoEnd::Failed(error, class, retry) => {
                let options = StepOptions {
                    retry,
                    ..start.options
                };
                let (_, retry_at) = after_step_failure(&options, start.failures, class, now);
                outgoing.push_strict(UndoFailed {
                    location,
                    attempt,
                    error: error.at_attempt(attempt),
                    retry_at,
                    run,
                });
            }
        }
    }
}

fn started(what: &Subject, attempt: u32, ends_run: bool) -> Body {
    UndoStarted {
        location: what.location.clone(),
        attempt,
        run: what.child.clone(),
        ends_run,
    }
    .into()
}

fn skipped(what: &Subject, ends_run: bool) -> Body {
    UndoSkipped {
        location: what.location.clone(),
        run: what.child.clone(),
        ends_run,
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
