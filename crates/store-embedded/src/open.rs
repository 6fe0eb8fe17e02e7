//! Opening: the lock, the mark, what must be there, and only then the tables.
//!
//! ```text
//!   <path>/LOCK       held while the store is open
//!   <path>/FORMAT     what this directory is
//!   <path>/EXTENT     how far its journal reached when it was last closed
//!   <path>/data/      the key-value store below
//! ```
//!
//! The key-value store repairs what it takes for the leftovers of a crash by deleting it. What it would delete
//! although it was acknowledged is therefore looked for first.

use std::fs::{self, File, TryLockError};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, Mutex};

use everstep_model::{StreamNumber, Term};
use everstep_store::{Clock, StoreError};

use crate::cache::HeadCache;
use crate::commit::Writer;
use crate::due::Due;
use crate::effects::Effects;
use crate::extent::{self, NoteExtent};
use crate::failure;
use crate::folders;
use crate::format::{self, Mark};
use crate::journal_check::{self, Role};
use crate::keys;
use crate::leases::Leases;
use crate::manifest_check;
use crate::pressure::Pressure;
use crate::sets::KnownPages;
use crate::store::Inner;
use crate::tables::{self, Tables};
use crate::upgrade;
use crate::values;
use crate::view::View;

/// How a store is tuned. The defaults fit most machines.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// Bytes of disk blocks kept in memory.
    pub cache_bytes: u64,
    /// Bytes of records collected in memory before they are written into a table. The log has them already: this decides
    /// how much of it is read again after a crash, and how large tables are.
    pub memtable_bytes: u64,
    /// Heads of streams kept in memory; more than runs are executed at once.
    pub heads_cached: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            cache_bytes: 32 * 1024 * 1024,
            memtable_bytes: 32 * 1024 * 1024,
            heads_cached: 65_536,
        }
    }
}

impl Options {
    /// Sets the bytes of disk blocks kept in memory.
    #[must_use]
    pub fn with_cache_bytes(mut self, bytes: u64) -> Self {
        self.cache_bytes = bytes;
        self
    }

    /// Sets the bytes of records collected in memory before they are written into a table.
    #[must_use]
    pub fn with_memtable_bytes(mut self, bytes: u64) -> Self {
        self.memtable_bytes = bytes;
        self
    }

    /// Sets how many heads are kept in memory.
    #[must_use]
    pub fn with_heads_cached(mut self, heads: usize) -> Self {
        self.heads_cached = heads;
        self
    }
}

/// Keeps other processes, and other handles of this one, away from a directory.
pub(crate) struct DirectoryLock(File);

impl Drop for DirectoryLock {
    fn drop(&mut self) {
        // Closing the file is not enough: a child process that is just being started shares it until it runs.
        let _ = self.0.unlock();
    }
}

pub(crate) fn open(
    path: &Path,
    clock: Arc<dyn Clock>,
    options: &Options,
) -> Result<Inner, StoreError> {
    let place = path.display().to_string();
    prepare(path, &place)?;
    let lock = lock(path, &place)?;
    let data = path.join("data");
    let mark = format::read(path, &place)?;
    match mark {
        Mark::Absent => must_be_empty(path, &place)?,
        Mark::Unfinished => remove(&data, &place)?,
        Mark::Older { .. } | Mark::Finished => must_be_whole(path, &place)?,
    }
    let io_failed = |error| failure::of_io(&place, &error);
    if mark == Mark::Absent {
        format::begin(path).map_err(io_failed)?;
    }
    let tables = open_tables(&data, options, &place)?;
    if mark == (Mark::Older { sets: true }) {
        // An older release must refuse a store that is partly upgraded.
        format::begin_upgrade(path).map_err(io_failed)?;
        upgrade::sets_from_heads(&tables)?;
    }
    if mark != Mark::Finished {
        // Once it counts as finished, a part that is missing is damage.
        folders::sync_below(&data)
            .and_then(|()| folders::sync_above(path))
            .and_then(|()| format::finish(path))
            .map_err(io_failed)?;
    }
    let (next_stream, term) = next_stream(&tables)?;
    Ok(Inner {
        clock,
        cache: HeadCache::new(options.heads_cached),
        leases: Leases::default(),
        pages: KnownPages::new(),
        due: Due::load(&tables)?,
        effects: Effects::load(&tables)?,
        writer: Mutex::new(Writer {
            next_stream,
            term,
            poisoned: None,
            pressure: Pressure::new(options.memtable_bytes),
        }),
        tables,
        extent: NoteExtent::new(path),
        _lock: lock,
    })
}

fn prepare(path: &Path, place: &str) -> Result<(), StoreError> {
    if path.is_file() {
        return Err(StoreError::Unavailable {
            detail: format!("{place} is a file; name a directory"),
        });
    }
    fs::create_dir_all(path).map_err(|error| failure::of_io(place, &error))
}

fn lock(path: &Path, place: &str) -> Result<DirectoryLock, StoreError> {
    let file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path.join("LOCK"))
        .map_err(|error| failure::of_io(place, &error))?;
    match file.try_lock() {
        Ok(()) => Ok(DirectoryLock(file)),
        Err(TryLockError::WouldBlock) => Err(StoreError::Locked {
            place: place.to_owned(),
        }),
        Err(TryLockError::Error(error)) => Err(failure::of_io(place, &error)),
    }
}

/// A directory without a mark becomes a store only if nobody else's files are in it.
fn must_be_empty(path: &Path, place: &str) -> Result<(), StoreError> {
    let entries = fs::read_dir(path).map_err(|error| failure::of_io(place, &error))?;
    for entry in entries {
        let name = entry
            .map_err(|error| failure::of_io(place, &error))?
            .file_name();
        if name == "data" || name == "EXTENT" {
            return Err(corrupt(place, "its file FORMAT is missing"));
        }
        if name != "LOCK" && name != "FORMAT.new" {
            return Err(StoreError::Unavailable {
                detail: format!("{place} holds other files; name an empty directory or a store"),
            });
        }
    }
    Ok(())
}

fn remove(data: &Path, place: &str) -> Result<(), StoreError> {
    match fs::remove_dir_all(data) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(failure::of_io(place, &error))
        }
        _ => Ok(()),
    }
}

/// What a finished store always has, and the key-value store would silently replace if it were gone.
fn must_be_whole(path: &Path, place: &str) -> Result<(), StoreError> {
    let data = path.join("data");
    if !data.join("version").is_file() {
        return Err(corrupt(place, "data/version is missing"));
    }
    // One folder per table, and one for the list of tables.
    for folder in 0..=tables::NAMES.len() {
        manifest_check::check(&data.join("keyspaces").join(folder.to_string()))?;
    }
    journals_must_be_whole(path, &data, place)
}

/// Journals are removed oldest first, so none is missing between two; and the last one reaches at least as far as it
/// did when the store was closed.
fn journals_must_be_whole(path: &Path, data: &Path, place: &str) -> Result<(), StoreError> {
    let numbers = extent::journals(data).map_err(|error| failure::of_io(place, &error))?;
    let follow = numbers
        .windows(2)
        .all(|pair| matches!(pair, [a, b] if a + 1 == *b));
    let Some((active, sealed)) = numbers.split_last().filter(|_| follow) else {
        return Err(corrupt(place, "a journal is missing"));
    };
    for number in sealed {
        journal_check::check(&extent::journal(data, *number), Role::Sealed)?;
    }
    let whole_to = match extent::noted(path) {
        Some((number, _)) if number > *active => {
            return Err(corrupt(place, "the last journal is missing"));
        }
        Some((number, end)) if number == *active => end,
        _ => 0,
    };
    journal_check::check(&extent::journal(data, *active), Role::Active { whole_to })
}

/// The key-value store asserts where it finds what it never wrote; here that is one more way to say "damaged".
fn open_tables(data: &Path, options: &Options, place: &str) -> Result<Tables, StoreError> {
    let opened = catch_unwind(AssertUnwindSafe(|| Tables::open(data, options, place)));
    opened.unwrap_or_else(|_| Err(corrupt(place, "it holds something that was never written")))
}

/// The number and the term of the next stream: behind all there are, and all there were.
fn next_stream(tables: &Tables) -> Result<(StreamNumber, Term), StoreError> {
    let view = View::new(tables);
    let removed = view.lookup(&keys::REMOVED)?;
    let removed = removed.map(|bytes| values::decode_removed(&bytes));
    let removed = removed.transpose();
    let removed = removed.map_err(|e| view.unreadable("the memory of removed streams", e))?;
    let (behind_removed, term) = removed.unwrap_or((StreamNumber(1), Term(0)));
    Ok((behind_last(tables)?.max(behind_removed), term))
}

fn behind_last(tables: &Tables) -> Result<StreamNumber, StoreError> {
    let Some(last) = tables.heads.last_key_value() else {
        return Ok(StreamNumber(1));
    };
    let key = last.key().map_err(|error| tables.failed(&error))?;
    let number = keys::stream_of_head(&key);
    let number = number.map_err(|_| corrupt(&tables.place, "the key of a head is no number"))?;
    Ok(number.next())
}

fn corrupt(place: &str, detail: &str) -> StoreError {
    StoreError::Corrupt {
        place: place.to_owned(),
        detail: detail.to_owned(),
    }
}
