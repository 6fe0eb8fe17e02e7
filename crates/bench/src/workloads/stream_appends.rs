//! `stream`, writers: connections that append over HTTP, each to its own stream, one append at a
//! time. The server responds when an append is durable.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;
use tokio::task::JoinSet;

use super::http::HttpConnection;
use crate::case::{Case, Rounds};
use crate::cpu;
use crate::disk_limits::{DiskSamples, StepBytes};
use crate::figure::{Bound, Unit};
use crate::memory;
use crate::payload::RandomTexts;
use crate::setup::Setup;
use crate::statistics::{median, ratio};

const WARMING_UP: u8 = 0;
const MEASURING: u8 = 1;
const ENDING: u8 = 2;

/// Returns one case per number of connections.
pub(crate) fn measure(
    setup: &Setup<'_>,
    runtime: &Runtime,
    address: SocketAddr,
) -> anyhow::Result<Vec<Case>> {
    let mut cases = Vec::new();
    for &connections in &setup.arguments.connections {
        let mut rounds = Rounds::default();
        for round in 0..setup.rounds() {
            let bytes = StepBytes::of(setup.payload_bytes())?;
            let (directory, length) = (setup.scratch.fresh("disk")?, setup.disk_length());
            let disk = DiskSamples::measure(&directory, &bytes, connections as usize, length)?;
            let progress = &setup.progress;
            progress.stage(&format!("{connections} connections append"));
            let prefix = format!("/v1/stream/appends/{connections}/{round}");
            let plan = Plan {
                address,
                prefix,
                connections,
                payload_bytes: setup.payload_bytes(),
            };
            let window = plan.append(setup.warm_up(), setup.round_length());
            runtime.block_on(window)?.add_to(&disk, &mut rounds);
        }
        let case = rounds.into_case(format!("{connections} connections append"));
        let means = "faster than other servers of this protocol with fsync";
        cases.push(match connections {
            64 => case.with_target("appends", Bound::AtLeast, 58_000.0, means),
            _ => case,
        });
    }
    Ok(cases)
}

struct Plan {
    address: SocketAddr,
    prefix: String,
    connections: u32,
    payload_bytes: usize,
}

struct Window {
    elapsed: Duration,
    cpu: Duration,
    append_ms: Vec<f64>,
}

impl Plan {
    async fn append(&self, warm_up: Duration, length: Duration) -> anyhow::Result<Window> {
        let phase = Arc::new(AtomicU8::new(WARMING_UP));
        let mut tasks = JoinSet::new();
        for number in 0..self.connections {
            let connection = HttpConnection::open(self.address).await?;
            let path = format!("{}/{number}", self.prefix);
            let texts = RandomTexts::of_json_bytes(self.payload_bytes);
            tasks.spawn(append_on(connection, path, texts, phase.clone()));
        }
        tokio::time::sleep(warm_up).await;
        let (begun, cpu) = (Instant::now(), cpu::used());
        phase.store(MEASURING, Ordering::SeqCst);
        tokio::time::sleep(length).await;
        phase.store(ENDING, Ordering::SeqCst);
        let (elapsed, cpu) = (begun.elapsed(), cpu::used().saturating_sub(cpu));
        let mut append_ms = Vec::new();
        while let Some(task) = tasks.join_next().await {
            append_ms.extend(task??);
        }
        Ok(Window {
            elapsed,
            cpu,
            append_ms,
        })
    }
}

/// Appends until the phase is `ENDING`. Returns the latencies in milliseconds of the appends that
/// began and ended in the phase `MEASURING`.
async fn append_on(
    mut connection: HttpConnection,
    path: String,
    texts: RandomTexts,
    phase: Arc<AtomicU8>,
) -> anyhow::Result<Vec<f64>> {
    connection.send("PUT", &path, "").await?;
    let mut append_ms = Vec::new();
    loop {
        let (begun, began_in) = (Instant::now(), phase.load(Ordering::SeqCst));
        connection.send("POST", &path, &texts.next()).await?;
        match (began_in, phase.load(Ordering::SeqCst)) {
            (MEASURING, MEASURING) => append_ms.push(begun.elapsed().as_secs_f64() * 1e3),
            (_, ENDING) => return Ok(append_ms),
            _ => {}
        }
    }
}

impl Window {
    fn add_to(mut self, disk: &DiskSamples, rounds: &mut Rounds) {
        let appends = self.append_ms.len() as f64;
        let (rate, log) = (
            ratio(appends, self.elapsed.as_secs_f64()),
            median(&disk.log_per_second),
        );
        let cpu = self.cpu.as_secs_f64();
        rounds.add("appends", Unit::PerSecond, rate);
        rounds.add("ratio to log", Unit::Ratio, ratio(rate, log));
        rounds.add_latencies("append", &mut self.append_ms);
        // Of the server and the clients.
        rounds.add(
            "CPU per operation",
            Unit::Microseconds,
            ratio(cpu * 1e6, appends),
        );
        let busy = ratio(cpu, self.elapsed.as_secs_f64());
        rounds.add("busy", Unit::Cores, busy);
        rounds.add("memory", Unit::Bytes, memory::resident());
        rounds.add_sync(disk);
        rounds.add("bare log", Unit::PerSecond, log);
    }
}
