//! How far the last journal reached when the store was last closed in order: the file `EXTENT`.
//!
//! A journal only grows. If it is intact only up to an earlier byte, acknowledged batches are lost.
//! Without the file a cut journal looks like the torn end of a crash. The file is never synced and
//! may be old or missing; it is a lower bound, and then a lower one or none.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::directory::journal_check::whole;

const FILE: &str = "EXTENT";

/// Notes the extent when it is dropped: after the tables, and before the lock.
pub(crate) struct NoteExtent {
    directory: PathBuf,
    is_orderly: bool,
}

impl NoteExtent {
    pub(crate) fn new(directory: &Path) -> Self {
        Self {
            directory: directory.to_owned(),
            is_orderly: true,
        }
    }

    /// A write has failed: what is on disk is for the next opening to find out.
    pub(crate) fn disarm(&mut self) {
        self.is_orderly = false;
    }
}

impl Drop for NoteExtent {
    fn drop(&mut self) {
        if self.is_orderly {
            // Without it the next opening is only more lenient, so a failure costs nothing else.
            let _ = note(&self.directory);
        }
    }
}

fn note(directory: &Path) -> io::Result<()> {
    let data = directory.join("data");
    let Some(number) = journals(&data)?.last().copied() else {
        return Ok(());
    };
    let end = whole(&journal(&data, number))?;
    let text = format!("journal {number} whole to byte {end}\n");
    fs::write(directory.join(FILE), text)
}

/// The journal and the byte noted last, if that can be read.
pub(crate) fn noted(directory: &Path) -> Option<(u64, u64)> {
    parse(&fs::read_to_string(directory.join(FILE)).ok()?)
}

/// What a note says.
pub(crate) fn parse(text: &str) -> Option<(u64, u64)> {
    let rest = text.strip_prefix("journal ")?.strip_suffix('\n')?;
    let (number, end) = rest.split_once(" whole to byte ")?;
    Some((number.parse().ok()?, end.parse().ok()?))
}

/// The numbers of the key-value store's journals, oldest first.
pub(crate) fn journals(data: &Path) -> io::Result<Vec<u64>> {
    let mut numbers = Vec::new();
    for entry in fs::read_dir(data)? {
        let name = entry?.file_name();
        if let Some(number) = name.to_str().and_then(|name| name.strip_suffix(".jnl")) {
            let foreign =
                |_| io::Error::new(io::ErrorKind::InvalidData, "a journal has a foreign name");
            numbers.push(number.parse::<u64>().map_err(foreign)?);
        }
    }
    numbers.sort_unstable();
    Ok(numbers)
}

/// The file of a journal.
pub(crate) fn journal(data: &Path, number: u64) -> PathBuf {
    data.join(format!("{number}.jnl"))
}
