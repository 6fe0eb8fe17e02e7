//! Imports 100,000 pages, or as many as you say. Run it, kill it with `kill -9`, and run it again: it goes on at the page
//! where it was.

use std::time::{Duration, Instant};

use everstep::journal::Body;
use everstep::{Engine, EngineError, Handle, WaitError, millis};
use everstep_importer::import::{Import, Progress};
use everstep_importer::world::{Source, Warehouse};

type Failure = Box<dyn std::error::Error>;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let mut args = std::env::args().skip(1);
    let folder = args.next().unwrap_or_else(|| "target/importer".to_owned());
    let pages = args.next().map_or(Ok(100_000), |pages| pages.parse())?;
    println!("Kill this with `kill -9` at any time and run it again: it goes on where it was.");
    println!("Everything is kept in {folder}; delete that to begin anew.");

    let latency = Duration::ZERO;
    let warehouse = Warehouse::default();
    let import = Import {
        source: Source { pages, latency },
        warehouse: warehouse.clone(),
    };
    let engine = Engine::open(&folder).workflow(import).start().await?;
    let begun = Instant::now();
    let run = engine.start::<Import>(&()).id("import-1").await?;
    if !run.created() {
        let page = reached(&run).await?;
        println!("begun before; goes on after page {page}; those before it are not copied again");
    }
    let done = watch(&run).await?;

    let (rows, _) = warehouse.rows();
    let took = begun.elapsed();
    println!("{} pages are copied, {} rows.", done.pages, done.rows);
    println!("{rows} rows were copied by this process, in {took:.1?}.");
    let journal = run.journal().await?;
    let written = journal.last().map_or(0, |last| last.number.0 + 1);
    let kept = journal.len();
    println!("Of {written} records in all, the journal keeps {kept}.");
    engine.shutdown().await;
    Ok(())
}

/// Waits for the end, and prints how far it is meanwhile.
async fn watch(run: &Handle<Import>) -> Result<Progress, Failure> {
    loop {
        match run.wait_within(millis(500)).await {
            Err(WaitError::TimedOut(_)) => {
                println!("page {} is copied", reached(run).await?);
            }
            ended => return Ok(ended?),
        }
    }
}

/// The last page in the journal, by the row that the import sets. Reading all of the journal is cheap: it stays small.
async fn reached(run: &Handle<Import>) -> Result<u64, EngineError> {
    let journal = run.journal().await?;
    let row = journal
        .iter()
        .rev()
        .find_map(|entry| match &entry.record.body {
            Body::StateChanged(row) => row.value.decode().ok(),
            _ => None,
        });
    Ok(row.map_or(0, |progress: Progress| progress.pages))
}
