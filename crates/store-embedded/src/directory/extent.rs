//! The file `EXTENT`: the length of the last journal when the store was last closed cleanly.
//!
//! A journal only grows. If it is intact only up to an earlier byte, acknowledged batches are lost.
//! Without the file, a truncated journal looks like the torn end of a crash. The file is a lower
//! bound: it is never synced, so it may be out of date or missing.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::directory::journal_check::whole;
use crate::directory::permissions;

const FILE: &str = "EXTENT";

/// Writes the file when it is dropped, which happens after the tables and before the lock.
/// `None` after a write to the store has failed.
pub(crate) struct NoteExtent(pub(crate) Option<PathBuf>);

impl Drop for NoteExtent {
    fn drop(&mut self) {
        // Without the file, the check of the next opening is only more lenient.
        let _ = self.0.as_deref().map(note);
    }
}

fn note(directory: &Path) -> io::Result<()> {
    let data = directory.join("data");
    let Some(number) = journals(&data)?.last().copied() else {
        return Ok(());
    };
    let end = whole(&journal(&data, number))?;
    let text = format!("journal {number} whole to byte {end}\n");
    permissions::open_file(&directory.join(FILE), true)?.write_all(text.as_bytes())
}

/// Reads the number of the journal and its length.
pub(crate) fn noted(directory: &Path) -> Option<(u64, u64)> {
    parse(&fs::read_to_string(directory.join(FILE)).ok()?)
}

pub(crate) fn parse(text: &str) -> Option<(u64, u64)> {
    let rest = text.strip_prefix("journal ")?.strip_suffix('\n')?;
    let (number, end) = rest.split_once(" whole to byte ")?;
    Some((number.parse().ok()?, end.parse().ok()?))
}

/// Returns the numbers of the key-value store's journals, oldest first.
pub(crate) fn journals(data: &Path) -> io::Result<Vec<u64>> {
    let mut numbers = Vec::new();
    for entry in fs::read_dir(data)? {
        let name = entry?.file_name();
        if let Some(number) = name.to_str().and_then(|name| name.strip_suffix(".jnl")) {
            let invalid = "the name of a journal is not a number";
            let invalid = |_| io::Error::new(io::ErrorKind::InvalidData, invalid);
            numbers.push(number.parse::<u64>().map_err(invalid)?);
        }
    }
    numbers.sort_unstable();
    Ok(numbers)
}

pub(crate) fn journal(data: &Path, number: u64) -> PathBuf {
    data.join(format!("{number}.jnl"))
}
