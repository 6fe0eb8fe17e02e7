//! What a removal leaves behind.

use std::sync::Arc;

use everstep_model::{RunStatus, StreamNumber};
use everstep_store::{Commit, Store};
use everstep_store_testkit::sample::{closing, event, inbox, removal, run_creation};
use everstep_store_testkit::{Fixture, TestClock, block_on};

use super::*;
use crate::EmbeddedStore;

impl Reclaim {
    /// Waits until all requests are answered.
    fn wait(&mut self) {
        if let Some(merging) = self.merging.take() {
            drop(merging.requests);
            merging.thread.join().unwrap();
        }
    }
}

/// Creates a run with this number of frames, and returns its stream.
async fn run(f: &Fixture<EmbeddedStore>, id: &str, frames: usize) -> StreamNumber {
    let stream = f
        .create_with(run_creation(id, "order", RunStatus::Running))
        .await;
    let send = Commit::from(inbox(stream, vec![event("x")]));
    for _ in 0..frames.div_ceil(1_000) {
        let batch = vec![send.clone(); 1_000];
        f.store.commit(&batch).await.unwrap();
    }
    f.accept(closing(stream)).await;
    stream
}

/// Returns the number of rows of the journal, with deletions that were not merged.
async fn rows_after_removal(kept: usize, removed: usize) -> (usize, Vec<usize>) {
    let folder = tempfile::tempdir().unwrap();
    let clock = Arc::new(TestClock::new());
    let store = EmbeddedStore::open(folder.path(), clock.clone()).unwrap();
    let f = Fixture { store, clock };
    run(&f, "kept", kept).await;
    let stream = run(&f, "removed", removed).await;
    f.accept(removal(&[stream])).await;
    let inner = &f.store.0;
    inner.writer.lock().unwrap().pressure.reclaim.wait();
    let sealed = inner
        .tables
        .all()
        .map(|table| table.sealed_memtable_count());
    (inner.tables.journal.approximate_len(), sealed.to_vec())
}

// B807
#[test]
fn records_of_removed_streams_leave_the_disk() {
    block_on(async {
        let (rows, sealed) = rows_after_removal(1, DELETED_MIN).await;
        assert_eq!(rows, 1_001);
        assert_eq!(sealed, [0; 6]);
    });
}

#[test]
fn a_few_deletions_are_not_merged() {
    block_on(async {
        let (rows, _) = rows_after_removal(1, DELETED_MIN - 2_000).await;
        assert!(rows > 2 * (DELETED_MIN - 2_000), "{rows}");
    });
}

#[test]
fn a_store_is_not_merged_for_a_small_part_of_it() {
    block_on(async {
        let (rows, _) = rows_after_removal(2 * DELETED_MIN, DELETED_MIN).await;
        assert!(rows > 4 * DELETED_MIN, "{rows}");
    });
}
