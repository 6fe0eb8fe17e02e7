//! The command line, as `--help` shows it.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::commands::answer::Answer;
use crate::commands::completions::Completions;
use crate::commands::config::ShowConfig;
use crate::commands::control::{Cancel, Fork, Many, Restart};
use crate::commands::export::Export;
use crate::commands::key::Key;
use crate::commands::list::List;
use crate::commands::send::Send;
use crate::commands::show::Show;
use crate::commands::start::Start;
use crate::commands::steps::{Fail, Settle};
use crate::commands::tail::Tail;
use crate::commands::token::Token;
use crate::commands::why::Why;
use crate::dev::Dev;
use crate::serve::Serve;

const EXIT_CODES: &str = "\
Exit codes:
  0    it went well
  1    it failed; the message says why
  2    the command line or a setting is wrong
  3    the store cannot be used: locked, damaged, full, of a newer version
  4    no server answers
  5    the server wants a key, or one with more scopes
  6    there is no such run, workflow or key
  7    refused: the run, or what was sent, does not allow it
  8    the run that was waited for did not complete
  130  interrupted; everything was shut down in good order

Examples:
  everstep dev                                   a server to try, on this machine
  everstep start hello '{\"name\":\"Ada\"}' --wait   in another terminal
  everstep list --status failed                  what went wrong
  everstep tail order-7                          follow one run
  everstep explain store_locked                  what an error code means, and what to do";

/// Durable workflows: ordinary async functions that survive crashes, deploys and months of waiting.
#[derive(Debug, Parser)]
#[command(name = "everstep", version, after_help = EXIT_CODES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) around: Around,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What every command takes.
#[derive(Args, Debug)]
#[command(next_help_heading = "Everywhere")]
pub(crate) struct Around {
    /// Print JSON for programs instead of text for people.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// The server to speak to; http://localhost:4437 by default.
    #[arg(long, global = true, value_name = "URL")]
    pub(crate) server: Option<String>,
    /// The key to show it; better in the variable EVERSTEP_KEY, where other users of this machine do not see it.
    #[arg(long, global = true)]
    pub(crate) key: Option<String>,
    /// Believe the root certificates in this file (PEM) besides the public ones.
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) root_certificate: Option<String>,
    /// The file with settings; ./everstep.toml by default.
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serve this machine, with the demo workflows, and show what happens.
    Dev(Dev),
    /// Serve others.
    Serve(Serve),
    /// Start a run.
    Start(Start),
    /// List runs.
    List(List),
    /// Show a run.
    Show(Show),
    /// Follow a run live.
    Tail(Tail),
    /// Say why a run is not moving.
    Why(Why),
    /// Send an event to a run.
    Send(Send),
    /// Answer a question of a run.
    Answer(Answer),
    /// Pause runs once their steps in flight are over.
    Pause(Many),
    /// Let paused runs go on.
    Resume(Many),
    /// End runs in good order, undoing what they did.
    Cancel(Cancel),
    /// End runs at once.
    Terminate(Many),
    /// Begin runs again, from the start or from one of their operations.
    Restart(Restart),
    /// Begin another run where this one is, or was.
    Fork(Fork),
    /// Let runs that ended badly go on where they failed.
    Recover(Many),
    /// Try failed rollbacks again.
    RetryRollback(Many),
    /// Satisfy a step without running it.
    Skip(Settle),
    /// Give a step that has no result one.
    Edit(Settle),
    /// Make runs, or one operation of a run, fail.
    Fail(Fail),
    /// Delete runs with everything they left.
    Delete(Many),
    /// Write a run's journal as lines of JSON.
    Export(Export),
    /// Make a token for one run, for a browser.
    Token(Token),
    /// Make, list and revoke API keys.
    Key(Key),
    /// Show every setting and where it comes from.
    Config(ShowConfig),
    #[cfg(feature = "bench")]
    Bench(everstep_bench::BenchArguments),
    /// Explain an error code, or list them all.
    Explain(Explain),
    /// Print completions for a shell.
    Completions(Completions),
}

#[derive(Args, Debug)]
pub(crate) struct Explain {
    /// The code, as errors show it in brackets. Without it, all codes are listed.
    pub(crate) code: Option<String>,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Arguments::command().debug_assert();
    }
}
