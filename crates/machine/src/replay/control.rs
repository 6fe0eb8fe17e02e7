//! What operators ask of a running execution: pausing, cancelling, and settling an operation in its place.
//!
//! Each request is a record, so its place in the journal decides what it meets. A pause stops the fold where it stands: what
//! comes meanwhile keeps its order. A cancellation resolves what is open, in the order of calling; steps in flight end
//! first, because their results are needed to undo them.

#[cfg(test)]
mod tests;

use everstep_model::record::{CancelRequested, FailureOutcome, ForcedFailure, StepFailed};
use everstep_model::{Body, ErrorCode, Failure, Location, Payload};

use super::Replay;
use super::operation::{Kind, OpId, Resolution, StepFailure, StepPhase};

/// Whether the fold stands still.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Pause {
    /// It does not.
    #[default]
    No,
    /// Somebody asked; steps in flight are still finishing.
    Asked,
    /// The engine parked the run.
    Parked,
}

/// How often cancelled code may call something that is not done any more before it is ended without its consent.
const REFUSALS_MAX: u32 = 10_000;

impl Replay {
    /// The cancellation the run is under, if it is.
    #[must_use]
    pub fn cancellation(&self) -> Option<&CancelRequested> {
        self.cancel.as_ref()
    }

    /// Whether somebody asked the run to pause and the journal does not say yet that it rests.
    #[must_use]
    pub fn is_pausing(&self) -> bool {
        self.pause == Pause::Asked && !self.pause_ends_ahead() && !self.rests_ahead()
    }

    /// Whether no attempt is under way here. Results that are not folded yet are results all the same, and a step that is
    /// only announced has not begun.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        let running =
            |kind: &Kind| matches!(kind, Kind::Step(step) if step.phase == StepPhase::Running);
        !self
            .operations
            .iter()
            .any(|(_, operation)| running(&operation.kind))
    }

    /// Whether the run was cancelled and its code does not come to an end.
    #[must_use]
    pub fn defies_cancellation(&self) -> bool {
        self.refusals > REFUSALS_MAX
    }

    /// Whether a paused run may be folded on: it was resumed, or is to end, further down the journal.
    pub(super) fn pause_ends_ahead(&self) -> bool {
        let mut undos = self.rollback.log.fold.clone();
        self.unfolded.iter().any(|entry| {
            let body = &entry.record.body;
            let is_resumed = matches!(body, Body::Resumed(_) | Body::ResumeRequested(_));
            let ends = is_resumed || undos.ends_pause(body) || body.terminal().is_some();
            undos.fold(body);
            ends
        })
    }

    /// Whether the journal says that the run rests.
    pub(super) fn rests_ahead(&self) -> bool {
        let is_paused = |body: &Body| matches!(body, Body::Paused(_));
        self.pause == Pause::Parked
            || self
                .unfolded
                .iter()
                .any(|entry| is_paused(&entry.record.body))
    }

    /// The first cancellation counts.
    pub(super) fn fold_cancel_requested(&mut self, record: CancelRequested) {
        if self.cancel.is_some() || self.ending_is_decided() {
            return;
        }
        self.cancel = Some(record);
        let open: Vec<OpId> = self
            .operations
            .iter()
            .filter(|(_, operation)| match &operation.kind {
                Kind::Sleep { .. } | Kind::Wait { .. } | Kind::Rpc { .. } | Kind::Child(_) => true,
                Kind::Step(_) | Kind::Race | Kind::Loop | Kind::Rollback => false,
            })
            .map(|(op, _)| op)
            .collect();
        for op in open {
            self.withdraw(op);
            self.pending.push_back((op, refused()));
        }
    }

    /// An operation that is called while the run is being cancelled.
    pub(super) fn open_refused(&mut self, location: Location) -> OpId {
        self.refusals += 1;
        let op = self.operations.open(location, Kind::Rollback);
        self.pending.push_back((op, refused()));
        op
    }

    /// Steps of a cancelled run that are not under way here get no result any more. What says so is a record, because only
    /// this execution knows what is under way.
    pub(super) fn end_cancelled_steps(&mut self) {
        if self.cancel.is_none() || self.dry || !self.at_frontier() {
            return;
        }
        let idle: Vec<OpId> = self
            .operations
            .iter()
            .filter(|(_, operation)| {
                matches!(&operation.kind, Kind::Step(step)
                    if matches!(step.phase, StepPhase::Runnable | StepPhase::Backoff(_)))
            })
            .map(|(op, _)| op)
            .collect();
        for op in idle {
            self.end_cancelled_step(op);
        }
    }

    fn end_cancelled_step(&mut self, op: OpId) {
        let Some(operation) = self.operations.get(op) else {
            return;
        };
        let (location, rows) = (operation.location.clone(), operation.rows());
        self.obsolete.extend(rows);
        let Some(step) = self.operations.step_mut(op) else {
            return;
        };
        step.phase = StepPhase::Recording;
        let failed = StepFailed {
            location,
            attempt: step.highest,
            started_at: self.wall,
            error: cancelled(),
            outcome: FailureOutcome::Cancelled,
            retry_at: None,
            undo: None,
            retries_left: None,
        };
        self.outgoing.push(failed.into());
        self.strict = true;
    }

    /// An operator gave an unresolved step its result.
    pub(super) fn fold_step_settled(&mut self, location: &Location, result: Payload) {
        if let Some((op, _)) = self.operations.step_at_mut(location) {
            self.withdraw(op);
            self.pending.push_back((op, Resolution::Completed(result)));
        }
    }

    /// An operator made an unresolved operation, or the whole run, fail.
    pub(super) fn fold_forced_failure(&mut self, record: ForcedFailure) {
        let Some(location) = record.location else {
            self.break_off(record.error);
            return;
        };
        let Some((op, operation)) = self.operations.at(&location) else {
            return;
        };
        let resolution = match &operation.kind {
            Kind::Step(step) => Resolution::Failed(Box::new(StepFailure {
                best_effort: step.options.best_effort,
                location,
                error: record.error,
                outcome: FailureOutcome::Fatal,
            })),
            Kind::Sleep { .. } | Kind::Wait { .. } | Kind::Rpc { .. } | Kind::Child(_) => {
                Resolution::Refused(Box::new(record.error))
            }
            // These wait for nothing but the journal.
            Kind::Race | Kind::Loop | Kind::Rollback => return,
        };
        self.withdraw(op);
        self.pending.push_back((op, resolution));
    }

    /// An operation is about to be resolved by something else than it waits for.
    fn withdraw(&mut self, op: OpId) {
        if let Some(operation) = self.operations.get(op) {
            self.obsolete.extend(operation.rows());
            self.mailbox.forget(op);
            self.give_up_child(op);
        }
    }
}

/// What an operation of a cancelled run resolves to.
pub(super) fn refused() -> Resolution {
    Resolution::Refused(Box::new(cancelled()))
}

/// What an operation of a cancelled run comes to.
pub(super) fn cancelled() -> Failure {
    Failure::new(
        ErrorCode::Cancelled,
        "the run is being cancelled; nothing new is done",
    )
}
