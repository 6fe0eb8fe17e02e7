//! `everstep answer`: answers an rpc of a run.

use std::time::{Duration, Instant};

use clap::Args;
use everstep_model::{RunId, RunStatus};
use everstep_protocol::client::{Call, segment};
use everstep_protocol::workflow::{AnswerAccepted, RpcView};
use serde::Deserialize;

use crate::arguments::{JsonArgument, values};
use crate::context::Context;
use crate::exit::Exit;
use crate::output::{escape_controls, truncate};
use crate::usage_error::UsageError;

const EXAMPLES: &str = "\
Examples:
  everstep answer expense-1 approveExpense '{\"approved\":true}'
  everstep answer expense-1 rpc_3fb1c2 '{\"approved\":false}'   by ID";

/// How long to wait for the run to make the rpc.
const RPC_TIMEOUT: Duration = Duration::from_secs(3);
const POLL_INTERVAL: Duration = Duration::from_millis(200);

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Answer {
    /// ID of the run
    #[arg(value_parser = values::run_id)]
    run: String,
    /// Method of the rpc, or its ID if several rpcs with this method are open
    rpc: String,
    #[command(flatten)]
    answer: JsonArgument,
}

/// What a run shows to every caller that may answer it, whatever the view of its token.
#[derive(Deserialize)]
struct OpenRpcs {
    id: RunId,
    status: RunStatus,
    rpcs: Vec<RpcView>,
}

pub(crate) async fn run(arguments: &Answer, context: &Context) -> anyhow::Result<Exit> {
    let answer = arguments.answer.read()?;
    // If the rpc is not open, the server explains why.
    let id = wait_for_rpc(arguments, context).await?;
    let id = id.unwrap_or_else(|| arguments.rpc.clone());
    let path = format!("workflows/{}/rpc/{}", segment(&arguments.run), segment(&id));
    let call = Call::post(path).json(&answer)?;
    let accepted: AnswerAccepted = context.server.send(call).await?.json()?;
    let text = format!("answered the rpc of {}", arguments.run);
    context.out.result(&accepted, &text)
}

/// Waits for a matching rpc and returns its ID. Returns `None` if the run does not make it.
async fn wait_for_rpc(arguments: &Answer, context: &Context) -> anyhow::Result<Option<String>> {
    let started = Instant::now();
    loop {
        let path = format!("workflows/{}", segment(&arguments.run));
        let run: OpenRpcs = context.server.get(&path).await?;
        if let Some(open) = find(&run, &arguments.rpc)? {
            return Ok(Some(open.id.to_string()));
        }
        if run.status.is_terminal() || started.elapsed() > RPC_TIMEOUT {
            return Ok(None);
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

/// Finds the open rpc by ID or method.
fn find<'a>(run: &'a OpenRpcs, wanted: &str) -> Result<Option<&'a RpcView>, UsageError> {
    let by_id = run.rpcs.iter().find(|rpc| &*rpc.id.0 == wanted);
    if by_id.is_some() {
        return Ok(by_id);
    }
    let mut named = run.rpcs.iter().filter(|rpc| rpc.method.as_str() == wanted);
    let (id, shown) = (&run.id, escape_controls(wanted));
    match (named.next(), named.next()) {
        (Some(one), None) => Ok(Some(one)),
        (Some(_), Some(_)) => Err(UsageError::new(
            format!("the rpc `{shown}` of {id} is open more than once"),
            format!("Name it by its ID:\n{}", open_rpcs(run)),
        )),
        (None, _) if run.rpcs.is_empty() => Ok(None),
        (None, _) => Err(UsageError::new(
            format!("{id} has no open rpc `{shown}`"),
            format!("Open rpcs:\n{}", open_rpcs(run)),
        )),
    }
}

fn open_rpcs(run: &OpenRpcs) -> String {
    let lines = run.rpcs.iter().map(|rpc| {
        let args = truncate(rpc.args.as_str());
        format!("  {}  {} {args}", rpc.id, rpc.method)
    });
    lines.collect::<Vec<_>>().join("\n")
}
