//! One run of ten steps at a time, in turns with a plain client that commits as many transactions,
//! one after the other.

use std::sync::Arc;
use std::time::{Duration, Instant};

use everstep::{AnyEvent, Ctx, Engine, Error, Payload, Workflows};
use everstep_private_postgres::Server;
use everstep_store_postgres::{Options, PostgresStore};
use tokio_postgres::NoTls;

use crate::contender::{percentile, runtime};
use crate::plain::{STEP, TABLES};
use crate::{RESULT, RUNS};

const STEPS: usize = 10;
/// The creation of a run, and its steps. The last step and the end of the run share a commit.
const COMMITS: usize = STEPS + 1;

pub(crate) fn compare(server: Option<&Server>, url: &str, turns: usize, length: Duration) {
    let mut plain = Latencies::new("plain client, 11 transactions");
    let mut engine = Latencies::new("engine, a run of ten steps");
    for _ in 0..turns {
        plain.turn(server, transactions(url, length));
        engine.turn(server, runs(url, length));
    }
    println!("{}\n{}", plain.report(), engine.report());
}

struct Latencies {
    name: &'static str,
    milliseconds: Vec<f64>,
    server_time: Duration,
}

impl Latencies {
    fn new(name: &'static str) -> Self {
        Self {
            name,
            milliseconds: Vec::new(),
            server_time: Duration::ZERO,
        }
    }

    fn turn(&mut self, server: Option<&Server>, work: impl Future<Output = Vec<f64>>) {
        let of_server = || server.and_then(Server::processor_time).unwrap_or_default();
        let before = of_server();
        let runtime = runtime();
        let mut measured = runtime.block_on(work);
        drop(runtime);
        // The server adds the CPU time of a process when it has ended.
        std::thread::sleep(Duration::from_millis(500));
        self.server_time += of_server().saturating_sub(before);
        println!(
            "{}: p50 {:.2} ms",
            self.name,
            percentile(&mut measured, 0.5)
        );
        self.milliseconds.extend(measured);
    }

    fn report(&mut self) -> String {
        let count = self.milliseconds.len().max(1) as f64;
        let server = self.server_time.as_secs_f64() * 1e6 / count / COMMITS as f64;
        let [p50, p99] = [0.5, 0.99].map(|share| percentile(&mut self.milliseconds, share));
        let name = self.name;
        format!(
            "{name:<30} p50 {p50:.2} ms, p99 {p99:.2} ms, processor of the server a commit {server:.0} µs"
        )
    }
}

async fn transactions(url: &str, length: Duration) -> Vec<f64> {
    let (sql, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(connection);
    sql.batch_execute(TABLES).await.unwrap();
    let step = sql.prepare(STEP).await.unwrap();
    let (begun, mut latencies) = (Instant::now(), Vec::new());
    while begun.elapsed() < length {
        let id = i64::try_from(latencies.len() % RUNS).unwrap();
        let run = Instant::now();
        for _ in 0..COMMITS {
            sql.execute(&step, &[&id, &RESULT]).await.unwrap();
        }
        latencies.push(run.elapsed().as_secs_f64() * 1e3);
    }
    latencies
}

async fn runs(url: &str, length: Duration) -> Vec<f64> {
    let options = Options::new(url).unwrap().namespace("latency").unwrap();
    let store = PostgresStore::open(options).await.unwrap();
    let workflow = |ctx: Ctx<AnyEvent>, (): ()| async move {
        for _ in 0..STEPS {
            ctx.step("charge", || async { Ok::<_, Error>(RESULT.to_owned()) })
                .await?;
        }
        Ok(())
    };
    let engine = Engine::on_store(Arc::new(store));
    let engine = engine.workflows(Workflows::new().function("latency", workflow));
    let engine = engine.start().await.unwrap();
    let (begun, mut latencies) = (Instant::now(), Vec::new());
    while begun.elapsed() < length {
        let run = Instant::now();
        let started = engine.start_by_name("latency", Payload::null()).await;
        started.unwrap().wait_json().await.unwrap();
        latencies.push(run.elapsed().as_secs_f64() * 1e3);
    }
    engine.shutdown().await;
    latencies
}
