//! The command line of `everstep bench`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

const EXAMPLES: &str = "\
Examples:
  everstep bench throughput                          64, 256 and 1,024 runs in flight, 60 s each
  everstep bench throughput --seconds 15 --rounds 4  four short rounds, to compare builds
  everstep bench throughput --in-flight 64 --json    print JSON
  everstep bench postgres --store postgres://app@localhost/app --seconds 10
  everstep bench seq10 --data /mnt/disk              one run at a time, on another disk
  everstep bench --out results.json                  all workloads, about 45 minutes
  everstep bench plot results.json --out charts      draw charts of the results
  everstep bench idle open --runs 100000             the cost of sleeping runs
  everstep bench loop --iterations 100000            one run with a long loop

Every step is synced to disk before the next one begins. Each figure is that of a whole round, merging of tables \
included; of several rounds, it is the median, followed by the lowest and the highest. Do not compare absolute figures of different machines, or of one machine at different \
times. Compare the ratios: the limits of the machine are measured in the same run, alternating with the workflows.";

// Large type: one field for each option of the command.
/// Measure how fast workflows run on this machine, and what limits them
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub struct BenchArguments {
    #[command(subcommand)]
    pub(crate) action: Option<Action>,
    /// Workloads to measure, in this order [default: all; `postgres` only with --store]
    pub(crate) workloads: Vec<Workload>,
    /// Duration of each round. In less than a minute, the store hardly merges tables, and figures
    /// are higher than it sustains
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) seconds: u64,
    /// Number of rounds of each measurement, alternating with measurements of the limits
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub(crate) rounds: u32,
    /// Number of concurrent runs; several numbers are measured one after the other
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_values_t = [64, 256, 1_024],
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) in_flight: Vec<u32>,
    /// Number of iterations (workload `loop`)
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(10..))]
    pub(crate) iterations: u64,
    /// Number of runs [default: 40000 for `timers`, 10000 for `recovery`, 1000000 for `idle` and
    /// `open`]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    pub(crate) runs: Option<u64>,
    /// Number of parallel steps or children (workload `fanout`)
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) width: u32,
    /// Number of steps in the journal (workload `replay`)
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_values_t = [1_000, 100_000],
          value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub(crate) steps: Vec<u64>,
    /// Number of connections that append concurrently (workload `stream`)
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_values_t = [1, 64, 256],
          value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) connections: Vec<u32>,
    /// Number of readers that follow one stream (workload `stream`)
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_values_t = [1, 100, 1_000],
          value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) readers: Vec<u32>,
    /// Directory for temporary data, removed at the end [default: the system's temporary directory]
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// Also write the results to this file, as JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Size of each step's result in bytes of JSON (the workload `payload` uses its own sizes)
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(2..=1_000_000))]
    pub(crate) payload_bytes: u32,
    /// Threads that execute workflow code [default: the number of cores minus one, which the
    /// committer uses; all cores if clients run in the same process]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1_024))]
    workers: Option<u32>,
    /// Database to measure (workload `postgres`); each measurement creates its own schema
    #[arg(long, value_name = "URL")]
    pub(crate) store: Option<String>,
    /// Compare the figures with the targets of this project's own benchmarks
    #[arg(long)]
    pub(crate) targets: bool,
}

/// Returns the number of threads that this machine runs in parallel.
pub(crate) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

impl BenchArguments {
    /// Threads that execute workflow code. One core is left to the committer's own thread.
    pub(crate) fn workers(&self) -> u32 {
        let all_but_one = cores().saturating_sub(1).max(1);
        self.workers.unwrap_or(all_but_one as u32)
    }

    /// Threads that execute workflow code, serve HTTP and run the clients.
    pub(crate) fn workers_and_clients(&self) -> u32 {
        self.workers.unwrap_or(cores() as u32)
    }

    /// The named workloads, or all workloads that can run with these arguments.
    pub(crate) fn chosen(&self) -> Vec<Workload> {
        if !self.workloads.is_empty() {
            return self.workloads.clone();
        }
        let is_possible = |it: &Workload| *it != Workload::Postgres || self.store.is_some();
        let all = Workload::value_variants().iter().copied();
        all.filter(is_possible).collect()
    }
}

/// Actions other than measuring. The hidden ones run in child processes of a workload.
#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Draw charts of results as SVG
    Plot(Plot),
    /// Write results as Markdown
    Page(Page),
    #[command(hide = true)]
    RecoveryWorker(RecoveryWorker),
    #[command(hide = true)]
    IdleProcess(IdleProcess),
}

#[derive(Args, Debug)]
pub(crate) struct Plot {
    /// File written by `bench --out`
    pub(crate) results: PathBuf,
    /// Directory for the charts
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
}

#[derive(Args, Debug)]
pub(crate) struct Page {
    /// File written by `bench --out`
    pub(crate) results: PathBuf,
    /// Replace the figures in this Markdown file [default: print to stdout]
    #[arg(long, value_name = "FILE")]
    pub(crate) into: Option<PathBuf>,
}

/// Execute the runs in a directory until killed
#[derive(Args, Debug)]
pub(crate) struct RecoveryWorker {
    #[arg(long)]
    pub(crate) directory: PathBuf,
    #[arg(long)]
    pub(crate) runs: u64,
    #[arg(long)]
    pub(crate) workers: u32,
    /// Start the runs first
    #[arg(long)]
    pub(crate) start_runs: bool,
}

/// Open a directory and stay idle
#[derive(Args, Debug)]
pub(crate) struct IdleProcess {
    #[arg(long)]
    pub(crate) directory: PathBuf,
    #[arg(long)]
    pub(crate) seconds: u64,
    #[arg(long)]
    pub(crate) workers: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Workload {
    /// Latency of one run of ten steps at a time
    Seq10,
    /// Steps per second with many concurrent runs of ten steps
    Throughput,
    /// Steps per second with results of 100, 1,000 and 10,000 bytes
    Payload,
    /// Latency from starting a run until its first step begins
    Start,
    /// Latency from sending an event until the run has completed
    Event,
    /// Duration of one run with a thousand parallel steps or children
    Fanout,
    /// Time to resume a run with a long journal that is not in memory
    Replay,
    /// Delay of many runs that wake up from a sleep
    Timers,
    /// Time until all runs of a killed process are executing again in the next process
    Recovery,
    /// Memory and processor time of very many sleeping runs
    Idle,
    /// Time to open a store with very many runs
    Open,
    /// Appends to streams over HTTP per second, and delivery latency to readers
    Stream,
    /// Steps per second executed by a worker over HTTP
    Remote,
    /// Steps per second on the PostgreSQL database named by --store
    Postgres,
    /// Journal size, memory and resume time of one run with a long loop
    Loop,
}

impl Workload {
    /// Its name and one-line description, as shown in `--help`.
    pub(crate) fn name_and_summary(self) -> (String, String) {
        let value = self.to_possible_value().unwrap_or_default();
        let about = value.get_help().map(ToString::to_string);
        (value.get_name().to_owned(), about.unwrap_or_default())
    }
}

/// Wrong arguments, with a sentence that says how to correct them.
#[derive(Debug, thiserror::Error)]
#[error("{what}")]
#[allow(missing_docs, reason = "the fields are the two halves of the message")]
pub struct UsageError {
    pub what: String,
    pub remedy: String,
}

#[cfg(test)]
mod tests;
