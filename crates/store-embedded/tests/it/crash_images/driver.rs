//! The child process: opens a store, reports the number of batches in it, and continues the
//! workload.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use everstep_store::Clock;
use everstep_store_embedded::{EmbeddedStore, Options};
use everstep_store_testkit::property::{Account, Workload};
use everstep_store_testkit::{Fixture, TestClock, block_on};

use super::operation::Mark;

/// The seed of a workload that writes enough for a second journal of the key-value store.
pub(super) const LARGE: u64 = u32::MAX as u64;
/// The large batches of that workload.
pub(super) const FILLER: std::ops::Range<usize> = 5..73;

pub(super) fn workload(seed: u64) -> Workload {
    match seed {
        LARGE => Workload::new(seed).with_filler(FILLER),
        _ => Workload::new(seed),
    }
}

/// The number of batches after which the store is reopened.
const REOPENED_AFTER: usize = 30;

/// Commits batches `from..to` of a workload. The store contains `from` batches, or one more.
#[derive(Clone, Copy, Debug)]
pub(super) struct Task {
    pub(super) seed: u64,
    pub(super) from: usize,
    pub(super) to: usize,
}

impl Task {
    /// Returns a command that runs the task in this test program.
    pub(super) fn command(self, root: &Path) -> Command {
        let mut command = Command::new(std::env::current_exe().unwrap());
        let Self { seed, from, to } = self;
        command
            .args(["--exact", "crash_images::driver::a_child_drives_a_store"])
            .arg("--nocapture")
            .env("EVERSTEP_DRIVE", format!("{seed} {from} {to}"))
            .env("EVERSTEP_STORE", store_in(root));
        command
    }
}

/// Returns the folder of the store. Neither it nor its parent exists in the beginning.
pub(super) fn store_in(root: &Path) -> std::path::PathBuf {
    root.join("above/store")
}

/// Opens a store with small memtables, so that tables are often flushed and compacted.
pub(super) fn open(path: &Path) -> Result<Fixture<EmbeddedStore>, everstep_store::StoreError> {
    let clock = Arc::new(TestClock::new());
    let options = Options {
        memtable_bytes: 16 * 1024,
        cache_bytes: 1 << 20,
        ..Options::default()
    };
    let shared: Arc<dyn Clock> = clock.clone();
    EmbeddedStore::open_with(path, shared, options).map(|store| Fixture { store, clock })
}

/// Runs the task of a child process. Does nothing in the parent.
#[test]
fn a_child_drives_a_store() {
    let Ok(task) = std::env::var("EVERSTEP_DRIVE") else {
        return;
    };
    let numbers: Vec<u64> = task.split(' ').map(|n| n.parse().unwrap()).collect();
    let [seed, from, to] = numbers[..] else {
        panic!("{task}");
    };
    let marks = std::env::var("EVERSTEP_RECORD_MARKS").unwrap();
    let driver = Driver {
        path: std::env::var("EVERSTEP_STORE").unwrap(),
        marks: File::create(marks).unwrap(),
    };
    block_on(driver.run(seed, from as usize, to as usize));
}

struct Driver {
    path: String,
    marks: File,
}

impl Driver {
    async fn run(mut self, seed: u64, from: usize, to: usize) {
        let mut workload = workload(seed);
        for _ in 0..from {
            workload.next().await;
        }
        let mut f = open(Path::new(&self.path)).unwrap();
        let mut number = from;
        let found = Account::of(&f).await;
        if workload.account().await.difference(&found).is_some() {
            workload.next().await;
            number += 1;
            let difference = workload.account().await.difference(&found);
            assert_eq!(difference, None, "neither {from} batches nor one more");
        }
        self.mark(Mark::Visible(number));
        while number < to {
            if number % REOPENED_AFTER == REOPENED_AFTER - 1 {
                drop(f);
                f = open(Path::new(&self.path)).unwrap();
            }
            number += 1;
            let (batch, expected) = workload.next().await;
            self.mark(Mark::Begun(number));
            let outcomes = f.commit(batch).await;
            self.mark(Mark::Acknowledged(number));
            assert_eq!(outcomes, expected);
        }
        if seed % 2 == 1 {
            // Exits without closing the store, like a killed process.
            std::process::exit(0);
        }
    }

    fn mark(&mut self, mark: Mark) {
        self.marks.write_all(mark.line().as_bytes()).unwrap();
    }
}
