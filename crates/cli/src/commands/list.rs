//! `everstep list`: runs, newest first.

use std::time::SystemTime;

use clap::Args;
use everstep_protocol::workflow::{RunPage, RunSummary};

use super::selection::Selection;
use crate::ending::Ending;
use crate::output::{Colour, Table, ago};
use crate::session::Session;

const EXAMPLES: &str = "\
Examples:
  everstep list
  everstep list --status failed,rollback_failed --type payment
  everstep list --tag nightly --limit 500 --json | jq -r .id";

/// Runs a page has at most.
const PAGE_MAX: usize = 500;

/// Lists runs, the newest first. With --json, one run per line.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct List {
    #[command(flatten)]
    selection: Selection,
    /// How many at most.
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
}

pub(crate) async fn run(arguments: &List, session: &Session) -> anyhow::Result<Ending> {
    let limit = usize::try_from(arguments.limit)?;
    let (runs, is_all) = runs(session, &arguments.selection, limit).await?;
    let out = &session.out;
    if out.is_json {
        for run in &runs {
            out.json(run)?;
        }
        return Ok(Ending::Well);
    }
    if runs.is_empty() {
        out.line(match arguments.selection.is_empty() {
            true => "there are no runs yet; start one: everstep start WORKFLOW JSON",
            false => "no run passes this filter",
        })?;
        return Ok(Ending::Well);
    }
    out.table(&table(&runs))?;
    if !is_all {
        out.line(
            &out.paint
                .paint(Colour::Quiet, "there are more; see --limit"),
        )?;
    }
    Ok(Ending::Well)
}

/// Up to so many runs, and whether that is all of them.
pub(crate) async fn runs(
    session: &Session,
    selection: &Selection,
    limit: usize,
) -> anyhow::Result<(Vec<RunSummary>, bool)> {
    let mut runs = Vec::new();
    let mut cursor = None;
    loop {
        let wanted = (limit - runs.len()).min(PAGE_MAX);
        let path = selection.path(wanted, cursor.as_deref());
        let page: RunPage = session.server.get(&path).await?;
        runs.extend(page.runs);
        cursor = page.cursor;
        if cursor.is_none() || runs.len() >= limit {
            return Ok((runs, cursor.is_none()));
        }
    }
}

fn table(runs: &[RunSummary]) -> Table {
    let now = SystemTime::now().into();
    let mut table = Table::new(&["RUN", "WORKFLOW", "STATUS", "CREATED", "CHANGED", "TAGS"]);
    for run in runs {
        let plain = |text: String| (text, Colour::Plain);
        table.row([
            plain(run.id.to_string()),
            plain(run.workflow.to_string()),
            (run.status.to_string(), Colour::of_run(run.status)),
            plain(ago(run.created_at, now)),
            plain(ago(run.updated_at, now)),
            (run.tags.join(" "), Colour::Quiet),
        ]);
    }
    table
}
