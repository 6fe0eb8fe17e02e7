//! `everstep tail`: follows a run live and prints its timeline.

use std::time::Duration;

use clap::Args;
use everstep_protocol::client::{Answer, Call, CallError, segment};
use everstep_protocol::workflow::RunView;
use http::{Method, StatusCode};

use super::pages::TimelinePages;
use super::timeline;
use crate::arguments::values;
use crate::context::Context;
use crate::exit::Exit;
use crate::local_time::LocalClock;
use crate::reconnect;
use crate::runs;

const EXAMPLES: &str = "\
Examples:
  everstep tail order-7                 from the beginning until the run ends
  everstep tail order-7 --from now      only new records
  everstep tail order-7 --json | jq     one JSON object per line";

/// The timeout of a long-poll, longer than the server waits.
const POLL_TIMEOUT: Duration = Duration::from_secs(90);

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Tail {
    /// ID of the run, or of one of its generations, such as order-7@1
    #[arg(value_parser = values::run)]
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
    let mut clock = LocalClock::new();
    // Get the end of the journal before the first timeline, so that no later record is missed.
    let head = journal(Method::HEAD, run, "");
    let mut end = JournalEnd::of(&reconnect::send(context, &head).await?);
    let from = match arguments.from.as_str() {
        "now" => end.next_number(),
        _ => 0,
    };
    // This generation, even if the run is restarted meanwhile.
    let id = format!("{}@{}", run.id, run.generation);
    let mut pages = TimelinePages::of(&id, from);
    loop {
        while let Some(lines) = pages.next(context, true).await? {
            for line in lines {
                timeline::print(&line, &mut clock, context)?;
            }
        }
        if end.is_closed {
            let ended = Call::get(format!("workflows/{}", segment(&id)));
            let ended: RunView = reconnect::send(context, &ended).await?.json()?;
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

/// Waits for new records, also if the connection is lost meanwhile.
async fn wait_for_records(
    context: &Context,
    run: &RunView,
    end: &JournalEnd,
) -> Result<JournalEnd, CallError> {
    let query = format!("?offset={}&live=long-poll", end.offset);
    let call = journal(Method::GET, run, &query).timeout(POLL_TIMEOUT);
    loop {
        let answer = reconnect::send(context, &call).await?;
        let now = JournalEnd::of(&answer);
        if answer.status != StatusCode::NO_CONTENT || now.is_closed {
            return Ok(now);
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
