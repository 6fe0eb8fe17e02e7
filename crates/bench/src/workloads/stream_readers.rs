//! `stream`, readers: they follow a stream as server-sent events. Measures the time from appending
//! a message until each reader has received it. The append becomes durable in between. The next
//! message is appended when all readers have the previous one.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::Context;
use tokio::runtime::Runtime;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::http::{EndlessResponse, HttpConnection};
use crate::case::{Case, Rounds};
use crate::process::CpuTimer;
use crate::setup::Setup;

pub(crate) fn measure(
    setup: &Setup<'_>,
    runtime: &Runtime,
    address: SocketAddr,
) -> anyhow::Result<Vec<Case>> {
    let mut cases = Vec::new();
    for &readers in &setup.arguments.readers {
        setup.stage(format!("{readers} readers"));
        let path = format!("/v1/stream/readers/{readers}");
        let mut readers_of_stream = runtime.block_on(Readers::connect(address, path, readers))?;
        let mut rounds = Rounds::default();
        runtime.block_on(readers_of_stream.append_for(setup.warm_up()))?;
        for _ in 0..setup.rounds() {
            let disk = setup.measure_sync()?;
            setup.stage(format!("{readers} readers"));
            let cpu = CpuTimer::start();
            let mut times = runtime.block_on(readers_of_stream.append_for(setup.round_length()))?;
            let cpu = cpu.elapsed();
            rounds.add_latencies("delivered", &mut times.each_ms);
            rounds.add_latencies("delivered to all", &mut times.all_ms);
            rounds.add_cpu("CPU per delivery", cpu, times.each_ms.len());
            rounds.add_memory();
            rounds.add_sync(&disk);
        }
        runtime.block_on(readers_of_stream.disconnect());
        cases.push(rounds.into_case(format!("{readers} readers")));
    }
    Ok(cases)
}

/// The readers of one stream, and its writer. Each message is the time since `began`, in
/// nanoseconds.
struct Readers {
    began: Instant,
    path: String,
    writer: HttpConnection,
    readers: JoinSet<anyhow::Result<()>>,
    /// Receives the latency of each delivery.
    delivered: mpsc::UnboundedReceiver<Duration>,
}

/// The delivery latencies of one round.
#[derive(Default)]
struct DeliveryTimes {
    each_ms: Vec<f64>,
    /// Until the last reader received the message.
    all_ms: Vec<f64>,
}

impl Readers {
    async fn connect(address: SocketAddr, path: String, readers: u32) -> anyhow::Result<Self> {
        let mut writer = HttpConnection::open(address).await?;
        writer.send("PUT", &path, "").await?;
        let (began, (deliver, delivered)) = (Instant::now(), mpsc::unbounded_channel());
        let mut following = JoinSet::new();
        for _ in 0..readers {
            let connection = HttpConnection::open(address).await?;
            let address = format!("{path}?offset=-1&live=sse");
            let response = connection.follow(&address).await?;
            following.spawn(read(response, began, deliver.clone()));
        }
        Ok(Self {
            began,
            path,
            writer,
            readers: following,
            delivered,
        })
    }

    /// Appends messages for `length`, at least one.
    async fn append_for(&mut self, length: Duration) -> anyhow::Result<DeliveryTimes> {
        let (mut times, begun) = (DeliveryTimes::default(), Instant::now());
        while times.all_ms.is_empty() || begun.elapsed() < length {
            let message = format!("{}\n", self.began.elapsed().as_nanos());
            self.writer.send("POST", &self.path, &message).await?;
            let mut last: f64 = 0.0;
            for _ in 0..self.readers.len() {
                let took = self.delivered.recv().await;
                let took = took.context("a reader disconnected")?.as_secs_f64() * 1e3;
                times.each_ms.push(took);
                last = last.max(took);
            }
            times.all_ms.push(last);
        }
        Ok(times)
    }

    async fn disconnect(mut self) {
        self.readers.shutdown().await;
    }
}

async fn read(
    mut response: EndlessResponse,
    began: Instant,
    deliver: mpsc::UnboundedSender<Duration>,
) -> anyhow::Result<()> {
    loop {
        let line = response.next_line().await?;
        let data = line.strip_prefix("data:").map(str::trim);
        let Some(sent) = data.and_then(|data| data.parse().ok()) else {
            continue;
        };
        let took = began.elapsed().saturating_sub(Duration::from_nanos(sent));
        if deliver.send(took).is_err() {
            return Ok(());
        }
    }
}
