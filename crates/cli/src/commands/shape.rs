//! `everstep shape`: prints the structure of a run as a Mermaid flowchart.

use clap::Args;
use everstep_protocol::client::{Call, segment};
use http::header;
use serde_json::value::RawValue;

use crate::arguments::values;
use crate::context::Context;
use crate::exit::Exit;

const EXAMPLES: &str = "\
Examples:
  everstep shape order-7                a Mermaid flowchart, which GitHub and many editors draw
  everstep shape order-7 --json | jq    its nodes as data";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Shape {
    /// ID of the run, or of one of its generations, such as order-7@1
    #[arg(value_parser = values::run)]
    run: String,
}

pub(crate) async fn run(arguments: &Shape, context: &Context) -> anyhow::Result<Exit> {
    let path = format!("workflows/{}/shape", segment(&arguments.run));
    if context.out.is_json {
        let call = Call::get(path).header(header::ACCEPT, "application/json");
        let shape: Box<RawValue> = context.server.send(call).await?.json()?;
        return context.out.json_lines(&[shape]);
    }
    let call = Call::get(path).header(header::ACCEPT, "text/vnd.mermaid");
    let chart = context.server.send(call).await?.body;
    // The server escapes control characters in names.
    let chart = String::from_utf8_lossy(&chart);
    context.out.line(chart.trim_end())?;
    Ok(Exit::Success)
}
