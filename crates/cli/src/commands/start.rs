//! `everstep start`: starts a run, or finds the existing run with the same ID.

use std::path::PathBuf;

use clap::Args;
use everstep_protocol::workflow::{StartAnswer, StartRequest};

use super::show::print_end;
use super::start_batch;
use super::unknown_workflow;
use crate::arguments::{JsonArgument, values};
use crate::context::Context;
use crate::exit::Exit;
use crate::output::Colour;
use crate::runs;

const EXAMPLES: &str = "\
Examples:
  everstep start hello '{\"name\":\"Ada\"}'
  everstep start payment --id order-7 --file order.json    one run per ID
  everstep start payment --batch orders.jsonl              one run per line: {\"id\":..,\"input\":..}
  everstep start hello '{\"name\":\"Ada\"}' --wait             print the result; exit code 8 if it fails";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Start {
    /// Name of the workflow
    workflow: String,
    #[command(flatten)]
    input: JsonArgument,
    /// ID of the run [default: random]
    #[arg(long, value_parser = values::run_id)]
    id: Option<String>,
    /// Idempotency key: all starts of this workflow with the same key refer to one run; with
    /// --batch, line 7 has the key `KEY:7` if it has no `id`
    #[arg(long, value_name = "KEY")]
    idempotency_key: Option<String>,
    /// Tag to find the run by; may be repeated
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// Maximum duration of the run, such as 2h
    #[arg(long, value_name = "DURATION", value_parser = values::duration)]
    deadline: Option<String>,
    /// Fail if the ID already exists
    #[arg(long)]
    strict: bool,
    /// Start a run for each line of this file, or of stdin if it is `-`; a line is a JSON object
    /// with `input` and optionally `id`
    #[arg(long, value_name = "FILE", conflicts_with_all = ["payload", "file", "id", "wait"])]
    batch: Option<PathBuf>,
    /// Wait for the run to end and print its result
    #[arg(long)]
    wait: bool,
}

pub(crate) async fn run(arguments: &Start, context: &Context) -> anyhow::Result<Exit> {
    let mut request = StartRequest::new(&arguments.workflow, arguments.input.read()?);
    request.id = arguments.id.clone();
    request.idempotency_key = arguments.idempotency_key.clone();
    request.tags = arguments.tags.clone();
    request.deadline = arguments.deadline.clone();
    request.strict = arguments.strict;
    if let Some(file) = &arguments.batch {
        return start_batch::run(file, request, context).await;
    }
    let started = context.server.post("workflows", &request).await;
    let started: StartAnswer = match started {
        Ok(started) => started,
        Err(error) => {
            return Err(unknown_workflow::explain(error, &request.workflow, context).await);
        }
    };
    if arguments.wait {
        // Now, because the connection may be lost while the command waits.
        let did = if started.created { "started" } else { "exists" };
        context.out.notice(&format!("{} {did}", started.id));
        let run = runs::wait_for_end(context, started.id.as_str()).await?;
        return print_end(&context.out, &run);
    }
    let id = context.out.paint.paint(Colour::Strong, started.id.as_str());
    let text = match started.created {
        true => format!("{id} started"),
        false => format!("{id} already exists and is {}", started.status),
    };
    context.out.result(&started, &text)
}
