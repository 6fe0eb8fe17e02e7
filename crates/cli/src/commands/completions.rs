//! `everstep completions`: what a shell needs to complete the command line.

use std::io::Write;

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::arguments::Arguments;
use crate::ending::Ending;

const EXAMPLES: &str = "\
Examples:
  source <(everstep completions bash)
  everstep completions zsh > \"${fpath[1]}/_everstep\"
  everstep completions fish > ~/.config/fish/completions/everstep.fish";

/// Prints the completions for a shell.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Completions {
    /// The shell.
    shell: Shell,
}

pub(crate) fn run(arguments: &Completions) -> anyhow::Result<Ending> {
    let mut script = Vec::new();
    let mut command = Arguments::command();
    clap_complete::generate(arguments.shell, &mut command, "everstep", &mut script);
    std::io::stdout().write_all(&script)?;
    Ok(Ending::Well)
}
