//! `everstep dev`: the demo workflows at work, on a store that outlives the process.
//!
//! ```text
//!   runs left behind ─┐                      ┌─▶ screen   one line per record
//!   or fresh runs    ─┴─▶ engine ─▶ tail ────┤
//!                           ▲                └─▶ person   approves and answers after a moment
//!                           └────────────────────────┘
//! ```

mod company;
mod person;
mod screen;
mod story;
mod summary;

use std::sync::Arc;

use anyhow::Context;
use everstep::Engine;
use everstep_demo::{Gateway, Pace};
use everstep_store::{MemoryStore, Store};
use everstep_store_embedded::EmbeddedStore;
use tokio::sync::mpsc;

use crate::arguments::Dev;
use crate::ending::Ending;
use crate::system_clock::SystemClock;
use company::Company;
use person::Person;
use screen::Screen;

/// Lines that may wait for the screen.
const LINES_MAX: usize = 1_024;

pub(crate) fn run(arguments: &Dev) -> anyhow::Result<Ending> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    runtime.block_on(develop(arguments))
}

async fn develop(arguments: &Dev) -> anyhow::Result<Ending> {
    let mut screen = Screen::new(arguments.json);
    let store = open_store(arguments)?;
    let left = company::left_behind(&*store).await?;
    screen.introduce(&place(arguments), store.describe().durability, &left)?;

    let builder = Engine::on_store(store).development(true);
    // A bank that is busy once shows what a retry looks like.
    let engine = everstep_demo::register(builder, Pace::brisk(), Gateway::busy(1))
        .start()
        .await?;
    let watched = watch(&engine, left, &mut screen).await;
    let ending = match watched {
        Ok(ending) => ending,
        Err(error) => {
            engine.shutdown().await;
            return Err(error);
        }
    };
    if ending == Ending::Interrupted {
        screen.remark("shutting down; runs that are not over go on next time")?;
    }
    tokio::select! {
        () = engine.shutdown() => {}
        _ = tokio::signal::ctrl_c() => {}
    }
    Ok(ending)
}

fn open_store(arguments: &Dev) -> anyhow::Result<Arc<dyn Store>> {
    let clock = Arc::new(SystemClock);
    if arguments.memory {
        return Ok(Arc::new(MemoryStore::new(clock)));
    }
    let store = EmbeddedStore::open(&arguments.data, clock)
        .with_context(|| format!("cannot open {}", arguments.data.display()))?;
    Ok(Arc::new(store))
}

fn place(arguments: &Dev) -> String {
    if arguments.memory {
        return "in memory".to_owned();
    }
    let data = &arguments.data;
    let path = data.canonicalize().unwrap_or_else(|_| data.clone());
    format!("in {}", path.display())
}

/// Shows the runs until all are over, or somebody interrupts.
async fn watch(
    engine: &Engine,
    left: company::Left,
    screen: &mut Screen,
) -> anyhow::Result<Ending> {
    let company = Company::gather(engine, left).await?;
    screen.know(company.ids());
    let (send, mut receive) = mpsc::channel(LINES_MAX);
    company.tail(&Person::new(send.clone()), &send);
    drop(send);
    let mut interrupted = std::pin::pin!(tokio::signal::ctrl_c());
    loop {
        tokio::select! {
            biased;
            _ = &mut interrupted => return Ok(Ending::Interrupted),
            line = receive.recv() => match line {
                Some(line) => screen.show(&line?)?,
                None => break,
            },
        }
    }
    let rows = summary::of(company.runs()).await?;
    let all_well = rows.iter().all(summary::Row::is_completed);
    screen.conclude(&rows)?;
    Ok(if all_well {
        Ending::Well
    } else {
        Ending::Badly
    })
}
