//! Keeps the memory and the files of old versions of the tables until a thread of its own frees them.
//!
//! When a memtable is sealed, the key-value store forgets old versions: on the thread that commits, and
//! under a lock that commits need. Freeing a memtable takes 16 ms, and deleting the files of merged
//! tables as long again; all runs would wait. A reference to each old version is kept here, so that
//! forgetting it frees nothing.

use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;

use fjall::AbstractTree;

use crate::storage::tables::Tables;

/// A part of a version.
trait Part: Send {
    /// Whether nothing else refers to it.
    fn is_forgotten(&self) -> bool;

    /// Equal for references to the same part.
    fn address(&self) -> usize;
}

impl<T: Send + Sync> Part for Arc<T> {
    fn is_forgotten(&self) -> bool {
        Self::strong_count(self) == 1
    }

    fn address(&self) -> usize {
        Self::as_ptr(self).addr()
    }
}

/// The list of the tables of a version. A table that later versions contain is not freed with it.
struct TableList<T>(#[allow(dead_code, reason = "held to be dropped later")] T);

impl<T: Send> Part for TableList<T> {
    fn is_forgotten(&self) -> bool {
        true
    }

    fn address(&self) -> usize {
        0
    }
}

#[derive(Default)]
pub(crate) struct OldVersions {
    kept: Vec<Box<dyn Part>>,
    /// The number of unsorted tables of the journal when its version was kept last.
    unsorted: usize,
    freeing: Option<Freeing>,
}

struct Freeing {
    parts: Sender<Box<dyn Part>>,
    thread: JoinHandle<()>,
}

impl OldVersions {
    /// Keeps the tables of the journal if it has another number of unsorted tables than before: a
    /// memtable was flushed, or tables were merged.
    pub(crate) fn note(&mut self, tables: &Tables, unsorted: usize) {
        if unsorted != self.unsorted {
            self.unsorted = unsorted;
            let version = tables.journal.tree.current_version();
            self.kept.push(Box::new(TableList(version)));
        }
    }

    /// Keeps the memtables, one of which is about to be sealed.
    pub(crate) fn keep_memtables(&mut self, tables: &Tables) {
        for table in tables.all() {
            self.keep(table.tree.active_memtable());
        }
    }

    /// Skips parts already kept: a duplicate reference would leak the part.
    fn keep<T: Send + Sync + 'static>(&mut self, part: Arc<T>) {
        if self
            .kept
            .iter()
            .all(|kept| kept.address() != part.address())
        {
            self.kept.push(Box::new(part));
        }
    }

    /// Frees what the key-value store has forgotten, on the other thread. If it cannot be started, on
    /// this one.
    pub(crate) fn free(&mut self) {
        let parts = std::mem::take(&mut self.kept).into_iter();
        let (forgotten, kept): (Vec<_>, Vec<_>) = parts.partition(|part| part.is_forgotten());
        self.kept = kept;
        if self.freeing.is_none() {
            self.freeing = Freeing::start();
        }
        if let Some(freeing) = &self.freeing {
            for part in forgotten {
                let _ = freeing.parts.send(part);
            }
        }
    }
}

impl Drop for OldVersions {
    /// Waits, so that all files are deleted before the store is closed.
    fn drop(&mut self) {
        if let Some(Freeing { parts, thread }) = self.freeing.take() {
            drop(parts);
            let _ = thread.join();
        }
    }
}

impl Freeing {
    fn start() -> Option<Self> {
        let (parts, received) = channel();
        let thread = std::thread::Builder::new()
            .name("everstep-free".to_owned())
            .spawn(move || received.into_iter().for_each(drop::<Box<dyn Part>>));
        thread.ok().map(|thread| Self { parts, thread })
    }
}

#[cfg(test)]
#[path = "old_versions_tests.rs"]
mod tests;
