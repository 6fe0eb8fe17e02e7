//! The client view: the status of the run, the application's rows, and open rpcs. This is an
//! allow-list.

use bytes::Bytes;
use everstep_model::{Entry, RunId, RunStatus, Timestamp};
use everstep_store::RunRow;
use serde::Serialize;

use super::change::{Operation, message};
use super::lifecycle::status;
use super::rows::shared;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WorkflowRow<'a> {
    id: &'a RunId,
    status: RunStatus,
    updated_at: Timestamp,
    completed_at: Option<Timestamp>,
}

pub(super) fn render(run: &RunRow, entry: &Entry) -> Vec<Bytes> {
    let workflow = status(&entry.record.body).and_then(|status| {
        let now = entry.record.time;
        let value = WorkflowRow {
            id: &run.id,
            status,
            updated_at: now,
            completed_at: status.is_terminal().then_some(now),
        };
        let operation = match status {
            RunStatus::Queued => Operation::Insert,
            _ => Operation::Update,
        };
        message(entry, "workflow", run.id.as_str(), operation, Some(value))
    });
    workflow.into_iter().chain(shared(entry)).collect()
}
