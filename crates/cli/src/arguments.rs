//! The command line, as `--help` shows it.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

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
    /// Measure how fast workflows run here, and what limits them.
    Bench(Bench),
    /// Explain an error code, or list them all.
    Explain(Explain),
    /// Print completions for a shell.
    Completions(Completions),
}

const BENCH_EXAMPLES: &str = "\
Examples:
  everstep bench throughput                          64, 256 and 1,024 runs in flight, 60 s each
  everstep bench throughput --in-flight 64 --json    one line of figures for a script
  everstep bench throughput --remote                 the same by a worker, over HTTP
  everstep bench seq10 --data /mnt/disk              one run at a time, on another disk
  everstep bench loop --iterations 100000            one run that goes round and round

The figures of different machines, or of one machine at different times, do not compare. The ratios do: the limits
are measured in the same run, in turns with the workflows.";

/// Runs workflows of ten strict steps on the embedded store, every step synced to disk before the next one begins, and
/// compares that with the limits of the machine: a bare fdatasync, a bare log written in groups, and the store driven
/// alone with one commit per step.
#[derive(Args, Debug)]
#[command(after_help = BENCH_EXAMPLES)]
pub(crate) struct Bench {
    /// What to measure.
    pub(crate) scenario: Scenario,
    /// How long each measurement of workflows lasts; the limits take about as long together.
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) seconds: u64,
    /// How many runs are in flight at once; several are measured one after the other.
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_values_t = [64, 256, 1_024],
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) in_flight: Vec<u32>,
    /// How many iterations the loop has; only for `loop`.
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(10..))]
    pub(crate) iterations: u64,
    /// An empty or new directory to write to; a temporary one by default. What is written is removed.
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// How many bytes of JSON each step returns.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(2..=1_000_000))]
    pub(crate) payload_bytes: u32,
    /// Threads that execute workflow code; the committer has one of its own.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=1_024))]
    pub(crate) workers: u32,
    /// Execute the workflows by a worker that speaks HTTP to the engine, on this machine.
    #[arg(long)]
    pub(crate) remote: bool,
}

/// What a benchmark does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Scenario {
    /// One run of ten steps at a time: how long does it take?
    Seq10,
    /// Many runs of ten steps at once: how many steps a second?
    Throughput,
    /// One run that loops: does its journal, its memory or the time to resume it grow?
    Loop,
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
