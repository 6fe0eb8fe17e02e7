//! Reads stores whose files are damaged.
//!
//! ```text
//!   files ─▶ versions of rows ─▶ newest version of each ─▶ new store ─▶ incomplete streams are taken out
//! ```
//!
//! Damaged parts of files are skipped, so everything else can be read. A stream is complete if its
//! head and all its records are there. The other rows that the store derives from these are derived
//! again.

mod files;
pub(crate) mod journal_file;
mod report;
mod row;
mod streams;
pub(crate) mod table_file;
mod target;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::Path;

use bytes::Bytes;
use everstep_model::{Frame, Interner};
use everstep_store::StoreError;

use crate::directory::format::{self, Mark};
use crate::directory::lock::{self, DirectoryLock};
use crate::encoding::{keys, values};
pub use report::{CheckReport, Damage, LostStream, SalvageReport};
use row::Row;
use target::Target;

/// Looks for damage in the store in a directory, which must not be open. Changes nothing.
///
/// # Errors
/// If the directory is not a store of this release, is open, or cannot be read.
pub fn check(path: impl AsRef<Path>) -> Result<CheckReport, StoreError> {
    let path = path.as_ref();
    let mut source = Source::open(path)?;
    let mut newest = Newest::default();
    let mut undecodable = Vec::new();
    let findings = files::scan(path, |table, row| {
        undecodable.extend(problem(table, &row).map(|detail| Damage {
            place: path.display().to_string(),
            detail,
        }));
        if table == files::HEADS {
            newest.add(table, &row);
        }
    })?;
    source.damage.extend(findings.damage);
    source.damage.extend(undecodable);
    Ok(CheckReport {
        damage: source.damage,
        streams: newest.existing(),
    })
}

/// Copies everything that can be read from the store in one directory into a new store in another
/// one. The old one must not be open, and is not changed.
///
/// # Errors
/// If the old directory is not a store of this release, or is open; if the new one is not empty; or
/// if a file cannot be read or written.
pub fn salvage(from: impl AsRef<Path>, to: impl AsRef<Path>) -> Result<SalvageReport, StoreError> {
    let (from, to) = (from.as_ref(), to.as_ref());
    let source = Source::open(from)?;
    let mut newest = Newest::default();
    let findings = files::scan(from, |table, row| newest.add(table, &row))?;
    let mut target = Target::create(to)?;
    let mut written = Ok(());
    files::scan(from, |table, row| {
        if written.is_ok() && newest.take(table, &row) {
            written = target.put(table, row);
        }
    })?;
    written?;
    let mut report = target.settle(&findings)?;
    target.finish()?;
    report.damage = source.damage;
    report.damage.extend(findings.damage);
    report.others_may_be_cut = findings.cut_anywhere;
    let rows = [files::LOOKUPS, files::TIMERS];
    report.rows_may_be_missing = findings.cut_anywhere
        || rows.iter().any(|table| findings.tables.contains(table))
        || !report.cut.is_empty();
    Ok(report)
}

/// A store that is read file by file.
struct Source {
    damage: Vec<Damage>,
    _lock: DirectoryLock,
}

impl Source {
    fn open(path: &Path) -> Result<Self, StoreError> {
        let place = path.display().to_string();
        if !path.join("data").is_dir() {
            return Err(StoreError::Unavailable {
                detail: format!("{place} is not a store; name the directory of one"),
            });
        }
        let lock = lock::acquire(path, &place)?;
        let damage = |detail: String| {
            vec![Damage {
                place: place.clone(),
                detail,
            }]
        };
        let damage = match format::read(path, &place) {
            Ok(Mark::Finished | Mark::Older) => Vec::new(),
            Ok(Mark::Absent) => damage("its file FORMAT is missing".to_owned()),
            Ok(Mark::Unfinished) => damage("its creation was not finished".to_owned()),
            Err(StoreError::Corrupt { detail, .. }) => {
                damage(format!("its file FORMAT has changed: {detail}"))
            }
            Err(error) => return Err(error),
        };
        Ok(Self {
            damage,
            _lock: lock,
        })
    }
}

/// The newest version of each row: its number, and whether the row exists.
#[derive(Default)]
struct Newest(HashMap<(u64, Vec<u8>), (u64, bool)>);

impl Newest {
    fn add(&mut self, table: u64, row: &Row) {
        let version = (row.seqno, row.value.is_some());
        match self.0.entry((table, row.key.clone())) {
            Entry::Occupied(mut newest) if newest.get().0 < row.seqno => {
                newest.insert(version);
            }
            Entry::Occupied(_) => {}
            Entry::Vacant(new) => {
                new.insert(version);
            }
        }
    }

    /// Returns whether this is the newest version of a row, on the first call for this row.
    fn take(&mut self, table: u64, row: &Row) -> bool {
        match self.0.entry((table, row.key.clone())) {
            Entry::Occupied(newest) if newest.get().0 == row.seqno => newest.remove().1,
            Entry::Occupied(_) | Entry::Vacant(_) => false,
        }
    }

    fn existing(&self) -> u64 {
        self.0.values().filter(|(_, exists)| *exists).count() as u64
    }
}

/// Returns why a head or a frame cannot be decoded.
fn problem(table: u64, row: &Row) -> Option<String> {
    let value = row.value.as_deref()?;
    match table {
        files::HEADS => {
            let number = keys::stream_of_head(&row.key).ok()?;
            let decoded = values::decode_head(number, value);
            decoded
                .is_err()
                .then(|| format!("the head of stream {number} cannot be decoded"))
        }
        files::JOURNAL => {
            let (stream, first) = (
                keys::stream_of_frame(&row.key).ok()?,
                keys::first_of_frame(&row.key).ok()?,
            );
            let frame = Bytes::copy_from_slice(value);
            let decoded = Frame::decode_entries(&frame, first, &mut Interner::default());
            let error = decoded.err()?;
            Some(format!(
                "a frame of stream {stream} cannot be decoded: {error}"
            ))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
