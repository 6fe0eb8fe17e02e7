//! Returns the disk space and the memory of removed streams.
//!
//! A deleted row leaves the disk when the key-value store merges its deletion with it, which takes
//! as many new rows as the tables are large. A small store may never get there: everything that it
//! contained stays, and lists skip deletions. So when deletions are a large part of the rows, a
//! thread of its own merges all tables once.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;

use fjall::AbstractTree;

use crate::encoding::keys;
use crate::storage::old_versions::Keeper;
use crate::storage::tables::Tables;

/// The deleted records below which merging is not worth its cost.
const DELETED_MIN: u64 = 10_000;
/// The size of the journal's tables above which deletions alone make the key-value store merge
/// most of them, and a merge of everything could make writes wait.
const BYTES_MAX: u64 = 256 * 1024 * 1024;
/// The size of the unflushed records above which an opened store may contain that many deletions.
const UNFLUSHED_BYTES: u64 = 1024 * 1024;

pub(crate) struct Reclaim {
    /// The deletions since the last merge began.
    deleted: Arc<AtomicU64>,
    /// Started when it is first needed.
    merging: Option<Merging>,
}

struct Merging {
    requests: Sender<Request>,
    thread: JoinHandle<()>,
}

/// Tells the thread to check whether a merge pays off.
enum Request {
    /// Records were deleted.
    Deleted,
    /// The store was opened. The deletions that are not flushed are not counted yet.
    Opened,
}

impl Reclaim {
    /// Continues where the last process that had the store open ended.
    pub(crate) fn opened(tables: &Tables, keeper: &Keeper) -> Self {
        let deleted = tables.journal.tree.tombstone_count();
        let mut reclaim = Self {
            deleted: Arc::new(AtomicU64::new(deleted)),
            merging: None,
        };
        let unflushed = tables.journal.tree.active_memtable().size();
        if deleted >= DELETED_MIN || unflushed >= UNFLUSHED_BYTES {
            reclaim.request(Request::Opened, tables, keeper);
        }
        reclaim
    }

    /// Counts the records that a batch has deleted.
    pub(crate) fn add(&mut self, deleted: u64, tables: &Tables, keeper: &Keeper) {
        let before = self.deleted.fetch_add(deleted, Ordering::Relaxed);
        if deleted > 0 && before + deleted >= DELETED_MIN {
            self.request(Request::Deleted, tables, keeper);
        }
    }

    fn request(&mut self, request: Request, tables: &Tables, keeper: &Keeper) {
        if self.merging.is_none() {
            self.merging = Merging::start(tables, keeper, &self.deleted);
        }
        if let Some(merging) = &self.merging {
            let _ = merging.requests.send(request);
        }
    }
}

impl Drop for Reclaim {
    /// Waits for the merges that were requested.
    fn drop(&mut self) {
        if let Some(merging) = self.merging.take() {
            drop(merging.requests);
            let _ = merging.thread.join();
        }
    }
}

impl Merging {
    fn start(tables: &Tables, keeper: &Keeper, deleted: &Arc<AtomicU64>) -> Option<Self> {
        let (tables, keeper, deleted) = (tables.clone(), keeper.clone(), deleted.clone());
        let (requests, received) = channel();
        let merge = move || {
            for request in received {
                // Not an error of the store: the rows stay where they are.
                if let Err(error) = answer(&request, &tables, &keeper, &deleted) {
                    tracing::warn!("the space of removed streams could not be reclaimed: {error}");
                }
            }
        };
        let thread = std::thread::Builder::new()
            .name("everstep-merge".to_owned())
            .spawn(merge);
        Some(Self {
            requests,
            thread: thread.ok()?,
        })
    }
}

fn answer(
    request: &Request,
    tables: &Tables,
    keeper: &Keeper,
    deleted: &AtomicU64,
) -> fjall::Result<()> {
    if let Request::Opened = request {
        flush(tables, keeper)?;
        deleted.fetch_max(tables.journal.tree.tombstone_count(), Ordering::Relaxed);
    }
    let count = deleted.load(Ordering::Relaxed);
    if is_worthwhile(count, tables) {
        deleted.fetch_sub(count, Ordering::Relaxed);
        merge(tables, keeper)?;
    }
    Ok(())
}

fn is_worthwhile(deleted: u64, tables: &Tables) -> bool {
    // A deletion counts as a row, in addition to the row that it deletes.
    let rows = tables.journal.approximate_len() as u64;
    deleted >= DELETED_MIN && 3 * deleted >= rows && tables.journal.disk_space() <= BYTES_MAX
}

fn merge(tables: &Tables, keeper: &Keeper) -> fjall::Result<()> {
    flush(tables, keeper)?;
    keeper.keep_tables(tables);
    for table in tables.all() {
        table.major_compact()?;
    }
    // The key-value store forgets the tables that were merged when it seals the next memtable.
    let page_of_no_stream = keys::page(&[], u64::MAX);
    tables.ready.remove(page_of_no_stream)?;
    keeper.keep_memtables(tables);
    tables.ready.rotate_memtable()?;
    keeper.free();
    Ok(())
}

/// Flushes all memtables, and waits for the end of that.
fn flush(tables: &Tables, keeper: &Keeper) -> fjall::Result<()> {
    keeper.keep_memtables(tables);
    for table in tables.all() {
        table.rotate_memtable()?;
    }
    for table in tables.all() {
        while table.sealed_memtable_count() > 0 {
            tables.pause()?;
        }
    }
    keeper.free();
    Ok(())
}

#[cfg(test)]
#[path = "reclaim_tests.rs"]
mod tests;
