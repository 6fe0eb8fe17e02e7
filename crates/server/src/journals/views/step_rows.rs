//! Rows of steps. Each record produces a complete row.

use bytes::Bytes;
use everstep_model::record::{FailureOutcome, StepSoFar};
use everstep_model::{Body, Entry, Failure, Location, Name, Payload, StepStatus, Timestamp};
use serde::Serialize;

use super::change::{Operation, changed};
use super::full::is_secret;
use super::row_key::key_of;

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

/// Returns the changes of these rows that follow from a record.
pub(super) fn steps(entry: &Entry) -> Vec<Bytes> {
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
    changed(entry, "step", &key_of(step.id), operation, step)
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
