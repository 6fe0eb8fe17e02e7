//! Durable steps a second on PostgreSQL: a plain client that commits one step per transaction, the store driven alone, and
//! the whole engine, in turns on the same server, so that what the machine does meanwhile falls on all of them.
//!
//! ```sh
//! cargo run --release -p everstep-store-postgres --example steps -- 10 3
//! ```
//!
//! Seconds of each turn, then how often it is each one's turn. The server is private and durable, unless a URL follows.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a benchmark fails by panicking"
)]

mod alone;
mod engine;
mod plain;

use std::time::{Duration, Instant};

use everstep_private_postgres::Server;

/// Runs in flight.
const RUNS: usize = 256;
/// The connections of the plain client.
const CONNECTIONS: usize = 20;
/// Bytes of a step's result.
const RESULT: &str = "\"0123456789012345678901234567890123456789012345678901234567890123\"";

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let argument = |place: usize| arguments.get(place).cloned();
    let seconds = argument(0).map_or(10, |text| text.parse().unwrap());
    let turns: usize = argument(1).map_or(3, |text| text.parse().unwrap());
    let server = argument(2).is_none().then(|| Server::start(&[]));
    let url = argument(2).unwrap_or_else(|| server.as_ref().unwrap().url());
    let length = Duration::from_secs(seconds);
    let mut contenders = [
        Contender::new("plain client, 20 connections"),
        Contender::new("store alone, 256 a batch"),
        Contender::new("engine, 256 runs in flight"),
    ];
    for _ in 0..turns {
        contenders[0].turn(server.as_ref(), plain::steps(&url, length));
        contenders[1].turn(server.as_ref(), alone::steps(&url, length));
        contenders[2].turn(server.as_ref(), engine::steps(&url, length));
    }
    let plain = contenders[0].rate();
    for contender in &contenders {
        let rate = contender.rate();
        print!(
            "{:<30} {rate:>7.0} steps/s, {:.1} times",
            contender.name,
            rate / plain
        );
        println!(
            ", {:.0} µs of the server's processor each",
            contender.server_micros()
        );
    }
}

/// One of those who are compared.
struct Contender {
    name: &'static str,
    rates: Vec<f64>,
    steps: u64,
    server_time: Duration,
}

impl Contender {
    fn new(name: &'static str) -> Self {
        Self {
            name,
            rates: Vec::new(),
            steps: 0,
            server_time: Duration::ZERO,
        }
    }

    /// Its turn, on threads of its own, which are gone when the next one begins.
    fn turn(&mut self, server: Option<&Server>, work: impl Future<Output = u64>) {
        let used = || server.and_then(Server::processor_time).unwrap_or_default();
        let (before, begun) = (used(), Instant::now());
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = runtime.worker_threads(2).enable_all().build().unwrap();
        let steps = runtime.block_on(work);
        self.rates
            .push(steps as f64 / begun.elapsed().as_secs_f64());
        drop(runtime);
        // The server counts its processes when they have ended.
        std::thread::sleep(Duration::from_millis(500));
        self.steps += steps;
        self.server_time += used().saturating_sub(before);
        println!("{}: {:.0} steps/s", self.name, self.rates.last().unwrap());
    }

    /// The median of its turns.
    fn rate(&self) -> f64 {
        let mut rates = self.rates.clone();
        rates.sort_by(f64::total_cmp);
        rates[rates.len() / 2]
    }

    fn server_micros(&self) -> f64 {
        self.server_time.as_secs_f64() * 1e6 / self.steps as f64
    }
}
