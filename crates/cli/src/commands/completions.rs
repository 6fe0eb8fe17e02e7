//! `everstep completions`: prints a completion script for a shell.

use std::io::Write;

use clap::Args;
use clap_complete::Shell;

use crate::exit::Exit;

const EXAMPLES: &str = "\
Examples:
  source <(everstep completions bash)
  everstep completions zsh > \"${fpath[1]}/_everstep\"
  everstep completions fish > ~/.config/fish/completions/everstep.fish";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Completions {
    /// Shell to generate the script for
    shell: Shell,
}

pub(crate) fn run(arguments: &Completions, mut command: clap::Command) -> anyhow::Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, "everstep", &mut script);
    std::io::stdout().write_all(&script)?;
    Ok(Exit::Success)
}
