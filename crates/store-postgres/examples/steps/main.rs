//! Durable steps a second on PostgreSQL: a plain client that commits one step per transaction, the
//! store driven alone, and the whole engine, in turns on the same server, so that other load on
//! the machine affects all of them alike.
//!
//! ```sh
//! cargo run --release -p everstep-store-postgres --example steps -- 10 3
//! cargo run --release -p everstep-store-postgres --example steps -- 10 3 500
//! cargo run --release -p everstep-store-postgres --example steps -- processes 10 3
//! cargo run --release -p everstep-store-postgres --example steps -- latency 10 3
//! ```
//!
//! The arguments are the seconds of a turn, the number of turns, and the steps of each run of the
//! engine (50 by default). Only the engine also creates and ends runs. The server is private and
//! durable unless a URL follows. `processes` compares one process with two, with steps whose own
//! code is the limit and not the database. `latency` measures one run at a time.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a benchmark fails by panicking"
)]

mod alone;
mod contender;
mod engine;
mod latency;
mod plain;
mod processes;

use std::time::Duration;

use contender::Contender;
use everstep_private_postgres::Server;
use tokio_postgres::NoTls;

/// Runs in flight.
const RUNS: usize = 256;
/// The connections of the plain client.
const CONNECTIONS: usize = 20;
/// Bytes of a step's result.
const RESULT: &str = "\"0123456789012345678901234567890123456789012345678901234567890123\"";
/// The length of a warm-up turn.
const WARM_UP: Duration = Duration::from_secs(2);

fn main() {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let mode = arguments
        .first()
        .filter(|word| word.parse::<u64>().is_err());
    let mode = mode.cloned();
    if mode.is_some() {
        arguments.remove(0);
    }
    let argument = |index: usize| arguments.get(index).cloned();
    let seconds = argument(0).map_or(10, |text| text.parse().unwrap());
    let length = Duration::from_secs(seconds);
    if mode.as_deref() == Some(processes::ONE) {
        return processes::one(&argument(1).expect("a URL"), length);
    }
    let turns: usize = argument(1).map_or(3, |text| text.parse().unwrap());
    // Keeps enough files of the log; see `warm_up`.
    let settings = [("min_wal_size", "1GB")];
    let server = argument(3).is_none().then(|| Server::start(&settings));
    let url = argument(3).unwrap_or_else(|| server.as_ref().unwrap().url());
    let steps_per_run = argument(2).map_or(engine::STEPS_PER_RUN, |text| text.parse().unwrap());
    match mode.as_deref() {
        None => compare(server.as_ref(), &url, turns, (length, steps_per_run)),
        Some("latency") => latency::compare(server.as_ref(), &url, turns, length),
        Some("processes") => processes::compare(&url, turns, length),
        Some(other) => panic!("there is no {other:?}"),
    }
}

fn compare(server: Option<&Server>, url: &str, turns: usize, (length, per_run): (Duration, u32)) {
    let mut contenders = [
        Contender::new("plain client, 20 connections"),
        Contender::new("store alone, 256 a batch"),
        Contender::new("engine, 256 runs in flight"),
    ];
    if length > WARM_UP {
        warm_up(url);
    }
    for _ in 0..turns {
        contenders[0].turn(server, plain::steps(url, length));
        contenders[1].turn(server, alone::steps(url, length));
        contenders[2].turn(server, engine::steps(url, length, per_run));
    }
    let plain = contenders[0].rate();
    for contender in &contenders {
        println!("{}", contender.report(plain));
    }
}

/// Runs a turn of each variant that does not count. A new server creates each file of its log
/// before it first writes to it, which would slow down the variant that writes most; after a
/// checkpoint, it uses these files again.
fn warm_up(url: &str) {
    let runtime = contender::runtime();
    runtime.block_on(async {
        plain::steps(url, WARM_UP).await;
        alone::steps(url, WARM_UP).await;
        engine::steps(url, WARM_UP, engine::STEPS_PER_RUN).await;
        let (sql, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
        tokio::spawn(connection);
        sql.batch_execute("CHECKPOINT").await.unwrap();
    });
}
