//! A cluster of real processes on one PostgreSQL: three API nodes, four workers and two timer pollers run random programs whose
//! results are known in advance, while processes are killed and stopped, the database crashes, connections drop and clocks jump.
//! When the trouble is over everything must come to its end, and the database is checked against all that was told and done.
//!
//! ```text
//!   main ─┬─ cluster     the database and the nodes: process.rs holds one, node.rs is one
//!         ├─ clients     start, send, wait, and write down what they are told
//!         ├─ nemesis     one fault after the other, by the seed
//!         ├─ ledger      what really happened outside, by the true clock
//!         └─ check       journals, answers and effects compared
//! ```
//!
//! `cargo xtask cluster --minutes 2 --seed 7`. With the first argument `node` this binary is a node.

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
use clients::{Clients, Told};
use cluster::Cluster;
use nemesis::Troubles;
use report::Report;

/// Clients at once.
const CLIENTS: u64 = 12;
/// How long everything may take to come to its end once nothing goes wrong any more.
const PATIENCE: Duration = Duration::from_secs(90);
/// Further than any clock was ever wrong, so that all that was set by a wrong one is due.
const FAR_AHEAD_MS: i64 = 2 * 3_600_000;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match arguments.split_first() {
        Some((first, orders)) if first == "node" => {
            log_to_stderr();
            node::Orders::parse(orders).and_then(|orders| block_on(node::run(orders)))
        }
        _ => Asked::parse(&arguments).and_then(|asked| test(&asked)),
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
    // Only a second subscriber could fail here, and there is none.
    let _ = lines.try_init();
}

fn block_on<T>(task: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    runtime.block_on(task)
}

/// What the command line asks for.
#[derive(Debug, PartialEq)]
struct Asked {
    minutes: f64,
    seed: u64,
}

impl Asked {
    fn parse(arguments: &[String]) -> anyhow::Result<Self> {
        let mut asked = Self {
            minutes: 2.0,
            seed: 1,
        };
        let mut arguments = arguments.iter();
        while let Some(option) = arguments.next() {
            let value = arguments
                .next()
                .with_context(|| format!("{option} takes a value"))?;
            match option.as_str() {
                "--minutes" => asked.minutes = value.parse().context("--minutes")?,
                "--seed" => asked.seed = value.parse().context("--seed")?,
                unknown => {
                    anyhow::bail!("there is no option `{unknown}`; there are --minutes and --seed")
                }
            }
        }
        Ok(asked)
    }
}

fn test(asked: &Asked) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let report = block_on(run(asked, folder.path()))?;
    report.print();
    if report.is_good() {
        return Ok(());
    }
    let kept = folder.keep();
    anyhow::bail!("what the processes wrote is in {}", kept.display())
}

async fn run(asked: &Asked, folder: &Path) -> anyhow::Result<Report> {
    let began = Instant::now();
    let cluster = Cluster::start(folder)?;
    let clients = Clients::new(&cluster.apis(), asked.seed)?;
    let live: Vec<_> = (0..CLIENTS)
        .map(|number| tokio::spawn(clients.clone().live(number)))
        .collect();
    let troubles = Troubles::default();
    let until = began + Duration::from_secs_f64(asked.minutes * 60.0);
    tokio::task::block_in_place(|| nemesis::trouble(&cluster, &troubles, asked.seed, until));
    let mut mishaps = cluster.ended_by_themselves();
    // What was set by a clock that was ahead is due now.
    troubles.clocks_are_wrong();
    for node in &cluster.nodes {
        node.set_clock(FAR_AHEAD_MS)?;
    }
    clients.is_enough.store(true, Ordering::Relaxed);
    let last_fault = Instant::now();
    let told = come_to_an_end(&clients, live).await?;
    let recovered = last_fault.elapsed();
    mishaps.extend(cluster.ended_by_themselves());
    let bad = tokio::task::block_in_place(|| cluster.end())?;
    mishaps.extend(
        bad.iter()
            .map(|name| format!("{name} did not end in good order")),
    );
    mishaps.extend(troubles.failed());

    let database = Database::open(&cluster.database.url()).await?;
    let evidence = Evidence {
        journals: database.journals().await?,
        told: &told,
        lines: ledger::read_all(folder)?,
        troubles: &troubles,
    };
    let (mut violations, figures) = check::check(&evidence);
    violations.extend(database.left().await?);
    Ok(Report {
        seed: asked.seed,
        took: began.elapsed(),
        figures,
        faults: troubles.counts(),
        database_crashes: cluster.database_crashes(),
        processes: cluster.nodes.iter().map(process::Node::starts).sum(),
        unanswered: told.iter().map(|told| told.unanswered).sum(),
        recovered,
        violations,
        mishaps,
    })
}

/// Waits until every client has seen the end of its run, or has waited long enough.
async fn come_to_an_end(
    clients: &Clients,
    live: Vec<tokio::task::JoinHandle<Vec<Told>>>,
) -> anyhow::Result<Vec<Told>> {
    let all = async {
        let mut told = Vec::new();
        for client in live {
            told.extend(client.await?);
        }
        anyhow::Ok(told)
    };
    let give_up = async {
        // Second by second: time in which the whole machine stood still is nobody's fault.
        for _ in 0..PATIENCE.as_secs() {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        clients.is_over.store(true, Ordering::Relaxed);
        std::future::pending().await
    };
    tokio::select! {
        told = all => told,
        never = give_up => never,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_says_how_long_and_by_which_seed() {
        let parse = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
            Asked::parse(&words)
        };
        let asked = parse(&["--minutes", "0.5", "--seed", "9"]).unwrap();
        let expected = Asked {
            minutes: 0.5,
            seed: 9,
        };
        assert_eq!(asked, expected);
        assert!(parse(&["--hours", "1"]).is_err());
        assert!(parse(&["--seed"]).is_err());
    }
}
