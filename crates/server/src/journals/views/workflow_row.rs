//! The row of the run itself. It changes with every record that changes one of its columns.

use bytes::Bytes;
use everstep_inspect::{EndingView, Overview, PauseView};
use everstep_model::{
    Body, Entry, Failure, Generation, Name, Payload, RunId, RunStatus, Timestamp,
};
use everstep_store::RunRow;
use serde::Serialize;

use super::audience::Audience;
use super::change::{Operation, changed};

/// The row, and its columns as readers last saw them.
pub(super) struct WorkflowRow {
    run: RunRow,
    next_generation: Option<Generation>,
    /// As JSON.
    shown: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Row<C> {
    #[serde(flatten)]
    columns: C,
    /// The time of the last change of a column.
    updated_at: Timestamp,
}

/// The columns of the view `client`. This is an allow-list.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ClientColumns<'a> {
    id: &'a RunId,
    #[serde(rename = "type")]
    workflow: &'a Name,
    version: u32,
    generation: Generation,
    status: RunStatus,
    result: Option<&'a Payload>,
    error: Option<Failure>,
    created_at: Timestamp,
    completed_at: Option<Timestamp>,
    next_generation: Option<Generation>,
}

/// The columns of the view `state`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct StateColumns<'a> {
    id: &'a RunId,
    #[serde(rename = "type")]
    workflow: &'a Name,
    version: u32,
    generation: Generation,
    status: RunStatus,
    tags: &'a [String],
    result: Option<&'a Payload>,
    error: Option<&'a Failure>,
    rollback_error: Option<&'a Failure>,
    reason: Option<&'a str>,
    next_retry_at: Option<Timestamp>,
    deadline: Option<Timestamp>,
    created_at: Timestamp,
    completed_at: Option<Timestamp>,
    next_generation: Option<Generation>,
}

impl WorkflowRow {
    pub(super) fn new(run: RunRow) -> Self {
        Self {
            run,
            next_generation: None,
            shown: None,
        }
    }

    /// Returns the change of the row that follows from a record, which the overview contains.
    pub(super) fn change(
        &mut self,
        entry: &Entry,
        overview: &Overview,
        audience: &Audience,
    ) -> Option<Bytes> {
        if let Body::Terminated(end) = &entry.record.body {
            self.next_generation = end.next_generation;
        }
        let (run, next) = (&self.run, self.next_generation);
        let shown = &mut self.shown;
        match audience.is_client() {
            true => change(entry, run, shown, client_columns(run, next, overview)),
            false => change(entry, run, shown, state_columns(run, next, overview)),
        }
    }
}

/// Renders the row if a column has changed.
fn change(
    entry: &Entry,
    run: &RunRow,
    shown: &mut Option<String>,
    columns: impl Serialize,
) -> Option<Bytes> {
    let text = serde_json::to_string(&columns);
    let text =
        text.inspect_err(|error| tracing::error!(%error, run = %run.id, "cannot render run"));
    let before = shown.replace(text.ok()?);
    if before == *shown {
        return None;
    }
    let operation = match before {
        None => Operation::Insert,
        Some(_) => Operation::Update,
    };
    let row = Row {
        columns,
        updated_at: entry.record.time,
    };
    changed(entry, "workflow", run.id.as_str(), operation, row)
}

fn client_columns<'a>(
    run: &'a RunRow,
    next_generation: Option<Generation>,
    overview: &'a Overview,
) -> ClientColumns<'a> {
    ClientColumns {
        id: &run.id,
        workflow: &run.workflow,
        version: run.version,
        generation: run.generation,
        status: overview.status(),
        result: overview.result.as_ref(),
        error: overview.error.clone().map(without_origin),
        created_at: run.created_at,
        completed_at: overview.completed_at,
        next_generation,
    }
}

fn state_columns<'a>(
    run: &'a RunRow,
    next_generation: Option<Generation>,
    overview: &'a Overview,
) -> StateColumns<'a> {
    let retry = overview.execution_retry.as_ref();
    StateColumns {
        id: &run.id,
        workflow: &run.workflow,
        version: run.version,
        generation: run.generation,
        status: overview.status(),
        tags: &run.tags,
        result: overview.result.as_ref(),
        error: error_of(overview),
        rollback_error: overview.rollback_error.as_ref(),
        reason: reason_of(overview),
        next_retry_at: retry.map(|retry| retry.retry_at),
        deadline: overview.deadline,
        created_at: run.created_at,
        completed_at: overview.completed_at,
        next_generation,
    }
}

/// Returns why the run failed, or why it is parked or will be retried.
fn error_of(overview: &Overview) -> Option<&Failure> {
    let paused = match &overview.pause {
        Some(PauseView::Paused { reason, .. }) => reason.as_ref(),
        Some(PauseView::Requested(_)) | None => None,
    };
    let forced = match &overview.ending {
        Some(EndingView::Forced(forced)) => Some(&forced.error),
        Some(EndingView::Cancel(_) | EndingView::Deadline(_)) | None => None,
    };
    let diverged = overview.diverged.as_ref().map(|diverged| &diverged.error);
    let retried = overview.execution_retry.as_ref().map(|retry| &retry.error);
    let errors = [overview.error.as_ref(), diverged, paused, forced, retried];
    errors.into_iter().flatten().next()
}

/// Returns the reason in the request that ended, cancelled or paused the run.
fn reason_of(overview: &Overview) -> Option<&str> {
    let cancelled = match &overview.ending {
        Some(EndingView::Cancel(request)) => request.reason.as_deref(),
        Some(EndingView::Deadline(_) | EndingView::Forced(_)) | None => None,
    };
    let paused = match &overview.pause {
        Some(PauseView::Requested(request)) => request.reason.as_deref(),
        Some(PauseView::Paused { request, .. }) => {
            let request = request.as_ref();
            request.and_then(|request| request.reason.as_deref())
        }
        None => None,
    };
    overview.reason.as_deref().or(paused).or(cancelled)
}

/// Removes from an error what is meant for developers.
pub(crate) fn without_origin(error: Failure) -> Failure {
    Failure {
        stack: None,
        cause: None,
        ..error
    }
}
