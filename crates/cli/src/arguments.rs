//! The command line, as `--help` shows it.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

const EXIT_CODES: &str = "\
Exit codes:
  0    it went well
  1    it failed; the message says why
  2    the command line is wrong
  3    the store cannot be used: locked, damaged, full, of a newer version
  130  interrupted; everything was shut down in good order

Examples:
  everstep dev                       watch the demo workflows at work
  everstep dev --data /tmp/try       the same, kept in another directory
  everstep bench seq10 --seconds 20  how long one run takes
  everstep explain store_locked      what an error code means, and what to do";

/// Durable workflows: ordinary async functions that survive crashes, deploys and months of waiting.
#[derive(Debug, Parser)]
#[command(name = "everstep", version, after_help = EXIT_CODES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run the demo workflows and show what happens.
    Dev(Dev),
    /// Measure how fast workflows run here, and what limits them.
    Bench(Bench),
    /// Explain an error code, or list them all.
    Explain(Explain),
}

const DEV_EXAMPLES: &str = "\
Examples:
  everstep dev                  kill it in the middle (kill -9), run it again: it goes on where it was
  everstep dev --memory         keep nothing
  everstep dev --json | jq      the records themselves, one JSON object a line";

/// Runs the demo workflows on the embedded store, in development mode: every activation is replayed a second time to
/// find hidden nondeterminism. Runs that were left behind are picked up; otherwise one of each workflow is started.
/// Every record is shown as it becomes durable, and the part of the person who approves is played for you.
#[derive(Args, Debug)]
#[command(after_help = DEV_EXAMPLES)]
pub(crate) struct Dev {
    /// The directory that keeps everything.
    #[arg(long, value_name = "DIR", default_value = "./.everstep")]
    pub(crate) data: PathBuf,
    /// Keep everything in memory, and forget it at the end.
    #[arg(long, conflicts_with = "data")]
    pub(crate) memory: bool,
    /// Print records as JSON, one line each.
    #[arg(long)]
    pub(crate) json: bool,
}

const BENCH_EXAMPLES: &str = "\
Examples:
  everstep bench throughput                          64, 256 and 1,024 runs in flight, 60 s each
  everstep bench throughput --in-flight 64 --json    one line of figures for a script
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
    /// Print the figures as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
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
