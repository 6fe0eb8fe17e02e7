//! The process that is killed: starts runs, sends them events, waits for them, and prints what was
//! acknowledged.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use everstep::schemars::{self, JsonSchema};
use everstep::{Ctx, Engine, Error, Event, Result, Retry, Workflow, Workflows, interface, millis};
use serde::{Deserialize, Serialize};

/// The number of processes that are killed.
pub(crate) const PROCESSES: u32 = 15;

/// Steps of an order.
pub(crate) const STEPS: [&str; 8] = [
    "check", "reserve", "charge", "pack", "label", "ship", "notify", "archive",
];

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct Confirmed {
    by: u32,
}

impl Event for Confirmed {
    const NAME: &'static str = "confirmed";
}

/// Does its steps with visible effects, sleeps, and waits for an event.
struct Order {
    effects: Arc<PathBuf>,
}

interface!(OrderInterface { events: Confirmed; });

impl Workflow for Order {
    const NAME: &'static str = "order";
    type Input = u32;
    type Output = u64;
    type Interface = OrderInterface;

    async fn run(&self, ctx: Ctx<Self>, number: u32) -> Result<u64> {
        let id = ctx.metadata().id;
        let mut total = u64::from(number);
        for (index, step) in STEPS.into_iter().enumerate() {
            if index == 2 {
                total += u64::from(ctx.event::<Confirmed>().await?.by);
            }
            let value: u64 = ctx
                .step_with(step, |context| {
                    let line = format!("{id} {} {}", context.name, context.attempt);
                    effect(self.effects.clone(), line, number, context.attempt)
                })
                .retry(Retry::constant(5, millis(2)))
                .await?;
            total += value;
            ctx.sleep("rest", millis(u64::from(20 + number % 90)))
                .await?;
        }
        Ok(total)
    }
}

/// The interval at which an order is checked.
const CHECK_INTERVAL: Duration = Duration::from_secs(5);

/// The number of the process that confirms an order, so that each process has work that only it can
/// finish.
fn confirming_process(number: u32) -> u32 {
    number % PROCESSES
}

/// The expected result of an order.
pub(crate) fn expected(number: u32) -> u64 {
    u64::from(number) + 1_000 + STEPS.len() as u64 * u64::from(number % 10)
}

/// The effect of a step: one line in a file that survives the process. Some first attempts fail
/// after it.
async fn effect(file: Arc<PathBuf>, line: String, number: u32, attempt: u32) -> Result<u64> {
    tokio::time::sleep(Duration::from_millis(u64::from(number % 5))).await;
    let mut file = OpenOptions::new().append(true).create(true).open(&*file)?;
    file.write_all(format!("{line}\n").as_bytes())?;
    if number.is_multiple_of(11) && attempt == 1 {
        return Err(Error::new("the first attempt fails"));
    }
    Ok(u64::from(number % 10))
}

fn say(line: String) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{line}");
    let _ = out.flush();
}

pub(crate) fn run(dir: &Path) -> ExitCode {
    let number = |name: &str| -> u32 { std::env::var(name).unwrap().parse().unwrap() };
    let runs = number("EVERSTEP_KILL9_RUNS");
    let process = number("EVERSTEP_KILL9_PROCESS");
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_time()
        .build()
        .unwrap();
    runtime.block_on(work(dir, runs, process));
    ExitCode::SUCCESS
}

async fn work(dir: &Path, runs: u32, process: u32) {
    let effects = Arc::new(dir.join("effects"));
    let engine = Engine::open(dir.join("data"))
        .workflows(Workflows::new().workflow(Order { effects }))
        .start()
        .await
        .unwrap();
    say("open".to_owned());
    let all = (0..runs).map(|number| {
        let engine = engine.clone();
        tokio::spawn(async move { order(&engine, number, process).await })
    });
    for order in all.collect::<Vec<_>>() {
        order.await.unwrap();
    }
    engine.shutdown().await;
    say("end".to_owned());
}

async fn order(engine: &Engine, number: u32, process: u32) {
    let id = format!("order-{number}");
    let run = engine.start::<Order>(&number).id(&id).await.unwrap();
    say(format!("started {id}"));
    // A finished run refuses the event, which an earlier process has sent.
    let is_due = confirming_process(number) <= process;
    let dedup = format!("confirm-{number}");
    if is_due
        && run
            .send_once(&Confirmed { by: 1_000 }, &dedup)
            .await
            .is_ok()
    {
        say(format!("sent {id} {dedup}"));
    }
    // A run without progress over many processes is paused until it is resumed, as an operator
    // would do.
    let total = loop {
        match tokio::time::timeout(CHECK_INTERVAL, run.wait()).await {
            Ok(ended) => break ended.unwrap(),
            Err(_) => drop(run.resume().await),
        }
    };
    say(format!("done {id} {total}"));
}
