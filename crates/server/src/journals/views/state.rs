//! The state view: rows of the workflow, its steps, open rpcs, unconsumed events, and the
//! application's own rows. Each record produces complete rows, so that a client can begin anywhere.
//!
//! Steps of a loop have the same key in every iteration, so that the number of rows depends on the
//! code and not on the age of the run.

use bytes::Bytes;
use everstep_model::record::{FailureOutcome, StepSoFar};
use everstep_model::{
    Body, Entry, Failure, Location, Name, Payload, RunId, RunStatus, StepStatus, Timestamp,
};
use everstep_store::RunRow;
use serde::Serialize;

use super::change::{Operation, deleted, message};
use super::full::is_secret;
use super::lifecycle::status;
use super::rows::shared;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WorkflowRow<'a> {
    id: &'a RunId,
    #[serde(rename = "type")]
    workflow: &'a Name,
    version: u32,
    generation: u32,
    status: RunStatus,
    tags: &'a [String],
    result: Option<&'a Payload>,
    error: Option<&'a Failure>,
    rollback_error: Option<&'a Failure>,
    reason: Option<&'a str>,
    created_at: Timestamp,
    updated_at: Timestamp,
    completed_at: Option<Timestamp>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct StepRow<'a> {
    id: &'a Location,
    name: &'a Name,
    status: StepStatus,
    /// Unknown for a step that was undone, or abandoned with its run.
    attempts: Option<u32>,
    result: Option<&'a Payload>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    redacted: bool,
    error: Option<&'a Failure>,
    started_at: Option<Timestamp>,
    completed_at: Option<Timestamp>,
    next_retry_at: Option<Timestamp>,
}

/// An event that no wait has consumed.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct EventRow<'a> {
    id: &'a str,
    name: &'a Name,
    payload: &'a Payload,
    by: Option<&'a str>,
    received_at: Timestamp,
}

pub(super) fn render(run: &RunRow, entry: &Entry) -> Vec<Bytes> {
    let mut rows: Vec<Bytes> = steps(entry);
    rows.extend(events(entry));
    rows.extend(shared(entry));
    // Last, so that a client that sees the end of the run has seen all other rows.
    rows.extend(workflow(run, entry));
    rows
}

fn workflow(run: &RunRow, entry: &Entry) -> Option<Bytes> {
    let body = &entry.record.body;
    let status = status(body)?;
    let now = entry.record.time;
    let mut value = WorkflowRow {
        id: &run.id,
        workflow: &run.workflow,
        version: run.version,
        generation: run.generation.0,
        status,
        tags: &run.tags,
        result: None,
        error: None,
        rollback_error: None,
        reason: None,
        created_at: run.created_at,
        updated_at: now,
        completed_at: status.is_terminal().then_some(now),
    };
    match body {
        Body::Completed(end) => value.result = Some(&end.result),
        Body::Failed(end) => value.error = Some(&end.error),
        Body::RollbackFailed(end) => {
            value.error = Some(&end.error);
            value.rollback_error = Some(&end.rollback_error);
        }
        Body::Cancelled(end) => value.reason = end.reason.as_deref(),
        Body::Terminated(end) => value.reason = end.reason.as_deref(),
        Body::CancelRequested(request) => value.reason = request.reason.as_deref(),
        Body::PauseRequested(request) => value.reason = request.reason.as_deref(),
        Body::Paused(pause) => value.error = pause.reason.as_ref(),
        Body::Diverged(diverged) => value.error = Some(&diverged.error),
        Body::ExecutionRetried(retry) => value.error = Some(&retry.error),
        _ => {}
    }
    let operation = match status {
        RunStatus::Queued => Operation::Insert,
        _ => Operation::Update,
    };
    message(entry, "workflow", run.id.as_str(), operation, Some(value))
}

fn events(entry: &Entry) -> Vec<Bytes> {
    match &entry.record.body {
        Body::Event(event) => {
            let id = entry.number.to_string();
            let value = EventRow {
                id: &id,
                name: &event.name,
                payload: &event.payload,
                by: event.by.as_deref(),
                received_at: entry.record.time,
            };
            let inserted = message(entry, "event", &id, Operation::Insert, Some(value));
            inserted.into_iter().collect()
        }
        Body::WaitCompleted(wait) => {
            let consumed = wait.events.iter();
            consumed
                .filter_map(|number| deleted(entry, "event", &number.to_string()))
                .collect()
        }
        _ => Vec::new(),
    }
}

fn steps(entry: &Entry) -> Vec<Bytes> {
    let body = &entry.record.body;
    let abandoned: &[Location] = match body {
        Body::Completed(end) => &end.abandoned,
        Body::Failed(end) => &end.abandoned,
        Body::RollbackFailed(end) => &end.abandoned,
        Body::Cancelled(end) => &end.abandoned,
        Body::Terminated(end) => &end.abandoned,
        _ => {
            let step = step(entry).and_then(|step| step_row(entry, &step));
            return step.into_iter().collect();
        }
    };
    let abandoned = abandoned.iter().map(|location| StepRow {
        completed_at: Some(entry.record.time),
        ..new_row(location, StepStatus::Abandoned)
    });
    abandoned
        .filter_map(|step| step_row(entry, &step))
        .collect()
}

fn step_row(entry: &Entry, step: &StepRow<'_>) -> Option<Bytes> {
    let is_first = matches!(&entry.record.body, Body::StepStarted(started) if started.attempt == 1);
    let operation = match is_first {
        true => Operation::Insert,
        false => Operation::Update,
    };
    message(entry, "step", &key(step.id), operation, Some(step))
}

/// Returns the key of a step's row: its location without iteration numbers.
fn key(location: &Location) -> String {
    let location = location.to_string();
    let segments = location.split('/').map(|segment| match segment {
        iteration if iteration.starts_with('~') => "~",
        other => other,
    });
    segments.collect::<Vec<_>>().join("/")
}

fn new_row(location: &Location, status: StepStatus) -> StepRow<'_> {
    StepRow {
        id: location,
        name: &location.name,
        status,
        attempts: None,
        result: None,
        redacted: false,
        error: None,
        started_at: None,
        completed_at: None,
        next_retry_at: None,
    }
}

/// Returns the row of a step that was settled by something other than its own work.
fn settled(
    location: &Location,
    status: StepStatus,
    so_far: Option<StepSoFar>,
    now: Timestamp,
) -> StepRow<'_> {
    StepRow {
        attempts: so_far.map(|step| step.attempts),
        started_at: so_far.and_then(|step| step.started_at),
        completed_at: Some(now),
        ..new_row(location, status)
    }
}

/// Returns the row of the step that a record is about.
fn step(entry: &Entry) -> Option<StepRow<'_>> {
    let (body, now) = (&entry.record.body, entry.record.time);
    let redacted = is_secret(body);
    let result = |result| Some(result).filter(|_| !redacted);
    Some(match body {
        Body::StepStarted(r) => StepRow {
            attempts: Some(r.attempt),
            started_at: Some(now),
            ..new_row(&r.location, StepStatus::Running)
        },
        Body::StepCompleted(r) => StepRow {
            attempts: Some(r.attempt),
            result: result(&r.result),
            redacted,
            started_at: Some(r.started_at),
            completed_at: Some(now),
            ..new_row(&r.location, StepStatus::Completed)
        },
        Body::StepFailed(r) => StepRow {
            attempts: Some(r.attempt),
            error: Some(&r.error),
            started_at: Some(r.started_at),
            completed_at: r.retry_at.is_none().then_some(now),
            next_retry_at: r.retry_at,
            ..new_row(&r.location, after_failure(r.outcome))
        },
        // Without `so_far`, the record is about a child.
        Body::StepAbandoned(r) if r.so_far.is_some() => {
            settled(&r.location, StepStatus::Abandoned, r.so_far, now)
        }
        Body::StepSkipped(r) => StepRow {
            result: result(&r.result),
            redacted,
            ..settled(&r.location, StepStatus::Skipped, r.so_far, now)
        },
        Body::StepEdited(r) => StepRow {
            result: result(&r.result),
            redacted,
            ..settled(&r.location, StepStatus::Completed, r.so_far, now)
        },
        Body::ForcedFailure(r) => {
            let (location, so_far) = (r.location.as_ref()?, Some(r.so_far?));
            StepRow {
                error: Some(&r.error),
                ..settled(location, StepStatus::Failed, so_far, now)
            }
        }
        Body::UndoCompleted(r) if r.run.is_none() => StepRow {
            completed_at: Some(now),
            ..new_row(&r.location, StepStatus::Undone)
        },
        _ => return None,
    })
}

fn after_failure(outcome: FailureOutcome) -> StepStatus {
    match outcome {
        FailureOutcome::Retrying => StepStatus::Retrying,
        FailureOutcome::Exhausted => StepStatus::Exhausted,
        FailureOutcome::Fatal | FailureOutcome::RollBack => StepStatus::Failed,
        FailureOutcome::TimedOut => StepStatus::TimedOut,
        FailureOutcome::Cancelled => StepStatus::Abandoned,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_of_a_loop_has_one_key_in_all_iterations() {
        let key_of = |location: &str| key(&location.parse().unwrap());
        assert_eq!(key_of("order/~3/ship/charge:0"), "order/~/ship/charge:0");
        assert_eq!(key_of("order/~12/ship/charge:0"), "order/~/ship/charge:0");
        assert_eq!(key_of("charge:1"), "charge:1");
    }
}
