//! Tests of the import on a virtual clock: what is copied, what a crash repeats, and what stays in
//! the journal.

use std::time::Duration;

use everstep::testing::{TestEngine, TestEngineBuilder, virtual_time};
use everstep::{Workflows, millis, secs};

use super::*;

fn engine(pages: u64, latency: Duration, warehouse: &Warehouse) -> TestEngineBuilder {
    let source = Source { pages, latency };
    let warehouse = warehouse.clone();
    TestEngine::builder().workflows(Workflows::new().workflow(Import { source, warehouse }))
}

#[test]
fn every_row_and_picture_is_copied_once() {
    virtual_time(async {
        let warehouse = Warehouse::default();
        let test = engine(1_000, Duration::ZERO, &warehouse).start().await;
        let progress = test.start_and_wait::<Import>(&()).await.unwrap();
        assert_eq!((progress.pages, progress.rows), (1_000, 10_000));
        assert_eq!(warehouse.rows(), (10_000, 10_000));
        assert_eq!(warehouse.pictures(), (16, 16));
    });
}

#[test]
fn replaying_it_again_and_again_changes_nothing() {
    virtual_time(async {
        let warehouse = Warehouse::default();
        let builder = engine(50, Duration::ZERO, &warehouse)
            .development()
            .evict_all();
        let test = builder.start().await;
        let progress = test.start_and_wait::<Import>(&()).await.unwrap();
        assert_eq!(progress.pages, 50);
        assert_eq!(warehouse.rows(), (500, 500));
    });
}

async fn records_of(pages: u64) -> usize {
    let test = engine(pages, Duration::ZERO, &Warehouse::default())
        .start()
        .await;
    let run = test.start::<Import>(&()).await.unwrap();
    run.wait().await.unwrap();
    test.journal(&run).await.entries().len()
}

#[test]
fn the_journal_of_a_long_import_is_no_longer_than_that_of_a_short_one() {
    virtual_time(async {
        // At most twice the kept iterations, with four records each, and a few other records.
        let (short, long) = (records_of(100).await, records_of(3_000).await);
        assert!(short <= 100 && long <= 100, "{short} and {long} records");
    });
}

#[test]
fn after_a_crash_it_goes_on_at_the_page_where_it_was() {
    virtual_time(async {
        let warehouse = Warehouse::default();
        let mut test = engine(30, secs(1), &warehouse).start().await;
        test.start::<Import>(&()).id("import-1").await.unwrap();
        for _ in 0..2 {
            test.advance(millis(10_500)).await;
            test.restart().await;
        }
        let run = test.run_of::<Import>("import-1").await.unwrap();
        assert_eq!(run.wait().await.unwrap().pages, 30);
        assert_eq!(warehouse.rows(), (300, 300));
        // Each crash repeated the page in flight, and no other.
        assert_eq!(test.calls("copy-page"), 32);
    });
}

#[test]
fn the_row_shows_how_far_it_is() {
    virtual_time(async {
        let test = engine(30, Duration::ZERO, &Warehouse::default())
            .start()
            .await;
        let run = test.start::<Import>(&()).id("import-1").await.unwrap();
        let result = run.wait().await.unwrap();
        let journal = test.journal(&run).await;
        let rows = journal
            .entries()
            .iter()
            .filter_map(|entry| match &entry.record.body {
                everstep::journal::Body::StateChanged(row) => Some(row.value.clone()),
                _ => None,
            });
        let last: Progress = rows.last().unwrap().decode().unwrap();
        assert_eq!(last, result);
    });
}
