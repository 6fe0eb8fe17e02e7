//! Opening a store: locks the directory, reads its format, checks its files, and opens the tables.
//!
//! ```text
//!   <path>/LOCK       locked while the store is open
//!   <path>/FORMAT     the format of the directory
//!   <path>/EXTENT     the length of the last journal when the store was last closed
//!   <path>/data/      the key-value store
//! ```
//!
//! The key-value store deletes what looks like the leftovers of a crash. Damage to acknowledged
//! data can look the same, so it is detected before the key-value store is opened.

use std::fs;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, Mutex};

use everstep_model::{StreamNumber, Term};
use everstep_store::{Clock, StoreError};

use crate::directory::extent::NoteExtent;
use crate::directory::folders;
use crate::directory::format::{self, Mark};
use crate::directory::journals::Journals;
use crate::directory::lock;
use crate::directory::manifest_check;
use crate::directory::permissions;
use crate::directory::presence::Presence;
use crate::encoding::keys;
use crate::encoding::values;
use crate::failure;
use crate::options::Options;
use crate::read::due::Due;
use crate::read::effects::Effects;
use crate::sets::{PAGES_CACHED, PageCache};
use crate::state::cache::HeadCache;
use crate::state::inner::{Inner, Writer};
use crate::state::leases::Leases;
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
    let mut journals = None;
    match mark {
        Mark::Absent => must_be_empty(path, &place)?,
        Mark::Unfinished => remove(&data, &place)?,
        Mark::Older | Mark::Finished => journals = Some(must_be_whole(path, &place)?),
    }
    let io_failed = failure::of_io(&place);
    if mark == Mark::Absent {
        format::write(path, format::CREATING).map_err(&io_failed)?;
    }
    permissions::create_folder(&data).map_err(&io_failed)?;
    permissions::warn_if_open(path);
    let tables = open_tables(&data, options, &place)?;
    if let Some(journals) = journals {
        journals.must_reach(tables.last_flushed(), &place)?;
    }
    if mark == Mark::Older {
        // An older release must refuse a store that is partly upgraded.
        format::write(path, format::UPGRADING).map_err(&io_failed)?;
        upgrade::sets_from_heads(&tables)?;
    }
    if mark != Mark::Finished {
        // Must be durable first, because missing parts of a finished store are damage.
        folders::sync_below(&data)
            .and_then(|()| folders::sync_above(path))
            .and_then(|()| format::write(path, format::FINISHED))
            .map_err(&io_failed)?;
    }
    let (next_stream, term) = next_stream(&tables)?;
    Ok(Inner {
        clock,
        cache: HeadCache::new(options.heads_cached),
        leases: Leases::default(),
        pages: PageCache::new(PAGES_CACHED),
        due: Due::load(&tables)?,
        effects: Effects::load(&tables)?,
        writer: Mutex::new(Writer {
            next_stream,
            term,
            poisoned: None,
            pressure: Pressure::new(&tables, options.memtable_bytes),
        }),
        tables,
        presence: Presence::of(&data).map_err(&io_failed)?,
        extent: NoteExtent(Some(path.to_owned())),
        _lock: lock,
    })
}

pub(crate) fn prepare(path: &Path, place: &str) -> Result<(), StoreError> {
    if path.is_file() {
        return Err(StoreError::Unavailable {
            detail: format!("{place} is a file; name a directory"),
        });
    }
    permissions::create_folder(path).map_err(failure::of_io(place))
}

/// Refuses a directory without `FORMAT` that contains files.
pub(crate) fn must_be_empty(path: &Path, place: &str) -> Result<(), StoreError> {
    let io_failed = failure::of_io(place);
    for entry in fs::read_dir(path).map_err(&io_failed)? {
        let name = entry.map_err(&io_failed)?.file_name();
        if name == "data" || name == "EXTENT" {
            return Err(StoreError::corrupt(place, "its file FORMAT is missing"));
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
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed.map_err(failure::of_io(place)),
    }
}

/// Checks for files that every finished store has, and that the key-value store would silently
/// create anew.
fn must_be_whole(path: &Path, place: &str) -> Result<Journals, StoreError> {
    let data = path.join("data");
    if !data.join("version").is_file() {
        return Err(StoreError::corrupt(place, "data/version is missing"));
    }
    // One folder per table, and one for the list of tables.
    for folder in 0..=tables::NAMES.len() {
        manifest_check::check(&data.join("keyspaces").join(folder.to_string()))?;
    }
    Journals::check(path, &data, place)
}

/// Opens the tables. The key-value store panics on some kinds of damage.
fn open_tables(data: &Path, options: &Options, place: &str) -> Result<Tables, StoreError> {
    let opened = catch_unwind(AssertUnwindSafe(|| Tables::open(data, options, place)));
    let panicked = || StoreError::corrupt(place, "the key-value store cannot open it");
    opened.unwrap_or_else(|_| Err(panicked()))
}

/// Returns the number and the term of the next stream, above those of all existing and removed
/// ones.
fn next_stream(tables: &Tables) -> Result<(StreamNumber, Term), StoreError> {
    let view = View::new(tables);
    let what = "the numbers of removed streams";
    let removed = view.lookup(&keys::REMOVED, what, values::decode_removed)?;
    let (after_removed, term) = removed.unwrap_or((StreamNumber(1), Term(0)));
    let Some(last) = tables.heads.last_key_value() else {
        return Ok((after_removed, term));
    };
    let key = tables.check(last.key())?;
    let last = view.check("the key of a head", keys::stream_of_head(&key))?;
    Ok((last.next().max(after_removed), term))
}
