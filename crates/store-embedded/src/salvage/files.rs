//! Reads all rows from the files of a store, whatever state they are in.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use everstep_model::StreamNumber;
use everstep_store::StoreError;

use crate::directory::extent;
use crate::directory::manifest_check;
use crate::encoding::keys;
use crate::failure;
use crate::salvage::journal_file;
use crate::salvage::report::Damage;
use crate::salvage::row::Row;
use crate::salvage::table_file;
use crate::storage::tables;

/// The number of the table of frames.
pub(crate) const JOURNAL: u64 = 1;
pub(crate) const HEADS: u64 = 2;
pub(crate) const LOOKUPS: u64 = 3;
pub(crate) const TIMERS: u64 = 5;

/// The beginning of the file with the format of the key-value store.
const FJALL_VERSION: [u8; 4] = [b'F', b'J', b'L', 3];

/// What is wrong with the files of a store.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    pub(crate) damage: Vec<Damage>,
    /// Streams that may have had further records at their ends.
    pub(crate) cut: BTreeSet<StreamNumber>,
    /// Whether it is unknown which other streams had further records.
    pub(crate) cut_anywhere: bool,
    /// The tables with damage.
    pub(crate) tables: BTreeSet<u64>,
    last_in_journals: Option<u64>,
    last_in_tables: Option<u64>,
}

impl Findings {
    fn add(&mut self, place: &Path, detail: impl Into<String>) {
        self.damage.push(Damage {
            place: place.display().to_string(),
            detail: detail.into(),
        });
    }

    fn cut_at(&mut self, key: &[u8]) {
        self.cut.extend(keys::stream_of_frame(key).ok());
    }
}

/// Passes on every version of every row, with the number of its table, in no particular order.
pub(crate) fn scan(
    directory: &Path,
    mut found: impl FnMut(u64, Row),
) -> Result<Findings, StoreError> {
    let mut findings = Findings::default();
    let data = directory.join("data");
    let version = data.join("version");
    if read(&version)?.is_none_or(|bytes| !bytes.starts_with(&FJALL_VERSION)) {
        findings.add(&version, "the file is missing or has changed");
    }
    for table in 0..=tables::NAMES.len() as u64 {
        scan_table(&data, table, &mut findings, &mut found)?;
    }
    scan_journals(directory, &data, &mut findings, &mut found)?;
    Ok(findings)
}

fn scan_table(
    data: &Path,
    table: u64,
    findings: &mut Findings,
    found: &mut impl FnMut(u64, Row),
) -> Result<(), StoreError> {
    let folder = data.join("keyspaces").join(table.to_string());
    let listed = manifest_check::files(&folder);
    let files = match listed {
        Ok(files) => files,
        // Without the list, files that are no longer used are read too; newer rows replace theirs.
        Err(error) if error.is_damage() => {
            findings.tables.insert(table);
            findings.add(&folder, detail_of(&error));
            numbers_in(&folder.join("tables"))?
        }
        Err(error) => return Err(error),
    };
    for number in files {
        let path = folder.join("tables").join(number.to_string());
        let Some(bytes) = read(&path)? else {
            findings.tables.insert(table);
            findings.cut_anywhere |= table == JOURNAL;
            findings.add(&path, "the file is missing");
            continue;
        };
        scan_file(&path, table, &bytes, findings, found);
    }
    Ok(())
}

fn scan_file(
    path: &Path,
    table: u64,
    bytes: &[u8],
    findings: &mut Findings,
    found: &mut impl FnMut(u64, Row),
) {
    let is_whole = manifest_check::has_whole_end(path).unwrap_or(false);
    let sections = manifest_check::sections(bytes).filter(|_| is_whole);
    if sections.is_none() {
        findings.tables.insert(table);
        findings.add(path, "the end of the file has changed");
    }
    // Other sections have no blocks, or no checksum.
    let has_blocks =
        |name: &[u8]| matches!(name, b"data" | b"tli" | b"index" | b"filter" | b"meta");
    let sections = sections.unwrap_or_else(|| vec![(b"data".as_slice(), 0..bytes.len())]);
    for (name, place) in sections {
        let is_rows = name == b"data";
        let begin = place.start;
        let Some(section) = bytes.get(place).filter(|_| has_blocks(name)) else {
            continue;
        };
        let gaps = table_file::scan(section, |row| {
            if is_rows && table > 0 {
                findings.last_in_tables = findings.last_in_tables.max(Some(row.seqno));
                found(table, row);
            }
        });
        for gap in gaps {
            let (from, to) = (begin + gap.from, begin + gap.to);
            findings.tables.insert(table);
            findings.add(path, format!("the bytes {from} to {to} cannot be read"));
            if table == JOURNAL && is_rows {
                gap.after.iter().for_each(|key| findings.cut_at(key));
                gap.before.iter().for_each(|key| findings.cut_at(key));
            }
        }
    }
}

fn scan_journals(
    directory: &Path,
    data: &Path,
    findings: &mut Findings,
    found: &mut impl FnMut(u64, Row),
) -> Result<(), StoreError> {
    let numbers = extent::journals(data).map_err(failure::of_io(&data.display().to_string()))?;
    if !numbers.is_sorted_by(|a, b| a + 1 == *b) || numbers.is_empty() {
        findings.cut_anywhere = true;
        findings.add(data, "a journal is missing");
    }
    let noted = extent::noted(directory);
    for &number in &numbers {
        let path = extent::journal(data, number);
        let bytes = read(&path)?.unwrap_or_default();
        let is_last = numbers.last() == Some(&number);
        let scanned = journal_file::scan(&bytes, &mut *found);
        findings.last_in_journals = findings.last_in_journals.max(scanned.last_seqno);
        let count = scanned.unread.len();
        for (index, unread) in scanned.unread.into_iter().enumerate() {
            let is_torn = is_last && index + 1 == count && !unread.is_followed;
            let noted = noted.filter(|(noted, _)| *noted == number);
            let was_whole = noted.is_some_and(|(_, end)| end > unread.from as u64);
            if is_torn && !was_whole {
                // The end of a write that was never acknowledged.
                continue;
            }
            findings.cut_anywhere |= unread.keys.is_empty();
            for (_, key) in unread.keys.iter().filter(|(table, _)| *table == JOURNAL) {
                findings.cut_at(key);
            }
            let detail = format!("the bytes {} to {} cannot be read", unread.from, unread.to);
            findings.add(&path, detail);
        }
        if let Some((_, end)) =
            noted.filter(|(noted, end)| *noted == number && *end > bytes.len() as u64)
        {
            findings.cut_anywhere = true;
            findings.add(&path, format!("the file ends before byte {end}"));
        }
    }
    if noted.is_some_and(|(noted, _)| numbers.last().is_none_or(|last| noted > *last)) {
        findings.cut_anywhere = true;
        findings.add(data, "the last journal is missing");
    }
    let is_known = numbers.first() == Some(&0) || findings.last_in_journals.is_some();
    if is_known && findings.last_in_tables > findings.last_in_journals {
        findings.cut_anywhere = true;
        findings.add(
            data,
            "the last journal is shorter than the flushed tables show",
        );
    }
    Ok(())
}

fn numbers_in(folder: &Path) -> Result<Vec<u64>, StoreError> {
    let place = folder.display().to_string();
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(failure::of_io(&place))?,
    };
    let mut numbers = Vec::new();
    for entry in entries {
        let name = entry.map_err(failure::of_io(&place))?.file_name();
        numbers.extend(name.to_str().and_then(|name| name.parse::<u64>().ok()));
    }
    Ok(numbers)
}

/// Reads a file. `None` if it does not exist.
fn read(path: &PathBuf) -> Result<Option<Vec<u8>>, StoreError> {
    match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        bytes => bytes
            .map(Some)
            .map_err(failure::of_io(&path.display().to_string())),
    }
}

fn detail_of(error: &StoreError) -> String {
    match error {
        StoreError::Corrupt { detail, .. } => detail.clone(),
        other => other.to_string(),
    }
}
