//! Imports 100,000 pages, or the given number. Run it, kill it with `kill -9`, and run it again: it
//! continues with the page where it was.

use std::time::{Duration, Instant};

use everstep::errors::ReadError;
use everstep::journal::Body;
use everstep::{Engine, Handle, WaitError, Workflows, millis};
use everstep_importer::import::{Import, Progress};
use everstep_importer::world::{Source, Warehouse};

type Failure = Box<dyn std::error::Error>;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let mut args = std::env::args().skip(1);
    let folder = args.next().unwrap_or_else(|| "target/importer".to_owned());
    let pages = args.next().map_or(Ok(100_000), |pages| pages.parse())?;
    println!("Kill this with `kill -9` at any time and run it again: it continues where it was.");
    println!("Data is in {folder}; delete it to start over.");

    let latency = Duration::ZERO;
    let warehouse = Warehouse::default();
    let import = Import {
        source: Source { pages, latency },
        warehouse: warehouse.clone(),
    };
    let engine = Engine::open(&folder)
        .workflows(Workflows::new().workflow(import))
        .start()
        .await?;
    let begun = Instant::now();
    let run = engine.start::<Import>(&()).id("import-1").await?;
    if !run.created() {
        let page = reached(&run).await?;
        println!("continuing after page {page}; earlier pages are not copied again");
    }
    let done = watch(&run).await?;

    let (rows, _) = warehouse.rows();
    let took = begun.elapsed();
    println!("Copied {} pages, {} rows.", done.pages, done.rows);
    println!("This process copied {rows} rows in {took:.1?}.");
    let journal = run.journal().await?;
    let written = journal.last().map_or(0, |last| last.number.0 + 1);
    let kept = journal.len();
    println!("The journal keeps {kept} of {written} records.");
    engine.shutdown().await;
    Ok(())
}

/// Waits for the end and prints the progress.
async fn watch(run: &Handle<Import>) -> Result<Progress, Failure> {
    loop {
        match run.wait_within(millis(500)).await {
            Err(WaitError::TimedOut { .. }) => {
                println!("copied page {}.", reached(run).await?);
            }
            ended => return Ok(ended?),
        }
    }
}

/// Returns the last page in the journal, from the row that the import sets. The journal stays
/// small, so reading all of it is cheap.
async fn reached(run: &Handle<Import>) -> Result<u64, ReadError> {
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
