//! Opening a store: lock the directory, read its mark, check its files, then open the tables.
//!
//! ```text
//!   <path>/LOCK       held while the store is open
//!   <path>/FORMAT     what this directory is
//!   <path>/EXTENT     how far its journal reached when it was last closed
//!   <path>/data/      the key-value store below
//! ```
//!
//! The key-value store repairs what it takes for the leftovers of a crash by deleting it. What it
//! would delete although it was acknowledged is therefore looked for first.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, Mutex};

use everstep_model::{StreamNumber, Term};
use everstep_store::{Clock, StoreError};

use crate::directory::extent::{self, NoteExtent};
use crate::directory::folders;
use crate::directory::format::{self, Mark};
use crate::directory::journal_check::{self, Role};
use crate::directory::lock;
use crate::directory::manifest_check;
use crate::encoding::keys;
use crate::encoding::values;
use crate::failure;
use crate::options::Options;
use crate::read::due::Due;
use crate::read::effects::Effects;
use crate::sets::KnownPages;
use crate::state::cache::HeadCache;
use crate::state::inner::Inner;
use crate::state::leases::Leases;
use crate::state::writer::Writer;
use crate::storage::pressure::Pressure;
use crate::storage::tables::{self, Tables};
use crate::storage::view::View;
use crate::upgrade;

pub(crate) fn open(
    path: &Path,
    clock: Arc<dyn Clock>,
    options: &Options,
) -> Result<Inner, StoreError> {
    let place = path.display().to_string();
    prepare(path, &place)?;
    let lock = lock::acquire(path, &place)?;
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

/// A directory without a mark becomes a store only if it holds no other files.
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

/// What a finished store always has, and the key-value store would silently replace if it were
/// gone.
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

/// Journals are removed oldest first, so none is missing between two; and the last one reaches at
/// least as far as it did when the store was closed.
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

/// The key-value store asserts where it finds what it never wrote; here that is one more way to say
/// "damaged".
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
