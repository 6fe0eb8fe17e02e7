//! Checks the manifests of the key-value store before it is opened.
//!
//! A manifest lists the files of one table. The key-value store deletes files that are not listed,
//! as leftovers of a crash. The checksum of the manifest is in the file `current` beside it, and
//! only this check verifies it.
//!
//! ```text
//!   current = manifest number u64, xxh3 checksum of the file v<number> u128, 0      numbers little-endian
//! ```
//!
//! The files themselves have checksums, which are verified when they are read, with one exception:
//! the list of sections at their end is read before it is verified, and a wrong count in it leads
//! to an allocation of any size.
//!
//! ```text
//!   end of a file = sections, "SFA!", 1, 0, xxh3 checksum of the sections u128, where they begin u64, their length u64
//! ```

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;

use everstep_store::StoreError;
use xxhash_rust::xxh3::xxh3_128;

use crate::directory::journal_check::little_endian;
use crate::failure;

const TRAILER_BYTES: u64 = 38;

/// Refuses a table whose manifest is missing or damaged, or a file of it.
pub(crate) fn check(table: &Path) -> Result<(), StoreError> {
    let place = table.display().to_string();
    let corrupt = |detail: &str| StoreError::corrupt(&place, detail);
    for number in files(table)? {
        let file = table.join("tables").join(number.to_string());
        let whole = has_whole_end(&file).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => corrupt(&format!("its file {number} is missing")),
            _ => failure::of_io(&place)(error),
        })?;
        if !whole {
            return Err(corrupt(&format!(
                "the end of its file {number} has changed"
            )));
        }
    }
    Ok(())
}

/// Returns the numbers of the files of a table, from its manifest.
pub(crate) fn files(table: &Path) -> Result<Vec<u64>, StoreError> {
    let place = table.display().to_string();
    let corrupt = |detail: &str| StoreError::corrupt(&place, detail);
    let read = |name: &str| match fs::read(table.join(name)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(corrupt(&format!("its file {name} is missing")))
        }
        other => other.map_err(failure::of_io(&place)),
    };
    let current = read("current")?;
    let Some((number, checksum)) = parse(&current) else {
        return Err(corrupt("its file current has another length"));
    };
    let manifest = read(&format!("v{number}"))?;
    if xxh3_128(&manifest) != checksum {
        return Err(corrupt("its list of files has changed"));
    }
    listed_files(&manifest).ok_or_else(|| corrupt("its list of files cannot be read"))
}

/// Returns the numbers of the files that a manifest lists. Other files are leftovers of a crash
/// with arbitrary content.
pub(crate) fn listed_files(manifest: &[u8]) -> Option<Vec<u64>> {
    let sections = sections(manifest)?;
    let tables = sections.into_iter().find(|(name, _)| *name == b"tables")?;
    listed_in(Bytes(manifest.get(tables.1)?))
}

/// Returns the names and places of the sections of a file, without verifying the list of them.
pub(crate) fn sections(file: &[u8]) -> Option<Vec<(&[u8], Range<usize>)>> {
    let trailer = file
        .len()
        .checked_sub(usize::try_from(TRAILER_BYTES).ok()?)?;
    let (_, begin) = parse_trailer(file.get(trailer..)?)?;
    let mut list = Bytes(file.get(usize::try_from(begin).ok()?..)?);
    list.take(4)?;
    let count = list.number(4)?;
    let mut sections = Vec::new();
    for _ in 0..count {
        let (at, length) = (list.number(8)?, list.number(8)?);
        let (at, length) = (usize::try_from(at).ok()?, usize::try_from(length).ok()?);
        let name_length = usize::try_from(list.number(2)?).ok()?;
        sections.push((list.take(name_length)?, at..at.checked_add(length)?));
    }
    Some(sections)
}

/// Reads levels of runs of files. A file is its number u64, kind of checksum u8, checksum u128 and
/// sequence number u64.
fn listed_in(mut section: Bytes<'_>) -> Option<Vec<u64>> {
    let mut files = Vec::new();
    for _ in 0..section.number(1)? {
        for _ in 0..section.number(1)? {
            for _ in 0..section.number(4)? {
                files.push(section.number(8)?);
                section.take(1 + 16 + 8)?;
            }
        }
    }
    Some(files)
}

/// A reader of the remaining bytes.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self, length: usize) -> Option<u64> {
        self.take(length).map(little_endian)
    }
}

pub(crate) fn has_whole_end(path: &Path) -> io::Result<bool> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    let Some(end) = length.checked_sub(TRAILER_BYTES) else {
        return Ok(false);
    };
    file.seek(SeekFrom::Start(end))?;
    let mut trailer = Vec::new();
    file.read_to_end(&mut trailer)?;
    let Some((checksum, begin)) = parse_trailer(&trailer).filter(|(_, begin)| *begin <= end) else {
        return Ok(false);
    };
    let mut sections = Vec::new();
    file.seek(SeekFrom::Start(begin))?;
    file.take(end - begin).read_to_end(&mut sections)?;
    Ok(xxh3_128(&sections) == checksum)
}

fn parse_trailer(trailer: &[u8]) -> Option<(u128, u64)> {
    let (magic, rest) = trailer.split_first_chunk::<6>()?;
    let (checksum, rest) = rest.split_first_chunk::<16>()?;
    let (begin, _) = rest.split_first_chunk::<8>()?;
    let parsed = (u128::from_le_bytes(*checksum), u64::from_le_bytes(*begin));
    (magic == b"SFA!\x01\x00").then_some(parsed)
}

pub(crate) fn parse(current: &[u8]) -> Option<(u64, u128)> {
    let (number, rest) = current.split_first_chunk::<8>()?;
    let (checksum, rest) = rest.split_first_chunk::<16>()?;
    let parsed = (u64::from_le_bytes(*number), u128::from_le_bytes(*checksum));
    (rest == [0]).then_some(parsed)
}
