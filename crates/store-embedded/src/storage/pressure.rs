//! Back pressure: keeps the key-value store from falling behind, and writes from hanging.
//!
//! Its one background worker flushes and compacts in turn. It would also be asked to rotate the
//! journal's memtable, which must not wait behind a compaction: the committer rotates it here. And
//! where writes must wait for the worker, they wait here, because the waits below never end if the
//! worker has failed meanwhile.

use std::time::Duration;

use fjall::PersistMode;

use crate::storage::tables::Tables;

/// Sealed memtables of the journal above which no more are sealed; below, writes hang at 4.
const SEALED_MAX: usize = 2;
/// Unsorted tables above which writes wait; below, they slow down at 20 and hang at 30.
const TABLES_MAX: usize = 16;

const PAUSE: Duration = Duration::from_millis(1);

pub(crate) struct Pressure {
    written: u64,
    /// Bytes of frames after which the journal's memtable is sealed and flushed.
    memtable_bytes: u64,
}

impl Pressure {
    pub(crate) fn new(memtable_bytes: u64) -> Self {
        Self {
            written: 0,
            memtable_bytes,
        }
    }

    /// Counts what the next batch adds to the journal.
    pub(crate) fn add(&mut self, bytes: usize) {
        self.written += bytes as u64;
    }

    /// Called before each write.
    pub(crate) fn relieve(&mut self, tables: &Tables) -> fjall::Result<()> {
        while tables.journal.l0_table_count() > TABLES_MAX {
            pause(tables)?;
        }
        if self.written < self.memtable_bytes {
            return Ok(());
        }
        while tables.journal.sealed_memtable_count() > SEALED_MAX {
            if self.written < 2 * self.memtable_bytes {
                return Ok(());
            }
            pause(tables)?;
        }
        tables.journal.rotate_memtable()?;
        self.written = 0;
        Ok(())
    }
}

/// Waits a moment, unless the worker has failed.
fn pause(tables: &Tables) -> fjall::Result<()> {
    tables.db.persist(PersistMode::Buffer)?;
    std::thread::sleep(PAUSE);
    Ok(())
}
