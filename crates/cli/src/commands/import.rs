//! `everstep import`: creates a run with an exported journal.

use std::io::Read;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context as _;
use clap::Args;
use everstep_protocol::client::{Call, segment};
use everstep_protocol::workflow::ControlAnswer;
use http::Method;

use crate::arguments::values;
use crate::context::Context;
use crate::exit::Exit;

const EXAMPLES: &str = "\
Examples:
  everstep export order-7 --to order-7.jsonl --server https://old.example
  everstep import order-7 --from order-7.jsonl --server https://new.example
  everstep import order-7@2 < order-7@2.jsonl     a later generation, after the ones before it

A run that has not ended continues on the new server. End the old server first, or both continue it.";

/// How long the server may take to receive and store a large journal.
const TIMEOUT: Duration = Duration::from_secs(300);

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Import {
    /// ID of the run, or of one of its generations, such as order-7@1
    #[arg(value_parser = values::run)]
    run: String,
    /// File with the journal [default: stdin]
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
}

pub(crate) async fn run(arguments: &Import, context: &Context) -> anyhow::Result<Exit> {
    let journal = match &arguments.from {
        Some(path) => {
            std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?
        }
        None => {
            let mut journal = Vec::new();
            std::io::stdin().read_to_end(&mut journal)?;
            journal
        }
    };
    let path = format!("workflows/{}/journal", segment(&arguments.run));
    let call = Call::new(Method::PUT, path).bytes("application/x-ndjson", journal);
    let call = call.timeout(TIMEOUT);
    let answer: ControlAnswer = context.server.send(call).await?.json()?;
    context.out.result(&answer, &answer.message)
}
