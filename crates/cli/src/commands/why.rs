//! `everstep why`: explains why a run makes no progress.

use clap::Args;
use everstep_protocol::client::segment;
use everstep_protocol::workflow::WhyView;

use crate::context::Context;
use crate::exit::Exit;
use crate::output::{Colour, escape_controls};

#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  everstep why order-7\n  everstep why order-7 --json | jq .reasons"
)]
pub(crate) struct Why {
    /// ID of the run
    run: String,
}

pub(crate) async fn run(arguments: &Why, context: &Context) -> anyhow::Result<Exit> {
    let path = format!("workflows/{}/why", segment(&arguments.run));
    let out = &context.out;
    if out.is_json {
        let why: serde_json::Value = context.server.get(&path).await?;
        return out.json_lines(&[why]);
    }
    let why: WhyView = context.server.get(&path).await?;
    let sentence = escape_controls(&why.sentence);
    let sentence = out.paint.paint(Colour::of_run(why.status), &sentence);
    out.line(&format!(
        "{} is {sentence}",
        escape_controls(&arguments.run)
    ))?;
    if let Some(deadline) = why.deadline {
        out.line(&format!("Its deadline is {deadline}."))?;
    }
    Ok(Exit::Success)
}
