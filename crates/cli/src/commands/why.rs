//! `everstep why`: explains why a run makes no progress.

use clap::Args;
use everstep_model::RunStatus;
use everstep_protocol::client::segment;
use everstep_protocol::workflow::WhyView;

use crate::arguments::values;
use crate::context::Context;
use crate::exit::Exit;
use crate::local_time::{local_time, with_local_times};
use crate::output::{Colour, escape_controls};

#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  everstep why order-7\n  everstep why order-7 --json | jq .reasons"
)]
pub(crate) struct Why {
    /// ID of the run, or of one of its generations, such as order-7@1
    #[arg(value_parser = values::run)]
    run: String,
}

/// Returns the commands that bring an ended run back, with a comment.
fn continuations(status: RunStatus) -> &'static [(&'static str, &'static str)] {
    match status {
        RunStatus::Failed => &[("recover", "continue where it failed")],
        RunStatus::RollbackFailed => &[
            ("retry-rollback", "repeat the rollback"),
            ("recover", "continue where it failed"),
        ],
        RunStatus::Cancelled | RunStatus::Terminated => &[("recover", "continue where it ended")],
        _ => &[],
    }
}

pub(crate) async fn run(arguments: &Why, context: &Context) -> anyhow::Result<Exit> {
    let path = format!("workflows/{}/why", segment(&arguments.run));
    let out = &context.out;
    if out.is_json {
        let why: serde_json::Value = context.server.get(&path).await?;
        return out.json_lines(&[why]);
    }
    let why: WhyView = context.server.get(&path).await?;
    let sentence = with_local_times(&escape_controls(&why.sentence));
    let sentence = out.paint.paint(Colour::of_run(why.status), &sentence);
    out.line(&format!(
        "{} is {sentence}",
        escape_controls(&arguments.run)
    ))?;
    if let Some(deadline) = why.deadline {
        out.line(&format!("Its deadline is {}.", local_time(deadline)))?;
    }
    // Commands continue the latest generation.
    let is_latest = !arguments.run.contains('@');
    for (verb, about) in continuations(why.status).iter().filter(|_| is_latest) {
        let command = context.command(&format!("{verb} {}", arguments.run));
        out.coloured_line(Colour::Quiet, &format!("  {command}   # {about}"))?;
    }
    Ok(Exit::Success)
}
