//! `everstep tail`: follows a run live, and tells its journal like a story.

use std::time::Duration;

use clap::Args;
use everstep_protocol::client::{Answer, Call, CallError, segment};
use everstep_protocol::workflow::RunView;
use http::{Method, StatusCode};
use serde_json::value::RawValue;

use super::{show, waiting};
use crate::ending::Ending;
use crate::session::Session;
use crate::story::Sent;

const EXAMPLES: &str = "\
Examples:
  everstep tail order-7                 from the beginning, until it is over
  everstep tail order-7 --from now      only what is new
  everstep tail order-7 --json | jq     the same for programs, one JSON object a line";

/// More than the server waits.
const PATIENCE: Duration = Duration::from_secs(90);
/// How long to rest after the connection was lost.
const REST: Duration = Duration::from_secs(1);

/// Follows a run until it is over: every record of its journal, as soon as it is durable.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Tail {
    /// The run.
    run: String,
    /// Where to begin: `start` or `now`.
    #[arg(long, default_value = "start", value_parser = ["start", "now"])]
    from: String,
}

pub(crate) async fn run(arguments: &Tail, session: &Session) -> anyhow::Result<Ending> {
    let run = show::get(session, &arguments.run).await?;
    tokio::select! {
        ending = follow(arguments, &run, session) => ending,
        _ = tokio::signal::ctrl_c() => Ok(Ending::Interrupted),
    }
}

async fn follow(arguments: &Tail, run: &RunView, session: &Session) -> anyhow::Result<Ending> {
    // Where the journal ends is asked first: what comes after that is news, whatever was told by then.
    let mut end = End::of(&session.server.send(journal(Method::HEAD, run, "")).await?);
    let mut from = match arguments.from.as_str() {
        "now" => end.number(),
        _ => 0,
    };
    loop {
        for line in timeline(session, run, from).await? {
            let sent: Sent = serde_json::from_str(line.get())?;
            from = sent.number.0 + 1;
            session.out.line(&match session.out.is_json {
                true => line.get().to_owned(),
                false => sent.told().line(session.out.paint, ""),
            })?;
        }
        if end.is_closed {
            let ended = show::get(session, &arguments.run).await?;
            return Ok(waiting::ending(ended.status));
        }
        end = news(session, run, &end).await?;
    }
}

/// Where a journal ends.
struct End {
    offset: String,
    is_closed: bool,
}

impl End {
    fn of(answer: &Answer) -> Self {
        Self {
            offset: answer
                .header("stream-next-offset")
                .unwrap_or("-1")
                .to_owned(),
            is_closed: answer.header("stream-closed") == Some("true"),
        }
    }

    /// The number of the next record.
    fn number(&self) -> u64 {
        let number = self.offset.rsplit('_').next();
        number.and_then(|number| number.parse().ok()).unwrap_or(0)
    }
}

/// Waits until the journal goes on. Wherever the server is meanwhile: it comes back, and the journal with it.
async fn news(session: &Session, run: &RunView, end: &End) -> Result<End, CallError> {
    let query = format!("?offset={}&live=long-poll", end.offset);
    loop {
        let call = journal(Method::GET, run, &query).patience(PATIENCE);
        match session.server.send(call).await {
            Ok(answer) if answer.status == StatusCode::NO_CONTENT => {
                let now = End::of(&answer);
                if now.is_closed {
                    return Ok(now);
                }
            }
            Ok(answer) => return Ok(End::of(&answer)),
            Err(CallError::Transport(_)) => tokio::time::sleep(REST).await,
            Err(error) => return Err(error),
        }
    }
}

fn journal(method: Method, run: &RunView, query: &str) -> Call {
    let name = match run.generation {
        1 => run.id.to_string(),
        generation => format!("{}@{generation}", run.id),
    };
    Call::new(
        method,
        format!("v1/stream/workflows/{}{query}", segment(&name)),
    )
}

async fn timeline(
    session: &Session,
    run: &RunView,
    from: u64,
) -> Result<Vec<Box<RawValue>>, CallError> {
    let path = format!(
        "workflows/{}/timeline?from={from}",
        segment(run.id.as_str())
    );
    session.server.get(&path).await
}
