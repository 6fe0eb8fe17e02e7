//! `everstep why`: why a run is not moving.

use clap::Args;
use everstep_protocol::client::segment;
use everstep_protocol::workflow::WhyView;

use crate::ending::Ending;
use crate::output::{Colour, clean};
use crate::session::Session;

/// Says why a run is not moving: what it waits for and since when, which worker is missing, what failed last.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  everstep why order-7\n  everstep why order-7 --json | jq .reasons"
)]
pub(crate) struct Why {
    /// The run.
    run: String,
}

pub(crate) async fn run(arguments: &Why, session: &Session) -> anyhow::Result<Ending> {
    let path = format!("workflows/{}/why", segment(&arguments.run));
    let out = &session.out;
    if out.is_json {
        let why: serde_json::Value = session.server.get(&path).await?;
        out.json(&why)?;
        return Ok(Ending::Well);
    }
    let why: WhyView = session.server.get(&path).await?;
    let sentence = out
        .paint
        .paint(Colour::of_run(why.status), &clean(&why.sentence));
    out.line(&format!("{} is {sentence}", clean(&arguments.run)))?;
    if let Some(deadline) = why.deadline {
        out.line(&format!("It must be over by {deadline}."))?;
    }
    Ok(Ending::Well)
}
