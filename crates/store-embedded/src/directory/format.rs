//! The file `FORMAT`, which marks a directory as a store. It is written first and finished last.
//!
//! While the mark says that the store is being created, no commit has been acknowledged, and the
//! store can be created again. A store with a finished mark must be complete.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use everstep_store::StoreError;

use crate::directory::folders;
use crate::directory::permissions;
use crate::failure;

/// The format that this release writes, and the newest that it opens.
pub(crate) const FORMAT: u32 = 5;
/// The oldest format that this release opens. Formats before the current one have other sets of
/// streams; everything else in them is valid.
const OLDEST: u32 = 1;
/// The oldest format whose upgrade is marked as such.
const OLDEST_UPGRADING: u32 = 2;

const FILE: &str = "FORMAT";
const PREFIX: &str = "everstep store, format ";
/// The endings of the line in each state of a store.
pub(crate) const CREATING: &str = ", being created";
pub(crate) const UPGRADING: &str = ", being upgraded";
pub(crate) const FINISHED: &str = "";

/// The content of `FORMAT`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    Absent,
    Unfinished,
    /// The store has an older format, or its upgrade was interrupted: the sets of streams must be
    /// rebuilt.
    Older,
    Finished,
}

pub(crate) fn read(directory: &Path, place: &str) -> Result<Mark, StoreError> {
    let text = match fs::read_to_string(directory.join(FILE)) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Mark::Absent),
        Err(error) => return Err(failure::of_io(place)(error)),
    };
    parse(&text, place)
}

pub(crate) fn parse(text: &str, place: &str) -> Result<Mark, StoreError> {
    let detail = "it does not say that this is an Everstep store";
    let damaged = || StoreError::corrupt(format!("{place}/{FILE}"), detail);
    let line = text.strip_suffix('\n').ok_or_else(damaged)?;
    let version = line.strip_prefix(PREFIX).ok_or_else(damaged)?;
    let unfinished = version.strip_suffix(CREATING);
    let upgrading = version.strip_suffix(UPGRADING);
    match unfinished.or(upgrading).unwrap_or(version).parse::<u32>() {
        Ok(OLDEST..=FORMAT) if unfinished.is_some() => Ok(Mark::Unfinished),
        Ok(OLDEST_UPGRADING..=FORMAT) if upgrading.is_some() => Ok(Mark::Older),
        Ok(FORMAT) => Ok(Mark::Finished),
        Ok(OLDEST..FORMAT) if upgrading.is_none() => Ok(Mark::Older),
        Ok(found) if found > FORMAT => Err(StoreError::Newer {
            place: place.to_owned(),
            found,
            known: FORMAT,
        }),
        _ => Err(damaged()),
    }
}

/// Writes the mark of the current format atomically.
pub(crate) fn write(directory: &Path, ending: &str) -> io::Result<()> {
    let temporary = directory.join("FORMAT.new");
    let mut file = permissions::open_file(&temporary, true)?;
    writeln!(file, "{PREFIX}{FORMAT}{ending}")?;
    file.sync_all()?;
    fs::rename(&temporary, directory.join(FILE))?;
    folders::sync(directory)
}
