//! `stream`, the reading half: a message is appended while readers follow the stream as server-sent events; from the call that
//! appends it until each of them has it. The next is appended once all have it. The append is made durable on the way.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::Context;
use tokio::runtime::Runtime;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::http::{Followed, HttpConnection};
use crate::bench::case::{Case, Rounds};
use crate::bench::cpu;
use crate::bench::figure::Unit;
use crate::bench::memory;
use crate::bench::setup::Setup;
use crate::bench::statistics::ratio;

/// One case for each number of readers.
pub(super) fn measure(
    setup: &Setup<'_>,
    runtime: &Runtime,
    address: SocketAddr,
) -> anyhow::Result<Vec<Case>> {
    let mut cases = Vec::new();
    for &readers in &setup.arguments.readers {
        setup.progress.say(&format!("{readers} readers follow"));
        let path = format!("/v1/stream/readers/{readers}");
        let mut audience = runtime.block_on(Audience::gather(address, path, readers))?;
        let mut rounds = Rounds::default();
        runtime.block_on(audience.tell_for(setup.warm_up()))?;
        for _ in 0..setup.rounds() {
            let disk = setup.measure_sync()?;
            setup.progress.say(&format!("{readers} readers follow"));
            let cpu = cpu::used();
            let mut told = runtime.block_on(audience.tell_for(setup.round_length()))?;
            let cpu = cpu::used().saturating_sub(cpu).as_secs_f64() * 1e6;
            let deliveries = told.each_ms.len() as f64;
            rounds.add_latencies("delivered", &mut told.each_ms);
            rounds.add_latencies("delivered to all", &mut told.all_ms);
            let each = ratio(cpu, deliveries);
            rounds.add("CPU per delivery", Unit::Microseconds, each);
            rounds.add("memory", Unit::Bytes, memory::resident());
            rounds.add_sync(&disk);
        }
        runtime.block_on(audience.leave());
        cases.push(rounds.into_case(format!("{readers} readers")));
    }
    Ok(cases)
}

/// Readers of one stream, and the one who writes to it. A message is the time since it began, in nanoseconds.
struct Audience {
    began: Instant,
    path: String,
    writer: HttpConnection,
    readers: JoinSet<anyhow::Result<()>>,
    /// How long each delivery took.
    delivered: mpsc::UnboundedReceiver<Duration>,
}

/// What was measured in one round, in milliseconds.
#[derive(Default)]
struct Told {
    each_ms: Vec<f64>,
    /// Until the last of the readers had a message.
    all_ms: Vec<f64>,
}

impl Audience {
    async fn gather(address: SocketAddr, path: String, readers: u32) -> anyhow::Result<Self> {
        let mut writer = HttpConnection::open(address).await?;
        writer.send("PUT", &path, "").await?;
        let (began, (deliver, delivered)) = (Instant::now(), mpsc::unbounded_channel());
        let mut following = JoinSet::new();
        for _ in 0..readers {
            let connection = HttpConnection::open(address).await?;
            let address = format!("{path}?offset=-1&live=sse");
            let followed = connection.follow(&address).await?;
            following.spawn(read(followed, began, deliver.clone()));
        }
        Ok(Self {
            began,
            path,
            writer,
            readers: following,
            delivered,
        })
    }

    /// Tells them one thing after the other for this long, once at least.
    async fn tell_for(&mut self, length: Duration) -> anyhow::Result<Told> {
        let (mut told, begun) = (Told::default(), Instant::now());
        while told.all_ms.is_empty() || begun.elapsed() < length {
            let message = format!("{}\n", self.began.elapsed().as_nanos());
            self.writer.send("POST", &self.path, &message).await?;
            let mut last: f64 = 0.0;
            for _ in 0..self.readers.len() {
                let took = self.delivered.recv().await;
                let took = took.context("a reader has left")?.as_secs_f64() * 1e3;
                told.each_ms.push(took);
                last = last.max(took);
            }
            told.all_ms.push(last);
        }
        Ok(told)
    }

    async fn leave(mut self) {
        self.readers.shutdown().await;
    }
}

/// Notes how long ago each message was sent that arrives.
async fn read(
    mut followed: Followed,
    began: Instant,
    deliver: mpsc::UnboundedSender<Duration>,
) -> anyhow::Result<()> {
    loop {
        let line = followed.next_line().await?;
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
