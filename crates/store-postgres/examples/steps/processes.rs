//! One process against two on the same database: steps that compute, on one thread per process, so
//! that the code is the limit and not the database.

use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use everstep_store_postgres::{Options, PostgresBus, PostgresStore};

use crate::contender::median;
use crate::engine;

/// The argument that makes this program one of the processes.
pub(crate) const ONE: &str = "process";
/// How long a step computes.
const COMPUTING: Duration = Duration::from_micros(300);

/// Runs one process and two processes in turns.
pub(crate) fn compare(url: &str, turns: usize, length: Duration) {
    let mut rates = [Vec::new(), Vec::new()];
    // This turn creates the tables and does not count.
    together(1, url, Duration::from_secs(1));
    for _ in 0..turns {
        for processes in [1, 2] {
            let rate = together(processes, url, length);
            println!("{processes} processes: {rate:.0} steps/s");
            rates[processes - 1].push(rate);
        }
    }
    let (one, two) = (median(&rates[0]), median(&rates[1]));
    println!(
        "one process {one:.0} steps/s, two {two:.0} steps/s, {:.2} times",
        two / one
    );
}

/// Runs several processes at once, and returns the sum of their rates.
fn together(processes: usize, url: &str, length: Duration) -> f64 {
    let own = std::env::current_exe().unwrap();
    let start = |_| {
        let mut process = Command::new(&own);
        process.args([ONE, &length.as_secs().to_string(), url]);
        process.stdout(Stdio::piped()).spawn().unwrap()
    };
    let started: Vec<_> = (0..processes).map(start).collect();
    let rates = started.into_iter().map(|process| {
        let output = process.wait_with_output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        text.trim().parse::<f64>().expect("a rate")
    });
    rates.sum()
}

/// Runs as one of the processes and prints its steps per second.
pub(crate) fn one(url: &str, length: Duration) {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.worker_threads(1).enable_all().build().unwrap();
    let begun = Instant::now();
    let steps = runtime.block_on(async {
        let options = Options::new(url).unwrap().namespace("processes").unwrap();
        let bus = PostgresBus::open(options.clone()).unwrap();
        let store = PostgresStore::open(options).await.unwrap();
        let engine = everstep::Engine::on_store(Arc::new(store)).bus(Arc::new(bus));
        engine::steps_of(engine, length, engine::STEPS_PER_RUN, compute).await
    });
    println!("{}", steps as f64 / begun.elapsed().as_secs_f64());
}

fn compute() {
    let begun = Instant::now();
    while begun.elapsed() < COMPUTING {
        std::hint::spin_loop();
    }
}
