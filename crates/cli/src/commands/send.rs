//! `everstep send`: an event to a run.

use clap::Args;
use everstep_protocol::client::{Call, segment};
use everstep_protocol::workflow::{EventAnswer, EventOutcome};
use http::HeaderName;

use super::payload::Json;
use crate::ending::Ending;
use crate::output::clean;
use crate::session::Session;

const EXAMPLES: &str = "\
Examples:
  everstep send order-7 approval '{\"approved\":true,\"reviewer\":\"grace\"}'
  everstep send order-7 approval --file approval.json --dedup-id approval-1   sent twice, it counts once
  everstep send order-7 question '\"how far?\"' --reply 10s                     wait for the run's reply";

const DEDUP_ID: HeaderName = HeaderName::from_static("idempotency-key");

/// Sends an event to a run. It is kept until the run asks for it.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Send {
    /// The run.
    run: String,
    /// The event's name.
    event: String,
    #[command(flatten)]
    payload: Json,
    /// The event's id; the run sees each id once.
    #[arg(long, value_name = "ID")]
    dedup_id: Option<String>,
    /// Wait for the run's reply to the event, but no longer than this.
    #[arg(long, value_name = "DURATION")]
    reply: Option<String>,
}

pub(crate) async fn run(arguments: &Send, session: &Session) -> anyhow::Result<Ending> {
    let (run, event) = (segment(&arguments.run), segment(&arguments.event));
    let mut path = format!("workflows/{run}/events/{event}");
    let mut patience = None;
    if let Some(reply) = &arguments.reply {
        path.push_str(&format!("?reply={}", segment(reply)));
        patience = Some(everstep_model::parse_duration(reply)?);
    }
    let mut call = Call::post(path).json(&arguments.payload.read()?)?;
    if let Some(patience) = patience {
        call = call.patience(patience + std::time::Duration::from_secs(30));
    }
    if let Some(id) = &arguments.dedup_id {
        call = call.header(DEDUP_ID, id);
    }
    let sent: EventAnswer = session.server.send(call).await?.json()?;
    let out = &session.out;
    if out.is_json {
        out.json(&sent)?;
        return Ok(Ending::Well);
    }
    out.line(&match (sent.outcome, &sent.reply) {
        (_, Some(reply)) => clean(reply.as_str()),
        (EventOutcome::Accepted, None) => format!("accepted by {}", arguments.run),
        (EventOutcome::Duplicate, None) => {
            format!("{} has an event of that id already", arguments.run)
        }
    })?;
    Ok(Ending::Well)
}
