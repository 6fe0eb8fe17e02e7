//! Tests a cluster of real processes on one PostgreSQL database: three API nodes, four workers and
//! two timer nodes execute random programs with known results, while the test kills and stops
//! processes, crashes the database, drops connections and changes clocks. Afterwards all runs must
//! end, and the test compares the database with the observations of the clients and the recorded
//! effects.
//!
//! ```text
//!   main ─┬─ cluster     the database and the nodes (process.rs: handle, node.rs: the process)
//!         ├─ clients     start runs, send events, wait, and record their observations
//!         ├─ nemesis     injects faults in an order that the seed determines
//!         ├─ ledger      effects of steps, by the true clock
//!         └─ check       compares journals, observations and effects
//! ```
//!
//! Usage: `cargo xtask cluster --minutes 2 --seed 7`. With `node` as its first argument, this
//! binary is a node.

mod check;
mod clients;
mod cluster;
mod connections;
mod ledger;
mod nemesis;
mod node;
mod process;
mod program;
mod report;
mod workflow;
mod wrong_clock;

use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::Context;
use check::{Database, Evidence};
use clients::{Clients, Observed};
use cluster::Cluster;
use nemesis::InjectedFaults;
use report::Report;

/// Number of concurrent clients.
const CLIENTS: u64 = 12;
/// How long all runs may take to end after the last fault.
const END_TIMEOUT: Duration = Duration::from_secs(90);
/// More than any clock was ever wrong, so that all timers set by a wrong clock become due.
const FAR_AHEAD_MS: i64 = 2 * 3_600_000;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match arguments.split_first() {
        Some((first, arguments)) if first == "node" => {
            log_to_stderr();
            node::NodeArguments::parse(arguments)
                .and_then(|arguments| block_on(node::run(arguments)))
        }
        _ => Arguments::parse(&arguments).and_then(|arguments| test(&arguments)),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn log_to_stderr() {
    let lines = tracing_subscriber::fmt()
        .with_max_level(tracing_subscriber::filter::LevelFilter::WARN)
        .with_writer(std::io::stderr)
        .with_ansi(false);
    // Fails only if a subscriber is already installed.
    let _ = lines.try_init();
}

fn block_on<T>(task: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    runtime.block_on(task)
}

/// The arguments of the test.
#[derive(Debug, PartialEq)]
struct Arguments {
    minutes: f64,
    seed: u64,
}

impl Arguments {
    fn parse(arguments: &[String]) -> anyhow::Result<Self> {
        let mut parsed = Self {
            minutes: 2.0,
            seed: 1,
        };
        let mut arguments = arguments.iter();
        while let Some(option) = arguments.next() {
            let value = arguments
                .next()
                .with_context(|| format!("{option} takes a value"))?;
            match option.as_str() {
                "--minutes" => parsed.minutes = value.parse().context("--minutes")?,
                "--seed" => parsed.seed = value.parse().context("--seed")?,
                unknown => {
                    anyhow::bail!(
                        "unknown option `{unknown}`; the options are --minutes and --seed"
                    )
                }
            }
        }
        Ok(parsed)
    }
}

fn test(arguments: &Arguments) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let report = block_on(run(arguments, folder.path()))?;
    report.print();
    if report.is_good() {
        return Ok(());
    }
    let kept = folder.keep();
    anyhow::bail!(
        "logs and ledgers of the processes are in {}",
        kept.display()
    )
}

async fn run(arguments: &Arguments, folder: &Path) -> anyhow::Result<Report> {
    let began = Instant::now();
    let cluster = Cluster::start(folder)?;
    let clients = Clients::new(&cluster.apis(), arguments.seed)?;
    let tasks: Vec<_> = (0..CLIENTS)
        .map(|number| tokio::spawn(clients.clone().run_client(number)))
        .collect();
    let faults_injected = InjectedFaults::default();
    let until = began + Duration::from_secs_f64(arguments.minutes * 60.0);
    tokio::task::block_in_place(|| {
        nemesis::inject_faults(&cluster, &faults_injected, arguments.seed, until)
    });
    let mut problems = cluster.unexpected_exits();
    // Timers set by a clock that was ahead become due now.
    faults_injected.clocks_are_wrong();
    for node in &cluster.nodes {
        node.set_clock(FAR_AHEAD_MS)?;
    }
    clients.is_enough.store(true, Ordering::Relaxed);
    let last_fault = Instant::now();
    let observed = wait_for_end_of_runs(&clients, tasks).await?;
    let recovered = last_fault.elapsed();
    problems.extend(cluster.unexpected_exits());
    let bad = tokio::task::block_in_place(|| cluster.end())?;
    problems.extend(
        bad.iter()
            .map(|name| format!("{name} did not shut down cleanly")),
    );
    problems.extend(faults_injected.failed());

    let database = Database::open(&cluster.database.url()).await?;
    let evidence = Evidence {
        journals: database.journals().await?,
        observed: &observed,
        lines: ledger::read_all(folder)?,
        faults_injected: &faults_injected,
    };
    let (mut violations, figures) = check::check(&evidence);
    violations.extend(database.left().await?);
    Ok(Report {
        seed: arguments.seed,
        took: began.elapsed(),
        figures,
        faults: faults_injected.counts(),
        database_crashes: cluster.database_crashes(),
        processes: cluster.nodes.iter().map(process::Node::starts).sum(),
        retried: observed.iter().map(|observed| observed.retried).sum(),
        recovered,
        violations,
        problems,
    })
}

/// Waits until every client has seen the end of its run, or until the timeout.
async fn wait_for_end_of_runs(
    clients: &Clients,
    tasks: Vec<tokio::task::JoinHandle<Vec<Observed>>>,
) -> anyhow::Result<Vec<Observed>> {
    let all = async {
        let mut observed = Vec::new();
        for client in tasks {
            observed.extend(client.await?);
        }
        anyhow::Ok(observed)
    };
    let give_up = async {
        // Sleep in steps of a second, so that time during which the whole machine was suspended
        // does not count.
        for _ in 0..END_TIMEOUT.as_secs() {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        clients.is_over.store(true, Ordering::Relaxed);
        std::future::pending().await
    };
    tokio::select! {
        observed = all => observed,
        never = give_up => never,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_has_a_duration_and_a_seed() {
        let parse = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
            Arguments::parse(&words)
        };
        let arguments = parse(&["--minutes", "0.5", "--seed", "9"]).unwrap();
        let expected = Arguments {
            minutes: 0.5,
            seed: 9,
        };
        assert_eq!(arguments, expected);
        assert!(parse(&["--hours", "1"]).is_err());
        assert!(parse(&["--seed"]).is_err());
    }
}
