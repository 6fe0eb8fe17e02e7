//! Requests of operators to a running execution: pause, cancel, and end an operation.
//!
//! Each request is a record, so its position in the journal decides what it affects. A pause stops
//! the fold; records that arrive meanwhile keep their order. A cancellation resolves open
//! operations in the order of their calls. Steps in flight end first, because their results are
//! needed to undo them. While a step that is the point of no return is in flight, requests to end
//! the run wait (`held.rs`).

#[cfg(test)]
mod tests;

use everstep_model::record::{CancelRequested, FailureOutcome, ForcedFailure, StepFailed};
use everstep_model::{Body, ErrorCode, Failure, Location, Payload, Timestamp};

use super::children;
use super::context::Context;
use super::event_queue::EventQueue;
use super::operations::{Kind, OpId, Resolution, StepFailure, StepPhase};
use super::rollback::Rollback;
use super::state::{Pause, Phase, cancelled, refused};

/// Returns whether the fold of a paused run continues: further down the journal the run was
/// resumed, or is requested to end.
pub(super) fn pause_ends_ahead(rollback: &Rollback, cx: &Context) -> bool {
    let ahead = cx.position.unfolded.iter();
    rollback
        .log
        .fold
        .ends_pause_ahead(ahead.map(|entry| &entry.record.body))
}

/// Returns whether the journal contains the pause.
pub(super) fn is_pause_recorded(cx: &Context) -> bool {
    let is_paused = |body: &Body| matches!(body, Body::Paused(_));
    let mut ahead = cx.position.unfolded.iter();
    cx.state.pause == Pause::Paused || ahead.any(|entry| is_paused(&entry.record.body))
}

/// Cancels the run. The first request counts.
pub(super) fn cancel(
    record: CancelRequested,
    rollback: &Rollback,
    event_queue: &mut EventQueue,
    cx: &mut Context,
) {
    if cx.state.is_cancelled() || rollback.is_ending_decided() {
        return;
    }
    cx.state.cancellation = Some(record);
    let open = cx.operations.select(|operation| match operation.kind {
        Kind::Sleep { .. } | Kind::Wait { .. } | Kind::Rpc { .. } | Kind::Child(_) => true,
        Kind::Step(_)
        | Kind::Race
        | Kind::Loop
        | Kind::Removed
        | Kind::Rollback
        | Kind::Refused => false,
    });
    for op in open {
        withdraw(op, event_queue, cx);
        cx.operations.resolve(op, refused());
    }
}

/// Ends the steps of a cancelled run that have no attempt in flight. The end is recorded, because
/// only this execution knows what is in flight.
pub(super) fn end_cancelled_steps(cx: &mut Context) {
    let idle = cx.operations.select(|operation| {
        matches!(&operation.kind, Kind::Step(step)
            if matches!(step.phase, StepPhase::Runnable | StepPhase::Backoff(_)))
    });
    for op in idle {
        end_cancelled_step(op, cx);
    }
}

fn end_cancelled_step(op: OpId, cx: &mut Context) {
    let Some(operation) = cx.operations.get(op) else {
        return;
    };
    let (location, rows) = (operation.location.clone(), operation.rows());
    cx.outgoing.obsolete.extend(rows);
    let Some(step) = cx.operations.step_mut(op) else {
        return;
    };
    step.phase = StepPhase::Recording;
    cx.outgoing.push_strict(StepFailed {
        location,
        attempt: step.highest,
        started_at: cx.position.wall,
        error: cancelled(),
        outcome: FailureOutcome::Cancelled,
        retry_at: None,
        undo: None,
        retries_left: None,
    });
}

/// Resolves a step with the result that an operator gave it.
pub(super) fn resolve_step(
    location: &Location,
    result: Payload,
    event_queue: &mut EventQueue,
    cx: &mut Context,
) {
    if let Some((op, step)) = cx.operations.step_at_mut(location) {
        step.end();
        withdraw(op, event_queue, cx);
        cx.operations.resolve(op, Resolution::Completed(result));
    }
}

/// Makes an operation, or the whole run, fail.
pub(super) fn force_failure(
    record: ForcedFailure,
    rollback: &Rollback,
    event_queue: &mut EventQueue,
    cx: &mut Context,
) {
    let Some(location) = record.location else {
        return break_off(record.error, rollback, cx);
    };
    if let Some((_, step)) = cx.operations.step_at_mut(&location) {
        step.end();
    }
    let Some((op, operation)) = cx.operations.at(&location) else {
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
            Resolution::Forced(Box::new((location, record.error)))
        }
        // These wait for nothing but the journal.
        Kind::Race | Kind::Loop | Kind::Removed | Kind::Rollback | Kind::Refused => return,
    };
    withdraw(op, event_queue, cx);
    cx.operations.resolve(op, resolution);
}

/// Makes the run fail whatever its code does, unless the journal already fixes its final status.
pub(super) fn break_off(failure: Failure, rollback: &Rollback, cx: &mut Context) {
    if !rollback.is_ending_decided() {
        cx.state.phase = Phase::Broken(Box::new(failure));
    }
}

/// Makes the run fail because its deadline passed.
pub(super) fn pass_deadline(deadline: Timestamp, rollback: &Rollback, cx: &mut Context) {
    let message = format!("the run was not over by its deadline, {deadline}");
    let failure = Failure::new(ErrorCode::DeadlineExceeded, message);
    break_off(failure, rollback, cx);
}

/// Cleans up an operation that resolves for another reason than it waits for.
fn withdraw(op: OpId, event_queue: &mut EventQueue, cx: &mut Context) {
    if let Some(operation) = cx.operations.get(op) {
        cx.outgoing.obsolete.extend(operation.rows());
        event_queue.forget(op);
        children::give_up(op, cx);
    }
}
