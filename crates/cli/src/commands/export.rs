//! `everstep export`: writes the journal of a run as JSON lines.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use everstep_protocol::client::segment;

use super::pages;
use crate::arguments::values;
use crate::context::Context;
use crate::exit::Exit;

const EXAMPLES: &str = "\
Examples:
  everstep export order-7 > order-7.jsonl
  everstep export order-7 --to tests/fixtures/order-7.jsonl     a fixture for a replay test";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Export {
    /// ID of the run, or of one of its generations, such as order-7@1
    #[arg(value_parser = values::run)]
    run: String,
    /// Output file [default: stdout]
    #[arg(long, value_name = "FILE")]
    to: Option<PathBuf>,
}

pub(crate) async fn run(arguments: &Export, context: &Context) -> anyhow::Result<Exit> {
    let path = format!("workflows/{}/journal", segment(&arguments.run));
    let journal = pages::records(context, &path).await?;
    match &arguments.to {
        Some(path) => std::fs::write(path, &journal)
            .with_context(|| format!("cannot write {}", path.display()))?,
        None => std::io::stdout().write_all(&journal)?,
    }
    Ok(Exit::Success)
}
