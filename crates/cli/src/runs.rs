//! Requests about runs that several commands share: get a run, list runs, wait for a run to end.

use std::time::Duration;

use everstep_model::RunStatus;
use everstep_protocol::client::{Call, segment};
use everstep_protocol::workflow::{RunPage, RunSummary, RunView};

use crate::arguments::RunFilter;
use crate::context::Context;
use crate::exit::Exit;

/// How long one request waits for the end of a run. The server may allow less.
const WAIT: &str = "25s";
/// The timeout of such a request.
const WAIT_TIMEOUT: Duration = Duration::from_secs(60);
/// The largest page that the server returns.
const PAGE_MAX: usize = 500;

pub(crate) async fn get(context: &Context, id: &str) -> anyhow::Result<RunView> {
    let path = format!("workflows/{}", segment(id));
    Ok(context.server.get(&path).await?)
}

/// Waits until a run has ended.
pub(crate) async fn wait_for_end(context: &Context, id: &str) -> anyhow::Result<RunView> {
    loop {
        let path = format!("workflows/{}?wait={WAIT}", segment(id));
        let call = Call::get(path).timeout(WAIT_TIMEOUT);
        let run: RunView = context.server.send(call).await?.json()?;
        if run.status.is_terminal() {
            return Ok(run);
        }
    }
}

/// Returns at most `limit` matching runs, and whether these are all of them.
pub(crate) async fn list(
    context: &Context,
    filter: &RunFilter,
    limit: usize,
) -> anyhow::Result<(Vec<RunSummary>, bool)> {
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
    }
}

/// The exit code of a command that waited for a run with this final status.
pub(crate) fn exit_of(status: RunStatus) -> Exit {
    match status {
        RunStatus::Completed => Exit::Success,
        _ => Exit::RunFailed,
    }
}
