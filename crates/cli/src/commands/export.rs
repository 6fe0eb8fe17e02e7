//! `everstep export`: a run's journal as a file, one record a line.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use everstep_protocol::client::{Call, segment};

use crate::ending::Ending;
use crate::session::Session;

const EXAMPLES: &str = "\
Examples:
  everstep export order-7 > order-7.jsonl
  everstep export order-7 --to tests/fixtures/order-7.jsonl     a fixture that a test replays";

/// Writes a run's journal as it is kept, nothing withheld: one record of JSON a line. It needs a key with the scope
/// `admin`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Export {
    /// The run.
    run: String,
    /// The file to write; stdout by default.
    #[arg(long, value_name = "FILE")]
    to: Option<PathBuf>,
}

pub(crate) async fn run(arguments: &Export, session: &Session) -> anyhow::Result<Ending> {
    let path = format!("workflows/{}/journal", segment(&arguments.run));
    let journal = session.server.send(Call::get(path)).await?.body;
    match &arguments.to {
        Some(path) => std::fs::write(path, &journal)
            .with_context(|| format!("cannot write {}", path.display()))?,
        None => std::io::stdout().write_all(&journal)?,
    }
    Ok(Ending::Well)
}
