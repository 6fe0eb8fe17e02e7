//! What can be said to `everstep bench`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

const EXAMPLES: &str = "\
Examples:
  everstep bench throughput                          64, 256 and 1,024 runs in flight, 60 s each
  everstep bench throughput --in-flight 64 --json    JSON for a script
  everstep bench postgres --store postgres://app@localhost/app --seconds 10
  everstep bench seq10 --data /mnt/disk              one run at a time, on another disk
  everstep bench --out results.json                  everything, which takes about 40 minutes
  everstep bench plot results.json --out charts      charts of it
  everstep bench idle open --runs 100000             what sleeping runs cost
  everstep bench loop --iterations 100000            one run that goes round and round

Every step is synced to disk before the next one begins. Every figure is the median of several rounds, with the lowest and the
highest of them beside it. The figures of different machines, or of one machine at different times, do not compare. The ratios do: the limits
are measured in the same run, in turns with the workflows.";

/// What is measured, how long, how much of it and where.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub(crate) struct Bench {
    #[command(subcommand)]
    pub(super) part: Option<Part>,
    /// What to measure, one after the other; everything if nothing is named, `postgres` only if `--store` names a database.
    pub(super) workloads: Vec<Workload>,
    /// How long each measurement of workflows lasts; the limits take about as long together.
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(super) seconds: u64,
    /// How many runs are in flight at once; several are measured one after the other.
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_values_t = [64, 256, 1_024],
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(super) in_flight: Vec<u32>,
    /// How many iterations the loop has; only for `loop`.
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(10..))]
    pub(super) iterations: u64,
    /// How many runs there are; 40,000 for `timers`, 10,000 for `recovery`, a million for `idle` and `open` unless it is said.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    pub(super) runs: Option<u64>,
    /// How many steps or children run in parallel; only for `fanout`.
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(super) width: u32,
    /// How many steps the journals have; only for `replay`.
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_values_t = [1_000, 100_000],
          value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub(super) steps: Vec<u64>,
    /// How many connections append at once; only for `stream`.
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_values_t = [1, 64, 256],
          value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(super) connections: Vec<u32>,
    /// How many readers follow a stream at once; only for `stream`.
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_values_t = [1, 100, 1_000],
          value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(super) readers: Vec<u32>,
    /// An empty or new directory to write to; a temporary one by default. What is written is removed.
    #[arg(long, value_name = "DIR")]
    pub(super) data: Option<PathBuf>,
    /// Write the JSON to this file too.
    #[arg(long, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,
    /// How many bytes of JSON each step returns; `payload` has its own.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(2..=1_000_000))]
    pub(super) payload_bytes: u32,
    /// Threads that execute workflow code. One less than there are cores unless it is said, because the committer has a thread
    /// of its own; as many as there are where clients run on them, too
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1_024))]
    workers: Option<u32>,
    /// The database to measure, with a schema of its own for each measurement; only for `postgres`.
    #[arg(long, value_name = "URL")]
    pub(super) store: Option<String>,
}

/// How many threads run at once here.
pub(super) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

impl Bench {
    /// Threads that execute workflow code.
    pub(super) fn workers(&self) -> u32 {
        let all_but_one = cores().saturating_sub(1).max(1);
        self.workers.unwrap_or(all_but_one as u32)
    }

    /// Threads that execute workflow code, serve HTTP and play the clients.
    pub(super) fn workers_and_clients(&self) -> u32 {
        self.workers.unwrap_or(cores() as u32)
    }

    /// What is to be measured.
    pub(super) fn chosen(&self) -> Vec<Workload> {
        if !self.workloads.is_empty() {
            return self.workloads.clone();
        }
        let is_possible = |it: &Workload| *it != Workload::Postgres || self.store.is_some();
        let all = Workload::value_variants().iter().copied();
        all.filter(is_possible).collect()
    }
}

/// What else there is to do: with results, and in processes of their own that a benchmark kills or looks at.
#[derive(Debug, Subcommand)]
pub(super) enum Part {
    /// Draw charts of results as SVG.
    Plot(Plot),
    /// Write results as Markdown.
    Page(Page),
    #[command(hide = true)]
    AtWork(AtWork),
    #[command(hide = true)]
    Attend(Attend),
}

#[derive(Args, Debug)]
pub(super) struct Plot {
    /// What `bench --out` wrote.
    pub(super) results: PathBuf,
    /// The folder to write to.
    #[arg(long, value_name = "DIR")]
    pub(super) out: PathBuf,
}

#[derive(Args, Debug)]
pub(super) struct Page {
    /// What `bench --out` wrote.
    pub(super) results: PathBuf,
    /// A page whose figures are replaced by these; without it they are printed.
    #[arg(long, value_name = "FILE")]
    pub(super) into: Option<PathBuf>,
}

/// Executes the runs in a directory until it is killed.
#[derive(Args, Debug)]
pub(super) struct AtWork {
    #[arg(long)]
    pub(super) directory: PathBuf,
    #[arg(long)]
    pub(super) runs: u64,
    #[arg(long)]
    pub(super) workers: u32,
    /// Whether it starts the runs, too.
    #[arg(long)]
    pub(super) begin: bool,
}

/// Opens a directory, and does nothing for a while.
#[derive(Args, Debug)]
pub(super) struct Attend {
    #[arg(long)]
    pub(super) directory: PathBuf,
    #[arg(long)]
    pub(super) seconds: u64,
    #[arg(long)]
    pub(super) workers: u32,
}

/// What a benchmark does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Workload {
    /// One run of ten steps at a time: how long does it take?
    Seq10,
    /// Many runs of ten steps at once: how many steps a second?
    Throughput,
    /// Many runs of ten steps at once, with results of 100, 1,000 and 10,000 bytes: how does their size matter?
    Payload,
    /// One run at a time: how long from starting it until its first step begins?
    Start,
    /// One run at a time: how long from sending it an event until it has completed?
    Event,
    /// One run with a thousand parallel steps, or children: how long until it has completed?
    Fanout,
    /// Runs with long journals that are not in memory: how long from an event until their code goes on?
    Replay,
    /// Many runs that sleep: how late do they wake up?
    Timers,
    /// A process that dies with many runs in flight: how long until the next process has them all at work?
    Recovery,
    /// Very many runs that sleep: how much memory and processor time do they cost?
    Idle,
    /// A store with very many runs: how long does it take to open?
    Open,
    /// Connections that append to streams over HTTP, and readers that follow one: how many appends a second, how late are readers?
    Stream,
    /// One and many runs of ten steps, executed by a worker that speaks HTTP to the engine: how many steps a second?
    Remote,
    /// One and many runs of ten steps on the database that `--store` names: how many steps a second?
    Postgres,
    /// One run that loops: does its journal, its memory or the time to resume it grow?
    Loop,
}

impl Workload {
    /// Its name and what it does, as the command line says it.
    pub(super) fn told(self) -> (String, String) {
        let value = self.to_possible_value().unwrap_or_default();
        let about = value.get_help().map(ToString::to_string);
        (value.get_name().to_owned(), about.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        bench: Bench,
    }

    fn chosen(words: &[&str]) -> Vec<Workload> {
        let words = std::iter::once("bench").chain(words.iter().copied());
        Line::parse_from(words).bench.chosen()
    }

    #[test]
    fn everything_has_a_database_only_if_there_is_one() {
        let (without, with) = (chosen(&[]), chosen(&["--store", "postgres://here"]));
        assert_eq!(with.len(), Workload::value_variants().len());
        assert_eq!(without.len(), with.len() - 1);
        assert!(!without.contains(&Workload::Postgres));
        let named = chosen(&["loop", "start"]);
        assert_eq!(named, [Workload::Loop, Workload::Start]);
    }
}
