//! `everstep tail`: follows a run live and prints its timeline.

use std::time::Duration;

use clap::Args;
use everstep_protocol::client::{Answer, Call, CallError, segment};
use everstep_protocol::workflow::RunView;
use http::{Method, StatusCode};
use serde_json::value::RawValue;

use crate::context::Context;
use crate::exit::Exit;
use crate::runs;
use crate::timeline::ServerLine;

const EXAMPLES: &str = "\
Examples:
  everstep tail order-7                 from the beginning until the run ends
  everstep tail order-7 --from now      only new records
  everstep tail order-7 --json | jq     one JSON object per line";

/// The timeout of a long-poll, longer than the server waits.
const POLL_TIMEOUT: Duration = Duration::from_secs(90);
/// The delay before reconnecting.
const RECONNECT_DELAY: Duration = Duration::from_secs(1);

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Tail {
    /// ID of the run
    run: String,
    /// Where to begin
    #[arg(long, default_value = "start", value_parser = ["start", "now"])]
    from: String,
}

pub(crate) async fn run(arguments: &Tail, context: &Context) -> anyhow::Result<Exit> {
    let run = runs::get(context, &arguments.run).await?;
    tokio::select! {
        exit = follow(arguments, &run, context) => exit,
        _ = tokio::signal::ctrl_c() => Ok(Exit::Interrupted),
    }
}

async fn follow(arguments: &Tail, run: &RunView, context: &Context) -> anyhow::Result<Exit> {
    // Get the end of the journal before the first timeline, so that no later record is missed.
    let mut end = JournalEnd::of(&context.server.send(journal(Method::HEAD, run, "")).await?);
    let mut from = match arguments.from.as_str() {
        "now" => end.next_number(),
        _ => 0,
    };
    loop {
        let path = format!(
            "workflows/{}/timeline?from={from}",
            segment(run.id.as_str())
        );
        for line in context.server.get::<Vec<Box<RawValue>>>(&path).await? {
            let entry: ServerLine = serde_json::from_str(line.get())?;
            from = entry.number.0 + 1;
            context.out.line(&match context.out.is_json {
                true => line.get().to_owned(),
                false => entry.render().format(context.out.paint, ""),
            })?;
        }
        if end.is_closed {
            let ended = runs::get(context, &arguments.run).await?;
            return Ok(runs::exit_of(ended.status));
        }
        end = wait_for_records(context, run, &end).await?;
    }
}

struct JournalEnd {
    offset: String,
    is_closed: bool,
}

impl JournalEnd {
    fn of(answer: &Answer) -> Self {
        Self {
            offset: answer
                .header("stream-next-offset")
                .unwrap_or("-1")
                .to_owned(),
            is_closed: answer.header("stream-closed") == Some("true"),
        }
    }

    fn next_number(&self) -> u64 {
        let number = self.offset.rsplit('_').next();
        number.and_then(|number| number.parse().ok()).unwrap_or(0)
    }
}

/// Waits for new records. Reconnects for as long as the server is unreachable.
async fn wait_for_records(
    context: &Context,
    run: &RunView,
    end: &JournalEnd,
) -> Result<JournalEnd, CallError> {
    let query = format!("?offset={}&live=long-poll", end.offset);
    loop {
        let call = journal(Method::GET, run, &query).timeout(POLL_TIMEOUT);
        match context.server.send(call).await {
            Ok(answer) if answer.status == StatusCode::NO_CONTENT => {
                let now = JournalEnd::of(&answer);
                if now.is_closed {
                    return Ok(now);
                }
            }
            Ok(answer) => return Ok(JournalEnd::of(&answer)),
            Err(CallError::Transport(_)) => tokio::time::sleep(RECONNECT_DELAY).await,
            Err(error) => return Err(error),
        }
    }
}

fn journal(method: Method, run: &RunView, query: &str) -> Call {
    let name = match run.generation {
        1 => run.id.to_string(),
        generation => format!("{}@{generation}", run.id),
    };
    let path = format!("v1/stream/workflows/{}{query}", segment(&name));
    Call::new(method, path)
}
