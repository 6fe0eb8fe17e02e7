//! `everstep completions`: prints a completion script for a shell.

use std::io::Write;

use anyhow::Context;
use clap::Args;
use clap_complete::Shell;
use clap_complete::env::Shells;

use crate::exit::Exit;

/// Set by the scripts when they request candidates. Its value is the shell.
pub(crate) const VARIABLE: &str = "_EVERSTEP_COMPLETE";
const PROGRAM: &str = "everstep";

const EXAMPLES: &str = "\
Examples:
  source <(everstep completions bash)
  everstep completions zsh > \"${fpath[1]}/_everstep\"
  everstep completions fish > ~/.config/fish/completions/everstep.fish

The scripts call `everstep`, which also completes the runs and workflows of the server.";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Completions {
    /// Shell to generate the script for
    shell: Shell,
}

pub(crate) fn run(arguments: &Completions) -> anyhow::Result<Exit> {
    let mut script = Vec::new();
    let shells = Shells::builtins();
    let completer = shells.completer(&arguments.shell.to_string());
    let completer = completer.context("unknown shell")?;
    completer.write_registration(VARIABLE, PROGRAM, PROGRAM, PROGRAM, &mut script)?;
    std::io::stdout().write_all(&script)?;
    Ok(Exit::Success)
}
