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
use crate::disk_limits::DiskSamples;
use crate::figure::Unit;
use crate::payload::RandomTexts;
use crate::process::CpuTimer;
use crate::setup::Setup;
use crate::statistics::{median, ratio};

const WARMING_UP: u8 = 0;
const MEASURING: u8 = 1;
const ENDING: u8 = 2;

pub(crate) fn measure(
    setup: &Setup<'_>,
    runtime: &Runtime,
    address: SocketAddr,
) -> anyhow::Result<Vec<Case>> {
    let mut cases = Vec::new();
    for &connections in &setup.arguments.connections {
        let mut rounds = Rounds::default();
        for round in 0..setup.rounds() {
            let disk = setup.measure_disk(setup.payload_bytes(), Some(connections as usize))?;
            setup.stage(format!("{connections} connections append"));
            let prefix = format!("/v1/stream/appends/{connections}/{round}");
            let paths = (0..connections).map(|number| format!("{prefix}/{number}"));
            let window = Window::measure(setup, address, paths);
            runtime.block_on(window)?.add_to(&disk, &mut rounds);
        }
        let case = rounds.into_case(format!("{connections} connections append"));
        let means = "faster than other servers of this protocol with fsync";
        cases.push(match connections {
            64 => case.at_least("appends", 58_000.0, means),
            _ => case,
        });
    }
    Ok(cases)
}

struct Window {
    elapsed: Duration,
    cpu: Duration,
    append_ms: Vec<f64>,
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
    /// Appends to each of these streams on a connection of its own.
    async fn measure(
        setup: &Setup<'_>,
        address: SocketAddr,
        paths: impl Iterator<Item = String>,
    ) -> anyhow::Result<Self> {
        let phase = Arc::new(AtomicU8::new(WARMING_UP));
        let mut tasks = JoinSet::new();
        for path in paths {
            let connection = HttpConnection::open(address).await?;
            let texts = RandomTexts::of_json_bytes(setup.payload_bytes());
            tasks.spawn(append_on(connection, path, texts, phase.clone()));
        }
        tokio::time::sleep(setup.warm_up()).await;
        let (begun, cpu) = (Instant::now(), CpuTimer::start());
        phase.store(MEASURING, Ordering::SeqCst);
        tokio::time::sleep(setup.round_length()).await;
        phase.store(ENDING, Ordering::SeqCst);
        let (elapsed, cpu) = (begun.elapsed(), cpu.elapsed());
        let mut append_ms = Vec::new();
        while let Some(task) = tasks.join_next().await {
            append_ms.extend(task??);
        }
        Ok(Self {
            elapsed,
            cpu,
            append_ms,
        })
    }

    fn add_to(mut self, disk: &DiskSamples, rounds: &mut Rounds) {
        let (appends, seconds) = (self.append_ms.len(), self.elapsed.as_secs_f64());
        let (rate, log) = (ratio(appends as f64, seconds), median(&disk.log_per_second));
        rounds.add("appends", Unit::PerSecond, rate);
        rounds.add("ratio to log", Unit::Ratio, ratio(rate, log));
        rounds.add_latencies("append", &mut self.append_ms);
        // Of the server and the clients.
        rounds.add_cpu("CPU per operation", self.cpu, appends);
        rounds.add("busy", Unit::Cores, ratio(self.cpu.as_secs_f64(), seconds));
        rounds.add_memory();
        rounds.add_sync(disk);
        rounds.add("bare log", Unit::PerSecond, log);
    }
}
