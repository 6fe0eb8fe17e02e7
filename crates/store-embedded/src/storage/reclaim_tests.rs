//! What a removal leaves on disk.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use everstep_model::{RunStatus, StreamNumber};
use everstep_store::{Commit, Store};
use everstep_store_testkit::sample::{closing, event, inbox, removal, run_creation};
use everstep_store_testkit::{Fixture, TestClock, block_on};

use super::*;
use crate::EmbeddedStore;

/// Enough records for a merge when they are deleted.
const LARGE: usize = DELETED_MIN as usize;

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

fn open(folder: &Path) -> Fixture<EmbeddedStore> {
    let clock = Arc::new(TestClock::new());
    let store = EmbeddedStore::open(folder, clock.clone()).unwrap();
    Fixture { store, clock }
}

/// Creates two runs and removes the second one.
async fn remove(f: &Fixture<EmbeddedStore>, kept: usize, removed: usize) {
    run(f, "kept", kept).await;
    let stream = run(f, "removed", removed).await;
    f.accept(removal(&[stream])).await;
}

fn wait(f: &Fixture<EmbeddedStore>) {
    let mut writer = f.store.0.writer.lock().unwrap();
    writer.pressure.reclaim.wait();
    writer.pressure.keeper().wait();
}

fn flush_all(f: &Fixture<EmbeddedStore>) {
    let keeper = f.store.0.writer.lock().unwrap().pressure.keeper();
    flush(&f.store.0.tables, &keeper).unwrap();
}

/// Returns the number of rows of the journal, including deletions and what they delete.
fn rows(f: &Fixture<EmbeddedStore>) -> usize {
    f.store.0.tables.journal.approximate_len()
}

/// Returns the bytes of all files except for the log.
fn table_bytes(folder: &Path) -> u64 {
    let mut bytes = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let (path, kind) = entry
            .map(|entry| (entry.path(), entry.file_type().unwrap()))
            .unwrap();
        bytes += match kind.is_dir() {
            true => table_bytes(&path),
            false if path.extension().is_some_and(|it| it == "jnl") => 0,
            false => fs::metadata(&path).unwrap().len(),
        };
    }
    bytes
}

// B807
#[test]
fn records_of_removed_streams_leave_the_disk() {
    let folder = tempfile::tempdir().unwrap();
    let f = open(folder.path());
    block_on(async {
        let stream = run(&f, "removed", LARGE / 2).await;
        flush_all(&f);
        // A commit after a flush keeps the list of tables.
        let other = run(&f, "other", LARGE / 2).await;
        flush_all(&f);
        run(&f, "last", 1).await;
        let before = table_bytes(folder.path());
        assert!(before > 400_000, "{before}");
        f.accept(removal(&[stream])).await;
        f.accept(removal(&[other])).await;
        wait(&f);
        let after = table_bytes(folder.path());
        assert!(after < before / 5, "{before} bytes before, {after} after");
    });
}

// B807
#[test]
fn records_that_were_removed_before_a_restart_leave_the_disk_too() {
    for is_flushed in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        block_on(async {
            let f = open(folder.path());
            let first = run(&f, "first", LARGE / 2).await;
            remove(&f, 1, LARGE / 2).await;
            // No merge is requested, as if the process died before.
            f.store.0.writer.lock().unwrap().pressure.reclaim.deleted = Arc::default();
            f.accept(removal(&[first])).await;
            if is_flushed {
                flush_all(&f);
            }
            assert!(rows(&f) > LARGE, "nothing was merged");
            drop(f);
            let f = open(folder.path());
            wait(&f);
            assert_eq!(rows(&f), 1_001, "flushed: {is_flushed}");
        });
    }
}

#[test]
fn a_few_deletions_are_not_merged() {
    let folder = tempfile::tempdir().unwrap();
    let f = open(folder.path());
    block_on(async {
        let removed = LARGE - 2_000;
        remove(&f, 1, removed).await;
        wait(&f);
        assert!(rows(&f) > 2 * removed);
    });
}

#[test]
fn a_store_is_not_merged_for_a_small_part_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let f = open(folder.path());
    block_on(async {
        remove(&f, 2 * LARGE, LARGE).await;
        wait(&f);
        assert!(rows(&f) > 4 * LARGE);
    });
}
