//! Attempts of steps: when one may begin, and what its end means.

use everstep_model::planted::{self, Bug};
use everstep_model::record::{
    FailureOutcome, StepAbandoned, StepCompleted, StepFailed, StepSoFar, StepStarted, TookEffect,
};
use everstep_model::{Failure, Location, Payload, StepOptions, Timestamp};

use super::Replay;
use super::operation::{Kind, OpId, StepOp, StepPhase};
use crate::retry::{FailureClass, after_step_failure};

/// An attempt that begins now.
#[derive(Clone, Debug, PartialEq)]
pub struct StepStart {
    /// The step.
    pub location: Location,
    /// Which attempt, from 1.
    pub attempt: u32,
    /// Recorded failures so far.
    pub failures: u32,
    /// How it is executed, as recorded with its first attempt.
    pub options: StepOptions,
    /// When it begins.
    pub started_at: Timestamp,
    /// What the attempt registered for the step's undo.
    pub undo: Option<Payload>,
}

impl Replay {
    /// Begins an attempt if one may begin: everything known is folded, and the step is due. It begins, like all that the code
    /// does in one poll, at the moment of that poll.
    pub fn begin_attempt(&mut self, op: OpId) -> Option<StepStart> {
        if self.dry || self.winding_down || !self.may_begin() {
            return None;
        }
        let location = self.operations.get(op)?.location.clone();
        let step = self.operations.step_mut(op)?;
        if step.phase != StepPhase::Runnable {
            return None;
        }
        let is_durable = std::mem::replace(&mut step.announced, false);
        let is_fresh = std::mem::replace(&mut step.fresh, false);
        let is_new = !is_durable && !is_fresh;
        if is_new {
            step.highest += 1;
        }
        let waits = (step.options.fenced || self.cautious) && !is_durable;
        step.phase = if waits {
            StepPhase::Announcing
        } else {
            StepPhase::Running
        };
        let start = StepStart {
            location: location.clone(),
            attempt: step.highest,
            failures: match planted::is(Bug::RetryCountedOnTakeover) {
                true => step.highest - 1,
                false => step.failures,
            },
            options: step.options,
            started_at: self.wall,
            undo: None,
        };
        if is_new {
            let attempt = start.attempt;
            self.outgoing.push(
                StepStarted {
                    location,
                    attempt,
                    options: None,
                }
                .into(),
            );
        }
        if waits {
            self.strict = true;
            return None;
        }
        Some(start)
    }

    /// An attempt succeeded. The code sees the result when it comes back from the journal.
    pub fn complete_attempt(&mut self, op: OpId, start: &StepStart, result: Payload) {
        if self.end_attempt(op) {
            let completed = StepCompleted {
                location: start.location.clone(),
                attempt: start.attempt,
                started_at: start.started_at,
                result,
                undo: start.undo.clone(),
                sensitive: start.options.sensitive,
                early: start.options.ephemeral.then(|| {
                    Box::new(TookEffect {
                        folded: self.here.folded,
                        now: self.now,
                        moment: self.here.number,
                    })
                }),
            };
            self.resolve_early(&completed);
            self.strict |= !start.options.ephemeral;
            self.outgoing.push(completed.into());
        }
    }

    /// An attempt failed: there will be another, or the code sees the failure.
    pub fn fail_attempt(
        &mut self,
        op: OpId,
        start: &StepStart,
        error: Failure,
        class: FailureClass,
        now: Timestamp,
    ) {
        if self.end_attempt(op) {
            let (outcome, retry_at) = match self.cancel {
                None => after_step_failure(&start.options, start.failures, class, now),
                Some(_) => (FailureOutcome::Cancelled, None),
            };
            let failed = StepFailed {
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
            };
            self.outgoing.push(failed.into());
            self.strict = true;
        }
    }

    fn end_attempt(&mut self, op: OpId) -> bool {
        match self.operations.step_mut(op) {
            Some(step) if step.phase == StepPhase::Running => {
                step.phase = StepPhase::Recording;
                true
            }
            _ => false,
        }
    }

    /// The code dropped an operation before it resolved.
    pub fn drop_operation(&mut self, op: OpId) {
        if self.detached {
            return;
        }
        let Some(operation) = self.operations.close(op) else {
            return;
        };
        let place = &operation.location;
        self.forbid_outside_resolutions(&format!("the code dropped `{place}`"));
        self.obsolete.extend(operation.rows());
        match operation.kind {
            Kind::Step(step) => {
                let so_far = StepSoFar {
                    attempts: step.highest,
                    started_at: None,
                    sensitive: step.options.sensitive,
                };
                let location = operation.location;
                let abandoned = StepAbandoned {
                    location,
                    so_far: Some(so_far),
                };
                self.say(abandoned.into());
            }
            Kind::Wait { .. } => self.mailbox.forget(op),
            Kind::Child(child) => self.leave_child(operation.location, &child),
            Kind::Loop => {
                self.leave_loop(op);
                self.leave_removed(op);
            }
            Kind::Sleep { .. } | Kind::Rpc { .. } | Kind::Race | Kind::Rollback => {}
        }
    }

    /// Whether work may begin: all that is known is folded, and nothing holds the run.
    fn may_begin(&self) -> bool {
        self.at_frontier()
            && self.phase == super::Phase::Running
            && self.pause == super::Pause::No
            && self.cancel.is_none()
    }

    /// Steps whose next attempt may begin.
    pub fn startable(&self) -> impl Iterator<Item = OpId> + Clone {
        let steps = self.may_begin().then(|| self.operations.steps());
        let is_runnable = |step: &StepOp| step.phase == StepPhase::Runnable;
        let steps = steps.into_iter().flatten();
        steps.filter_map(move |(op, _, step)| is_runnable(step).then_some(op))
    }

    /// Steps with an attempt in flight, or one whose end is not durable yet.
    pub fn steps_in_flight(&self) -> impl Iterator<Item = &Location> {
        let in_flight = self.operations.steps().filter(|(_, _, step)| {
            matches!(
                step.phase,
                StepPhase::Announcing | StepPhase::Running | StepPhase::Recording
            )
        });
        in_flight.map(|(_, location, _)| location)
    }
}
