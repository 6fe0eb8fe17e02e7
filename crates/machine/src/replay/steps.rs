//! Steps: the call, when an attempt may begin, and what its end means.

use everstep_model::planted::{self, Bug};
use everstep_model::record::{
    FailureOutcome, StepAbandoned, StepCompleted, StepFailed, StepSoFar, StepStarted, TookEffect,
};
use everstep_model::{Body, ErrorCode, Failure, Location, Name, Payload, StepOptions, Timestamp};

use super::attempts::Attempts;
use super::call::Call;
use super::context::{Called, Context};
use super::earlier_passes::Remembered;
use super::execution::Replay;
use super::operations::{Kind, NextStart, OpId, Resolution, StepFailure, StepOp, StepPhase};
use crate::retry::{FailureClass, after_step_failure};
use crate::undo::Subject;

/// An attempt that begins now.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "plain data")]
pub struct StepStart {
    pub location: Location,
    /// The number of the attempt, from 1.
    pub attempt: u32,
    pub failures: u32,
    /// The options that are recorded with the first attempt.
    pub options: StepOptions,
    pub started_at: Timestamp,
    /// The payload that the attempt registered for the step's undo.
    pub undo: Option<Payload>,
}

impl Call for StepOptions {
    type Output = OpId;
    const RECORD: &'static str = "step_started";

    fn call(self, called: Called, _: &Name, replay: &mut Replay) -> Option<OpId> {
        replay.scopes.count_step(&called.location.scope);
        let (log, cx) = (&mut replay.rollback.log, &mut replay.context);
        let resolved = || {
            log.mark_reached(&Subject::step(&called.location));
            Kind::Step(new_step(self, 0, NextStart::Unwritten))
        };
        let highest = match cx.open_decided(&called, Self::RECORD, resolved) {
            Err(op) => return op,
            Ok(Some(Remembered::Attempted(highest))) => highest,
            Ok(_) => 0,
        };
        let started = StepStarted {
            location: called.location,
            attempt: highest + 1,
            options: Some(self),
        };
        let next = if cx.script.is_at_end() {
            NextStart::Called
        } else {
            NextStart::Unwritten
        };
        let Some(Body::StepStarted(recorded)) = cx.add_line(started, Some(called.site)) else {
            return None;
        };
        let options = recorded.options.unwrap_or(self);
        let step = new_step(options, recorded.attempt, next);
        Some(cx.operations.open(recorded.location, Kind::Step(step)))
    }
}

fn new_step(options: StepOptions, highest: u32, next_start: NextStart) -> StepOp {
    StepOp {
        options,
        phase: StepPhase::Runnable,
        highest,
        next_start,
        failures: 0,
        begun: 0,
        ended: 0,
    }
}

impl Replay {
    /// Begins an attempt of a step if it is due and everything known is folded. The attempt begins
    /// at the time of the poll; an announced attempt begins when its start is durable.
    pub fn begin_attempt(&mut self, op: OpId) -> Option<StepStart> {
        if !self.attempts.may_begin() || !self.status().may_begin() {
            return None;
        }
        let cx = &mut self.context;
        let location = cx.operations.get(op)?.location.clone();
        let step = cx.operations.step_mut(op)?;
        if step.phase != StepPhase::Runnable {
            return None;
        }
        let next_start = std::mem::replace(&mut step.next_start, NextStart::Unwritten);
        if next_start == NextStart::Unwritten {
            step.highest += 1;
            cx.outgoing.push(StepStarted {
                location: location.clone(),
                attempt: step.highest,
                options: None,
            });
        }
        let is_announced = step.options.starts_durably() || self.attempts == Attempts::Announced;
        if is_announced && next_start != NextStart::Durable {
            step.phase = StepPhase::Announcing;
            cx.outgoing.require_durable();
            return None;
        }
        step.phase = StepPhase::Running;
        Some(StepStart {
            location,
            attempt: step.highest,
            failures: match planted::is(Bug::RetryCountedOnTakeover) {
                true => step.highest - 1,
                false => step.failures,
            },
            options: step.options,
            started_at: cx.position.wall,
            undo: None,
        })
    }

    /// Records that an attempt succeeded. The code sees the result when it comes back from the
    /// journal, or at once if the step is ephemeral.
    pub fn complete_attempt(&mut self, op: OpId, start: &StepStart, result: Payload) {
        let cx = &mut self.context;
        if !end_attempt(op, cx) {
            return;
        }
        let position = &cx.position;
        let completed = StepCompleted {
            location: start.location.clone(),
            attempt: start.attempt,
            started_at: start.started_at,
            result,
            undo: start.undo.clone(),
            sensitive: start.options.sensitive,
            early: start.options.ephemeral.then(|| {
                Box::new(TookEffect {
                    folded: position.here.folded,
                    now: position.now,
                    moment: position.here.number,
                })
            }),
            no_return: start.options.no_return && !planted::is(Bug::NoReturnApart),
        };
        self.early.note(&completed);
        cx.outgoing.push(completed);
        if !start.options.ephemeral {
            cx.outgoing.require_durable();
        }
    }

    /// Records that an attempt failed. Either another one follows, or the code sees the failure.
    pub fn fail_attempt(
        &mut self,
        op: OpId,
        start: &StepStart,
        error: Failure,
        class: FailureClass,
        now: Timestamp,
    ) {
        let cx = &mut self.context;
        if !end_attempt(op, cx) {
            return;
        }
        let (outcome, retry_at) = match cx.state.is_cancelled() {
            false => after_step_failure(&start.options, start.failures, class, now),
            true => (FailureOutcome::Cancelled, None),
        };
        cx.outgoing.push_strict(StepFailed {
            location: start.location.clone(),
            attempt: start.attempt,
            started_at: start.started_at,
            error: error.at_attempt(start.attempt),
            outcome,
            retry_at,
            undo: start.undo.clone(),
            retries_left: Some(match outcome {
                FailureOutcome::Retrying => {
                    start.options.retry.limit.saturating_sub(start.failures + 1)
                }
                _ => 0,
            }),
        });
    }
}

fn end_attempt(op: OpId, cx: &mut Context) -> bool {
    match cx.operations.step_mut(op) {
        Some(step) if step.phase == StepPhase::Running => {
            step.phase = StepPhase::Recording;
            true
        }
        _ => false,
    }
}

/// Records that the code dropped a step.
pub(super) fn abandon(location: Location, step: &StepOp, cx: &mut Context) {
    let so_far = StepSoFar {
        attempts: step.highest,
        started_at: None,
        sensitive: step.options.sensitive,
        no_return: step.options.no_return,
    };
    let abandoned = StepAbandoned {
        location,
        so_far: Some(so_far),
    };
    cx.add_line(abandoned, None);
}

pub(super) fn fold_started(record: &StepStarted, cx: &mut Context) {
    let Some((_, step)) = cx.operations.step_at_mut(&record.location) else {
        return;
    };
    step.begun = step.begun.max(record.attempt);
    if record.attempt > step.highest {
        // Another executor began this attempt.
        step.highest = record.attempt;
        step.next_start = NextStart::Unwritten;
    } else if record.attempt == step.highest {
        // The start may become durable before the attempt begins, because a pause comes between.
        let is_called = step.next_start == NextStart::Called && step.phase == StepPhase::Runnable;
        if is_called || step.phase == StepPhase::Announcing {
            step.phase = StepPhase::Runnable;
            step.next_start = NextStart::Durable;
        }
    }
}

pub(super) fn fold_completed(record: StepCompleted, cx: &mut Context) {
    if let Some((op, step)) = cx.operations.step_at_mut(&record.location) {
        step.end();
        let resolution = cx
            .state
            .unless_cancelled(|| Resolution::Completed(record.result));
        cx.operations.resolve(op, resolution);
    }
}

pub(super) fn fold_failed(record: StepFailed, cx: &mut Context) {
    let is_cancelled = cx.state.is_cancelled();
    let Some((op, step)) = cx.operations.step_at_mut(&record.location) else {
        return;
    };
    step.failures += 1;
    step.highest = step.highest.max(record.attempt);
    // An attempt that timed out may have had its effect; the next one finds out.
    let is_unknown = record.retry_at.is_some() && record.error.is(ErrorCode::StepTimedOut);
    if !is_unknown {
        step.end();
    }
    if let (Some(retry_at), false) = (record.retry_at, is_cancelled) {
        step.phase = StepPhase::Backoff(retry_at);
        return;
    }
    let failure = StepFailure {
        best_effort: step.options.best_effort,
        location: record.location,
        error: record.error,
        outcome: record.outcome,
    };
    let failed = || Resolution::Failed(Box::new(failure));
    let resolution = cx.state.unless_cancelled(failed);
    cx.operations.resolve(op, resolution);
}

pub(super) fn fold_retry_timer(op: OpId, due: Timestamp, cx: &mut Context) {
    if let Some(step) = cx.operations.step_mut(op)
        && step.phase == StepPhase::Backoff(due)
    {
        step.phase = StepPhase::Runnable;
    }
}
