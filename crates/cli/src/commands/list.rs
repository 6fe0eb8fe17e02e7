//! `everstep list`: lists runs, newest first.

use std::time::SystemTime;

use clap::Args;
use everstep_protocol::workflow::RunSummary;

use crate::arguments::RunFilter;
use crate::context::Context;
use crate::exit::Exit;
use crate::output::{Colour, Table, plain, relative_time};
use crate::runs;

const EXAMPLES: &str = "\
Examples:
  everstep list
  everstep list --status failed,rollback_failed --type payment
  everstep list --tag nightly --limit 500 --json | jq -r .id";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct List {
    #[command(flatten)]
    filter: RunFilter,
    /// Maximum number of runs
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
}

pub(crate) async fn run(arguments: &List, context: &Context) -> anyhow::Result<Exit> {
    let limit = usize::try_from(arguments.limit)?;
    let (runs, is_all) = runs::list(context, &arguments.filter, limit).await?;
    let out = &context.out;
    if out.is_json {
        return out.json_lines(&runs);
    }
    if runs.is_empty() {
        out.line(match arguments.filter.is_empty() {
            true => "There are no runs yet. Start one: everstep start WORKFLOW JSON",
            false => "no run matches this filter",
        })?;
        return Ok(Exit::Success);
    }
    out.table(&table(&runs))?;
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
