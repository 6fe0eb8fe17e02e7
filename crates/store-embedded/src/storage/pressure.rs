//! Back pressure: keeps the key-value store from falling behind, and writes from hanging.
//!
//! The key-value store has one background worker, which flushes and compacts in turn. Rotating the
//! journal's memtable must not wait for a compaction, so the write path rotates it. The write path
//! also waits here for the worker, because the waits of the key-value store never end if the worker
//! has failed.

use crate::storage::old_versions::OldVersions;
use crate::storage::reclaim::Reclaim;
use crate::storage::tables::Tables;

/// The sealed memtables of the journal above which no more are sealed. fjall blocks writes at 4.
const SEALED_MAX: usize = 2;
/// The unsorted tables above which writes wait. fjall slows writes down at 20 and blocks them at
/// 30.
const TABLES_MAX: usize = 16;

pub(crate) struct Pressure {
    written: u64,
    /// The bytes of frames after which the journal's memtable is sealed and flushed.
    memtable_bytes: u64,
    /// Dropped before `old_versions`, which it uses.
    pub(super) reclaim: Reclaim,
    old_versions: OldVersions,
}

impl Pressure {
    pub(crate) fn new(tables: &Tables, memtable_bytes: u64) -> Self {
        let old_versions = OldVersions::new();
        Self {
            written: 0,
            memtable_bytes,
            reclaim: Reclaim::opened(tables, &old_versions.keeper),
            old_versions,
        }
    }

    /// Counts the bytes that the next batch adds to the journal.
    pub(crate) fn add(&mut self, bytes: usize) {
        self.written += bytes as u64;
    }

    #[cfg(test)]
    pub(super) fn keeper(&self) -> crate::storage::old_versions::Keeper {
        self.old_versions.keeper.clone()
    }

    /// Counts the records that the last batch has deleted.
    pub(crate) fn deleted(&mut self, records: u64, tables: &Tables) {
        let keeper = &self.old_versions.keeper;
        self.reclaim.add(records, tables, keeper);
    }

    /// Waits and rotates as needed. Must be called before each write.
    pub(crate) fn relieve(&mut self, tables: &Tables) -> fjall::Result<()> {
        let mut unsorted = tables.journal.l0_table_count();
        while unsorted > TABLES_MAX {
            tables.pause()?;
            unsorted = tables.journal.l0_table_count();
        }
        self.old_versions.note(tables, unsorted);
        if self.written < self.memtable_bytes {
            return Ok(());
        }
        while tables.journal.sealed_memtable_count() > SEALED_MAX {
            if self.written < 2 * self.memtable_bytes {
                return Ok(());
            }
            tables.pause()?;
        }
        self.old_versions.keeper.keep_memtables(tables);
        tables.journal.rotate_memtable()?;
        self.old_versions.keeper.free();
        self.written = 0;
        Ok(())
    }
}
