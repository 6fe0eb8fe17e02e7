//! Requests about runs that several commands share: get a run, list runs, wait for a run to end.

use std::time::{Duration, SystemTime};

use everstep_model::RunStatus;
use everstep_protocol::client::{Call, CallError, segment};
use everstep_protocol::workflow::{RunPage, RunSummary, RunView};

use crate::arguments::RunFilter;
use crate::context::Context;
use crate::exit::Exit;
use crate::output::{ProgressLine, format_duration};
use crate::reconnect;

/// How long one request waits for the end of a run. The server may allow less.
const WAIT: &str = "25s";
/// The same if a terminal shows the progress.
const WAIT_WITH_PROGRESS: &str = "1s";
/// The timeout of such a request.
const WAIT_TIMEOUT: Duration = Duration::from_secs(60);
/// The largest page that the server returns.
const PAGE_MAX: usize = 500;

/// Returns a run with all its steps, which come in pages.
pub(crate) async fn get(context: &Context, id: &str) -> Result<RunView, CallError> {
    let path = format!("workflows/{}", segment(id));
    let mut run: RunView = context.server.get(&path).await?;
    while let Some(cursor) = run.steps_cursor.take() {
        let path = format!("{path}?cursor={}", segment(&cursor));
        let page: RunView = context.server.get(&path).await?;
        run.steps.extend(page.steps);
        run.steps_cursor = page.steps_cursor;
    }
    Ok(run)
}

/// Waits until a run has ended, also if the connection is lost meanwhile.
pub(crate) async fn wait_for_end(context: &Context, id: &str) -> Result<RunView, CallError> {
    let progress = ProgressLine::new(context.out.is_json);
    let wait = match progress.is_visible {
        true => WAIT_WITH_PROGRESS,
        false => WAIT,
    };
    let path = format!("workflows/{}?wait={wait}", segment(id));
    let call = Call::get(path).timeout(WAIT_TIMEOUT);
    loop {
        let run: RunView = reconnect::send(context, &call).await?.json()?;
        if run.status.is_terminal() {
            return Ok(run);
        }
        let age = run.created_at.until(SystemTime::now().into());
        let text = format!("{} is {} ({})", run.id, run.status, format_duration(age));
        progress.set(&text);
    }
}

/// Returns at most `limit` matching runs, and whether these are all of them.
pub(crate) async fn list(
    context: &Context,
    filter: &RunFilter,
    limit: usize,
) -> Result<(Vec<RunSummary>, bool), CallError> {
    let progress = ProgressLine::new(context.out.is_json);
    let mut runs = Vec::new();
    let mut cursor = None;
    loop {
        let page_size = (limit - runs.len()).min(PAGE_MAX);
        let path = filter.path(page_size, cursor.as_deref());
        let page: RunPage = context.server.get(&path).await?;
        runs.extend(page.runs);
        cursor = page.cursor;
        if cursor.is_none() || runs.len() >= limit {
            return Ok((runs, cursor.is_none()));
        }
        progress.set(&format!("{} runs found", runs.len()));
    }
}

/// The exit code of a command that waited for a run with this final status.
pub(crate) fn exit_of(status: RunStatus) -> Exit {
    match status {
        RunStatus::Completed => Exit::Success,
        _ => Exit::RunFailed,
    }
}
