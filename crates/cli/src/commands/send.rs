//! `everstep send`: sends an event to a run.

use std::time::Duration;

use clap::Args;
use everstep_protocol::client::{Call, segment};
use everstep_protocol::workflow::{EventAnswer, EventOutcome};
use http::HeaderName;

use crate::arguments::{JsonArgument, values};
use crate::context::Context;
use crate::exit::Exit;
use crate::output::escape_controls;

const EXAMPLES: &str = "\
Examples:
  everstep send order-7 approval '{\"approved\":true,\"reviewer\":\"grace\"}'
  everstep send order-7 approval --file approval.json --dedup-id approval-1   delivered once, even if sent twice
  everstep send order-7 question '\"how far?\"' --reply 10s                     wait for the run's reply";

/// How much longer to wait for the response than the server waits for the reply.
const REPLY_MARGIN: Duration = Duration::from_secs(30);
const DEDUP_ID: HeaderName = HeaderName::from_static("idempotency-key");

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Send {
    /// ID of the run
    #[arg(value_parser = values::run_id)]
    run: String,
    /// Name of the event
    event: String,
    #[command(flatten)]
    payload: JsonArgument,
    /// Deduplication ID; the run receives one event per ID
    #[arg(long, value_name = "ID")]
    dedup_id: Option<String>,
    /// Wait for the run's reply, at most this long
    #[arg(long, value_name = "DURATION", value_parser = values::duration)]
    reply: Option<String>,
}

pub(crate) async fn run(arguments: &Send, context: &Context) -> anyhow::Result<Exit> {
    let (run, event) = (segment(&arguments.run), segment(&arguments.event));
    let mut path = format!("workflows/{run}/events/{event}");
    if let Some(reply) = &arguments.reply {
        path.push_str(&format!("?reply={}", segment(reply)));
    }
    let mut call = Call::post(path).json(&arguments.payload.read()?)?;
    if let Some(reply) = &arguments.reply {
        call = call.timeout(everstep_model::parse_duration(reply)? + REPLY_MARGIN);
    }
    if let Some(id) = &arguments.dedup_id {
        call = call.header(DEDUP_ID, id);
    }
    let sent: EventAnswer = context.server.send(call).await?.json()?;
    let run = &arguments.run;
    let text = match (sent.outcome, &sent.reply) {
        (_, Some(reply)) => escape_controls(reply.as_str()),
        (EventOutcome::Accepted, None) => format!("event accepted by {run}"),
        (EventOutcome::Duplicate, None) => format!("{run} already has an event with this ID"),
    };
    context.out.result(&sent, &text)
}
