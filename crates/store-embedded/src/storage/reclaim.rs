//! Returns the disk space and the memory of removed streams.
//!
//! A deleted row leaves the disk when the key-value store merges its deletion with it, which takes
//! as many new rows as the tables are large. A small store may never get there: everything that it
//! contained stays, and lists skip deletions. So when deletions are a large part of the rows, a
//! thread of its own merges all tables once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;

use crate::storage::old_versions::Keeper;
use crate::storage::tables::Tables;

/// The deleted records below which merging is not worth its cost.
const DELETED_MIN: usize = 10_000;
/// The size of the journal's tables above which deletions alone make the key-value store merge
/// most of them, and a merge of everything could make writes wait.
const BYTES_MAX: u64 = 256 * 1024 * 1024;

#[derive(Default)]
pub(crate) struct Reclaim {
    /// The records deleted since the last merge began.
    deleted: Arc<AtomicUsize>,
    /// Started when it is first needed.
    merging: Option<Merging>,
}

struct Merging {
    /// Asks the thread whether a merge is worth its cost by now.
    requests: Sender<()>,
    thread: JoinHandle<()>,
    is_closing: Arc<AtomicBool>,
}

impl Reclaim {
    /// Counts the records that a batch has deleted.
    pub(crate) fn add(&mut self, deleted: usize, tables: &Tables, keeper: &Keeper) {
        if deleted == 0 {
            return;
        }
        let before = self.deleted.fetch_add(deleted, Ordering::Relaxed);
        if before + deleted < DELETED_MIN {
            return;
        }
        if self.merging.is_none() {
            self.merging = Merging::start(tables, keeper, &self.deleted);
        }
        if let Some(merging) = &self.merging {
            let _ = merging.requests.send(());
        }
    }
}

impl Drop for Reclaim {
    /// Waits for the end of a merge, which takes a few seconds at most.
    fn drop(&mut self) {
        if let Some(merging) = self.merging.take() {
            merging.is_closing.store(true, Ordering::Relaxed);
            drop(merging.requests);
            let _ = merging.thread.join();
        }
    }
}

impl Merging {
    fn start(tables: &Tables, keeper: &Keeper, deleted: &Arc<AtomicUsize>) -> Option<Self> {
        let (tables, keeper, deleted) = (tables.clone(), keeper.clone(), deleted.clone());
        let is_closing = Arc::new(AtomicBool::new(false));
        let closing = is_closing.clone();
        let (requests, received) = channel();
        let merge = move || {
            for () in received {
                if is_worthwhile(deleted.load(Ordering::Relaxed), &tables) {
                    deleted.store(0, Ordering::Relaxed);
                    merge_all(&tables, &keeper, &closing);
                }
            }
        };
        let thread = std::thread::Builder::new()
            .name("everstep-merge".to_owned())
            .spawn(merge);
        Some(Self {
            requests,
            thread: thread.ok()?,
            is_closing,
        })
    }
}

fn is_worthwhile(deleted: usize, tables: &Tables) -> bool {
    // A deletion counts as a row, beside the row that it deletes.
    let rows = tables.journal.approximate_len();
    deleted >= DELETED_MIN && 3 * deleted >= rows && tables.journal.disk_space() <= BYTES_MAX
}

fn merge_all(tables: &Tables, keeper: &Keeper, closing: &AtomicBool) {
    keeper.keep_memtables(tables);
    // Not an error of the store: the rows stay where they are.
    if let Err(error) = try_merge_all(tables, closing) {
        tracing::warn!("the space of removed streams could not be reclaimed: {error}");
    }
    keeper.free();
}

fn try_merge_all(tables: &Tables, closing: &AtomicBool) -> fjall::Result<()> {
    for table in tables.all() {
        table.rotate_memtable()?;
    }
    for table in tables.all() {
        while table.sealed_memtable_count() > 0 {
            if closing.load(Ordering::Relaxed) {
                return Ok(());
            }
            tables.pause()?;
        }
        if closing.load(Ordering::Relaxed) {
            return Ok(());
        }
        table.major_compact()?;
    }
    Ok(())
}

#[cfg(test)]
#[path = "reclaim_tests.rs"]
mod tests;
