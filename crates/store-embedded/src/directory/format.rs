//! The mark that says what a directory is: the file `FORMAT`, written first and finished last.
//!
//! While it says that the store is being created, nothing in the directory was ever acknowledged,
//! and creation may begin again. Once it is finished, everything it promises must be there.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use everstep_store::StoreError;

use crate::directory::folders;
use crate::failure;

/// The directory layout this release writes, and the newest it opens.
pub(crate) const FORMAT: u32 = 3;
/// Has no shared rows and no gates. Everything else is as in [`FORMAT`].
const WITHOUT_SHARED_ROWS: u32 = 2;
/// Has one row for each member of a set of streams instead of pages.
const WITHOUT_PAGES: u32 = 1;

const FILE: &str = "FORMAT";
const PREFIX: &str = "everstep store, format ";
const UNFINISHED: &str = ", being created";
const UPGRADING: &str = ", being upgraded";

/// What a directory says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    Absent,
    Unfinished,
    /// Finished in an older layout, or interrupted while it was upgraded from one.
    Older {
        /// Whether the sets of streams must be written again.
        sets: bool,
    },
    Finished,
}

pub(crate) fn read(directory: &Path, place: &str) -> Result<Mark, StoreError> {
    let text = match fs::read_to_string(directory.join(FILE)) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Mark::Absent),
        Err(error) => return Err(failure::of_io(place, &error)),
    };
    parse(&text, place)
}

/// What a mark says.
pub(crate) fn parse(text: &str, place: &str) -> Result<Mark, StoreError> {
    let damaged = || StoreError::Corrupt {
        place: format!("{place}/{FILE}"),
        detail: "it does not say that this is an Everstep store".to_owned(),
    };
    let line = text.strip_suffix('\n').ok_or_else(damaged)?;
    let version = line.strip_prefix(PREFIX).ok_or_else(damaged)?;
    let unfinished = version.strip_suffix(UNFINISHED);
    let upgrading = version.strip_suffix(UPGRADING);
    match unfinished.or(upgrading).unwrap_or(version).parse::<u32>() {
        Ok(WITHOUT_PAGES..=FORMAT) if unfinished.is_some() => Ok(Mark::Unfinished),
        Ok(WITHOUT_SHARED_ROWS | FORMAT) if upgrading.is_some() => Ok(Mark::Older { sets: true }),
        Ok(WITHOUT_PAGES) if upgrading.is_none() => Ok(Mark::Older { sets: true }),
        Ok(WITHOUT_SHARED_ROWS) => Ok(Mark::Older { sets: false }),
        Ok(FORMAT) => Ok(Mark::Finished),
        Ok(found) if found > FORMAT => Err(StoreError::Newer {
            place: place.to_owned(),
            found,
            known: FORMAT,
        }),
        _ => Err(damaged()),
    }
}

/// Says that the store is being created.
pub(crate) fn begin(directory: &Path) -> io::Result<()> {
    write(directory, UNFINISHED)
}

/// Says that what was there is being written as this release does it.
pub(crate) fn begin_upgrade(directory: &Path) -> io::Result<()> {
    write(directory, UPGRADING)
}

/// Says that everything is there, as this release writes it.
pub(crate) fn finish(directory: &Path) -> io::Result<()> {
    write(directory, "")
}

/// Writes the mark so that it is there wholly or not at all.
fn write(directory: &Path, ending: &str) -> io::Result<()> {
    let temporary = directory.join("FORMAT.new");
    let mut file = File::create(&temporary)?;
    writeln!(file, "{PREFIX}{FORMAT}{ending}")?;
    file.sync_all()?;
    fs::rename(&temporary, directory.join(FILE))?;
    folders::sync(directory)
}
