//! `everstep answer`: the answer to a question that a run asks.

use std::time::{Duration, Instant};

use clap::Args;
use everstep_protocol::client::{Call, segment};
use everstep_protocol::workflow::{AnswerAccepted, RpcView, RunView};

use super::payload::Json;
use super::show;
use crate::ending::{Ending, UsageError};
use crate::output::{clean, short};
use crate::session::Session;

const EXAMPLES: &str = "\
Examples:
  everstep answer expense-1 approveExpense '{\"approved\":true}'
  everstep answer expense-1 rpc_3fb1c2 '{\"approved\":false}'   by the question's id, if it is asked more than once";

/// How long a run may take to ask, for people who are faster than it.
const ABOUT_TO_ASK: Duration = Duration::from_secs(3);
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Answers a question of a run. The first valid answer wins.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Answer {
    /// The run.
    run: String,
    /// What is asked: the method, or the id of the question.
    question: String,
    #[command(flatten)]
    answer: Json,
}

pub(crate) async fn run(arguments: &Answer, session: &Session) -> anyhow::Result<Ending> {
    let answer = arguments.answer.read()?;
    // A question that is not asked in the end is the server's to refuse: it knows why.
    let id = asked(arguments, session).await?;
    let id = id.unwrap_or_else(|| arguments.question.clone());
    let path = format!("workflows/{}/rpc/{}", segment(&arguments.run), segment(&id));
    let call = Call::post(path).json(&answer)?;
    let accepted: AnswerAccepted = session.server.send(call).await?.json()?;
    match session.out.is_json {
        true => session.out.json(&accepted)?,
        false => session
            .out
            .line(&format!("{} has its answer", arguments.run))?,
    }
    Ok(Ending::Well)
}

/// The id of the question that is meant, which the run may be about to ask.
async fn asked(arguments: &Answer, session: &Session) -> anyhow::Result<Option<String>> {
    let started = Instant::now();
    loop {
        let run = show::get(session, &arguments.run).await?;
        if let Some(open) = find(&run, &arguments.question)? {
            return Ok(Some(open.id.to_string()));
        }
        if run.status.is_terminal() || started.elapsed() > ABOUT_TO_ASK {
            return Ok(None);
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// The open question that is meant.
fn find<'a>(run: &'a RunView, question: &str) -> Result<Option<&'a RpcView>, UsageError> {
    let by_id = run.rpcs.iter().find(|rpc| &*rpc.id.0 == question);
    if by_id.is_some() {
        return Ok(by_id);
    }
    let mut named = run
        .rpcs
        .iter()
        .filter(|rpc| rpc.method.as_str() == question);
    match (named.next(), named.next()) {
        (Some(one), None) => Ok(Some(one)),
        (Some(_), Some(_)) => Err(UsageError {
            what: format!("{} asks `{}` more than once", run.id, clean(question)),
            remedy: format!("Say which by its id:\n{}", open(run)),
        }),
        (None, _) if run.rpcs.is_empty() => Ok(None),
        (None, _) => Err(UsageError {
            what: format!("{} does not ask `{}`", run.id, clean(question)),
            remedy: format!("It asks:\n{}", open(run)),
        }),
    }
}

fn open(run: &RunView) -> String {
    let lines = run.rpcs.iter().map(|rpc| {
        let about = short(rpc.args.as_str());
        format!("  {}  {} about {about}", rpc.id, rpc.method)
    });
    lines.collect::<Vec<_>>().join("\n")
}
