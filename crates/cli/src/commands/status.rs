//! `everstep status`: prints the status of a run as one word, or an overview of the server.

use clap::Args;
use everstep_model::RunStatus;
use everstep_protocol::client::Call;
use everstep_protocol::workflow::TypePage;
use serde_json::json;

use crate::arguments::{RunFilter, values};
use crate::context::Context;
use crate::exit::Exit;
use crate::output::{Colour, Table, plain};
use crate::runs;

const EXAMPLES: &str = "\
Examples:
  everstep status                the server and its unfinished runs
  everstep status order-7        one word, for scripts
  everstep status order-7 --json";

/// The maximum number of unfinished runs to count.
const COUNTED_MAX: usize = 10_000;

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Status {
    /// ID of a run [default: an overview of the server]
    #[arg(value_parser = values::run)]
    run: Option<String>,
}

pub(crate) async fn run(arguments: &Status, context: &Context) -> anyhow::Result<Exit> {
    let Some(run) = &arguments.run else {
        return server(context).await;
    };
    let run = runs::get(context, run).await?;
    let value = json!({"id": run.id, "generation": run.generation, "status": run.status});
    context.out.result(&value, run.status.as_str())
}

async fn server(context: &Context) -> anyhow::Result<Exit> {
    let (server, out) = (&context.server, &context.out);
    // Fails if the server is unreachable or not ready.
    server.send(Call::get("health/ready")).await?;
    let workflows = server.get::<TypePage>("types").await?.types.len();
    let unfinished = RunStatus::ALL.iter().filter(|status| !status.is_terminal());
    let unfinished = RunFilter::of_statuses(unfinished.copied());
    let (found, is_all) = runs::list(context, &unfinished, COUNTED_MAX).await?;
    let count = |status| found.iter().filter(|run| run.status == status).count();
    let counts = RunStatus::ALL.iter().map(|&status| (status, count(status)));
    let counts: Vec<_> = counts.filter(|(_, count)| *count > 0).collect();
    if out.is_json {
        let of_words = counts
            .iter()
            .map(|(status, count)| (status.as_str(), count));
        let unfinished: std::collections::BTreeMap<_, _> = of_words.collect();
        out.json(&json!({
            "server": server.url(),
            "ready": true,
            "workflows": workflows,
            "unfinished": unfinished,
            "isComplete": is_all,
        }))?;
        return Ok(Exit::Success);
    }
    let server = out.paint.paint(Colour::Good, "ready");
    out.line(&format!(
        "{} is {server}, with {workflows} workflows",
        context.server.url()
    ))?;
    if counts.is_empty() {
        out.line("no run is unfinished")?;
        return Ok(Exit::Success);
    }
    let mut table = Table::new(&["STATUS", "RUNS"]);
    for (status, count) in counts {
        table.row([(status.to_string(), Colour::of_run(status)), plain(count)]);
    }
    out.table(&table)?;
    if !is_all {
        let text = format!("There are more; the newest {COUNTED_MAX} are counted.");
        out.coloured_line(Colour::Quiet, &text)?;
    }
    Ok(Exit::Success)
}
