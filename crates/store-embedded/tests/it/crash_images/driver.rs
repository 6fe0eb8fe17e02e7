//! What the child does: opens a store, says how many batches it sees there, and goes on with the
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

/// The workload of this seed writes enough for the journal below to be followed by another, and
/// removed.
pub(super) const LARGE: u64 = u32::MAX as u64;
/// Its large batches.
pub(super) const FILLER: std::ops::Range<usize> = 5..73;

/// The workload of a seed.
pub(super) fn workload(seed: u64) -> Workload {
    match seed {
        LARGE => Workload::new(seed).with_filler(FILLER),
        _ => Workload::new(seed),
    }
}

/// Every so many batches the store is closed and opened again.
const REOPENED_AFTER: usize = 30;

/// Batches `from..to` of a seed's workload; the store may hold one more than `from`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Task {
    pub(super) seed: u64,
    pub(super) from: usize,
    pub(super) to: usize,
}

impl Task {
    /// This same test program, asked to do it.
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

/// The store's own folder: not there before, nor the one above it.
pub(super) fn store_in(root: &Path) -> std::path::PathBuf {
    root.join("above/store")
}

/// Small tables, so that they are flushed and compacted all the time.
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

/// Does nothing in the parent; in a child, what the parent asked for.
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
        self.mark(Mark::Shown(number));
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
            // Not closed, as if it had been killed.
            std::process::exit(0);
        }
    }

    fn mark(&mut self, mark: Mark) {
        self.marks.write_all(mark.line().as_bytes()).unwrap();
    }
}
