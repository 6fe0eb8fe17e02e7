//! `everstep list`: lists runs, newest first.

use std::io::{IsTerminal, Write};
use std::time::{Duration, SystemTime};

use clap::Args;
use everstep_protocol::client::CallError;
use everstep_protocol::workflow::RunSummary;

use crate::arguments::RunFilter;
use crate::context::Context;
use crate::exit::Exit;
use crate::output::{Colour, Table, plain, relative_time};
use crate::reconnect;
use crate::runs;

const EXAMPLES: &str = "\
Examples:
  everstep list
  everstep list --status failed,rollback_failed --type payment
  everstep list --created-from 2h --watch
  everstep list --tag nightly --limit 500 --json | jq -r .id";

/// How often `--watch` looks for changes.
const WATCH_INTERVAL: Duration = Duration::from_secs(1);
const CLEAR_SCREEN: &str = "\x1b[H\x1b[2J";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct List {
    #[command(flatten)]
    filter: RunFilter,
    /// Maximum number of runs
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    /// Show changes until interrupted: redraw the table, or print each changed run with --json
    #[arg(long, short)]
    watch: bool,
}

pub(crate) async fn run(arguments: &List, context: &Context) -> anyhow::Result<Exit> {
    if arguments.watch {
        return tokio::select! {
            ended = watch(arguments, context) => ended,
            _ = tokio::signal::ctrl_c() => Ok(Exit::Interrupted),
        };
    }
    let (runs, is_all) = find(arguments, context).await?;
    match context.out.is_json {
        true => context.out.json_lines(&runs),
        false => print(&runs, is_all, arguments, context),
    }
}

async fn find(arguments: &List, context: &Context) -> Result<(Vec<RunSummary>, bool), CallError> {
    let limit = usize::try_from(arguments.limit).unwrap_or(usize::MAX);
    runs::list(context, &arguments.filter, limit).await
}

/// Prints the runs whenever one of them changes.
async fn watch(arguments: &List, context: &Context) -> anyhow::Result<Exit> {
    let out = &context.out;
    let mut last: Option<Vec<RunSummary>> = None;
    loop {
        let (runs, is_all) = match &last {
            None => find(arguments, context).await?,
            Some(_) => reconnect::retry(context, async || find(arguments, context).await).await?,
        };
        let known = last.as_deref().unwrap_or_default();
        if out.is_json {
            let changed = runs.iter().filter(|run| !known.contains(run));
            out.json_lines(&changed.collect::<Vec<_>>())?;
        } else if last.as_ref() != Some(&runs) {
            if std::io::stdout().is_terminal() {
                write!(std::io::stdout(), "{CLEAR_SCREEN}")?;
            } else if last.is_some() {
                out.line("")?;
            }
            print(&runs, is_all, arguments, context)?;
        }
        last = Some(runs);
        tokio::time::sleep(WATCH_INTERVAL).await;
    }
}

fn print(
    runs: &[RunSummary],
    is_all: bool,
    arguments: &List,
    context: &Context,
) -> anyhow::Result<Exit> {
    let out = &context.out;
    if runs.is_empty() {
        let start = context.command("start WORKFLOW JSON");
        out.line(&match arguments.filter.is_empty() {
            true => format!("There are no runs yet. Start one: {start}"),
            false => "no run matches this filter".to_owned(),
        })?;
        return Ok(Exit::Success);
    }
    out.table(&table(runs))?;
    if !is_all {
        out.coloured_line(
            Colour::Quiet,
            "More runs match; increase --limit to see them.",
        )?;
    }
    Ok(Exit::Success)
}

fn table(runs: &[RunSummary]) -> Table {
    let now = SystemTime::now().into();
    let mut table = Table::new(&["RUN", "WORKFLOW", "STATUS", "CREATED", "CHANGED", "TAGS"]);
    for run in runs {
        table.row([
            plain(&run.id),
            plain(&run.workflow),
            (run.status.to_string(), Colour::of_run(run.status)),
            plain(relative_time(run.created_at, now)),
            plain(relative_time(run.updated_at, now)),
            (run.tags.join(" "), Colour::Quiet),
        ]);
    }
    table
}
