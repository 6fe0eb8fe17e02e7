//! The tables of a store in the key-value store, and their settings.
//!
//! ```text
//!   journal   (stream, first record) → frame          written by every commit, read in order
//!   heads     (stream)               → head row       written when more than counts change
//!   lookups   names, dedup ids, open rpcs, idempotency keys, effects → value      point reads, mostly misses
//!   lists     (page), (hour, page), (workflow, status, page), (tag, page) → streams   read backwards
//!   timers    (due, stream, purpose, location)                           read forwards from now
//!   ready     (page)                 → streams        read once, when the store is opened
//! ```

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use everstep_store::StoreError;
use fjall::compaction::Leveled;
use fjall::config::{BlockSizePolicy, CompressionPolicy};
use fjall::{
    AbstractTree, CompressionType, Database, Keyspace, KeyspaceCreateOptions, OwnedWriteBatch,
    PersistMode, UserKey,
};

use crate::failure;
use crate::options::Options;

const MIB: u64 = 1024 * 1024;
const PAUSE: Duration = Duration::from_millis(1);

/// In the order of their creation, which determines their folders.
pub(crate) const NAMES: [&str; 6] = ["journal", "heads", "lookups", "lists", "timers", "ready"];

/// The opened key-value store.
#[derive(Clone)]
pub(crate) struct Tables {
    pub(crate) db: Database,
    pub(crate) journal: Keyspace,
    pub(crate) heads: Keyspace,
    pub(crate) lookups: Keyspace,
    pub(crate) lists: Keyspace,
    pub(crate) timers: Keyspace,
    pub(crate) ready: Keyspace,
    /// The directory of the store, for messages.
    pub(crate) place: String,
}

impl Tables {
    /// Opens or creates the tables in `folder`. The caller holds the lock and has checked the
    /// files.
    pub(crate) fn open(folder: &Path, options: &Options, place: &str) -> Result<Self, StoreError> {
        Self::try_open(folder, options, place).map_err(|error| failure::of_fjall(place, &error))
    }

    fn try_open(folder: &Path, options: &Options, place: &str) -> fjall::Result<Self> {
        let db = Database::builder(folder)
            .cache_size(options.cache_bytes)
            .max_cached_files(Some(options.files_cached))
            .max_journaling_size(64 * MIB)
            // A second worker would spin while the first one compacts (see `pressure`).
            .worker_threads(1)
            // To compare checksums, fjall compresses a compressed journal again when it reads it,
            // so another release of the compressor would refuse intact journals.
            .journal_compression(CompressionType::None)
            .open()?;
        let memtable_bytes = options.memtable_bytes;
        let small = || small_options(memtable_bytes);
        Ok(Self {
            journal: db.keyspace("journal", || journal_options(memtable_bytes))?,
            heads: db.keyspace("heads", small)?,
            lookups: db.keyspace("lookups", small)?,
            lists: db.keyspace("lists", small)?,
            timers: db.keyspace("timers", small)?,
            ready: db.keyspace("ready", small)?,
            db,
            place: place.to_owned(),
        })
    }

    /// Returns the highest sequence number of the rows that have left the memtables.
    pub(crate) fn last_flushed(&self) -> Option<u64> {
        let seqnos = self
            .all()
            .map(|table| table.tree.get_highest_persisted_seqno());
        seqnos.into_iter().max().flatten()
    }

    pub(crate) fn all(&self) -> [&Keyspace; NAMES.len()] {
        [
            &self.journal,
            &self.heads,
            &self.lookups,
            &self.lists,
            &self.timers,
            &self.ready,
        ]
    }

    /// Waits for the background worker for a short time, or returns an error if it has failed.
    pub(crate) fn pause(&self) -> fjall::Result<()> {
        self.db.persist(PersistMode::Buffer)?;
        std::thread::sleep(PAUSE);
        Ok(())
    }

    pub(crate) fn check<T>(&self, result: fjall::Result<T>) -> Result<T, StoreError> {
        result.map_err(|error| self.failed(&error))
    }

    pub(crate) fn failed(&self, error: &fjall::Error) -> StoreError {
        failure::of_fjall(&self.place, error)
    }
}

/// Writes a row, or deletes it if there is no value.
pub(crate) fn put(
    rows: &mut OwnedWriteBatch,
    table: &Keyspace,
    key: impl Into<UserKey>,
    value: Option<Vec<u8>>,
) {
    match value {
        Some(value) => rows.insert(table, key, value),
        None => rows.remove(table, key),
    }
}

fn journal_options(memtable_bytes: u64) -> KeyspaceCreateOptions {
    KeyspaceCreateOptions::default()
        // `pressure` seals it long before that.
        .max_memtable_size(4 * memtable_bytes)
        .data_block_size_policy(BlockSizePolicy::all(16 * 1024))
        .data_block_compression_policy(CompressionPolicy::new([
            CompressionType::None,
            CompressionType::None,
            CompressionType::Lz4,
        ]))
        .compaction_strategy(Arc::new(
            Leveled::default().with_table_target_size(64 * MIB),
        ))
}

fn small_options(memtable_bytes: u64) -> KeyspaceCreateOptions {
    KeyspaceCreateOptions::default().max_memtable_size(memtable_bytes / 2)
}
