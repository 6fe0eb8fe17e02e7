//! `everstep start`: starts a run, or finds the one that was started before.

use clap::Args;
use everstep_protocol::workflow::{StartAnswer, StartRequest};

use super::payload::Json;
use super::waiting;
use crate::ending::Ending;
use crate::output::Colour;
use crate::session::Session;

const EXAMPLES: &str = "\
Examples:
  everstep start hello '{\"name\":\"Ada\"}'
  everstep start payment --id order-7 --file order.json    the same id is the same run
  everstep start hello '{\"name\":\"Ada\"}' --wait             print the result; exit code 8 if it fails";

/// Starts a run of a workflow. With an id that exists it starts nothing and says how that run is.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Start {
    /// The workflow.
    workflow: String,
    #[command(flatten)]
    input: Json,
    /// The run's id; a random one by default.
    #[arg(long)]
    id: Option<String>,
    /// A key that leads every start with it to one run of this workflow.
    #[arg(long, value_name = "KEY")]
    idempotency_key: Option<String>,
    /// A word to find the run by; may be given more than once.
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// How long the run may take, such as 2h.
    #[arg(long, value_name = "DURATION")]
    deadline: Option<String>,
    /// Refuse an id that exists.
    #[arg(long)]
    strict: bool,
    /// Wait until the run is over, and print its result.
    #[arg(long)]
    wait: bool,
}

pub(crate) async fn run(arguments: &Start, session: &Session) -> anyhow::Result<Ending> {
    let mut request = StartRequest::new(&arguments.workflow, arguments.input.read()?);
    request.id = arguments.id.clone();
    request.idempotency_key = arguments.idempotency_key.clone();
    request.tags = arguments.tags.clone();
    request.deadline = arguments.deadline.clone();
    request.strict = arguments.strict;
    let started: StartAnswer = session.server.post("workflows", &request).await?;
    if arguments.wait {
        let run = waiting::ended(session, started.id.as_str()).await?;
        return waiting::tell(&session.out, &run);
    }
    let out = &session.out;
    if out.is_json {
        out.json(&started)?;
        return Ok(Ending::Well);
    }
    let id = out.paint.paint(Colour::Strong, started.id.as_str());
    out.line(&match started.created {
        true => format!("{id} started"),
        false => format!("{id} was there already, and is {}", started.status),
    })?;
    Ok(Ending::Well)
}
