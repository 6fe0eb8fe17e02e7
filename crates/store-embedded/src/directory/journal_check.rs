//! Checks a journal of the key-value store before it is opened.
//!
//! The key-value store treats the first batch that it cannot read as a torn write and truncates the
//! file there. That is right for the last batch, which was never acknowledged; anywhere else it
//! would silently discard acknowledged batches. A batch is written only after the previous one was
//! synced, so an unreadable batch that a complete one follows is damage and not a torn write.
//!
//! ```text
//!   batch = start (1, items u32, seqno u64), items, end (3, checksum u64, "FJL" 3)      numbers little-endian
//!   item  = 2, kind u8, compression u8, keyspace u64, key length u16, value length u32, stored length u32, key, value
//!         | 4, keyspace u64
//! ```

use std::fs::{self, File};
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use everstep_store::StoreError;
use xxhash_rust::xxh3::Xxh3;

use crate::directory::unused;
use crate::failure;

pub(crate) const START: u8 = 1;
pub(crate) const ITEM: u8 = 2;
const END: u8 = 3;
const CLEAR: u8 = 4;
const TRAILER: [u8; 4] = [b'F', b'J', b'L', 3];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// The last journal. It may end in a batch that was never acknowledged, but not before byte
    /// `whole_to`.
    Active { whole_to: u64 },
    /// A journal that was finished before the next one was started.
    Sealed,
}

/// Refuses a damaged journal. Removes the torn end of an active one. Returns the sequence number of
/// the last batch.
pub(crate) fn check(path: &Path, role: Role) -> Result<Option<u64>, StoreError> {
    let place = path.display().to_string();
    let found = scan(path).map_err(failure::of_io(&place))?;
    let may_be_torn = match role {
        Role::Active { whole_to } => found.whole.length >= whole_to,
        Role::Sealed => found.unread.is_none(),
    };
    let batches = found.unread.as_deref().is_some_and(holds_a_batch);
    if !may_be_torn || batches {
        let detail = format!("the batch at byte {} cannot be read", found.whole.length);
        return Err(StoreError::corrupt(place, detail));
    }
    if found.unread.is_some() {
        truncate(path, found.whole.length).map_err(failure::of_io(&place))?;
    }
    Ok(found.whole.last_seqno)
}

/// Returns the end of a journal's last whole batch.
pub(crate) fn whole(path: &Path) -> io::Result<u64> {
    scan(path).map(|found| found.whole.length)
}

/// The content of a journal.
struct Found {
    whole: WholeBatches,
    /// The bytes after that, unless they are unused space.
    unread: Option<Vec<u8>>,
}

fn scan(path: &Path) -> io::Result<Found> {
    let mut reader = BufReader::with_capacity(1 << 16, File::open(path)?);
    let whole = whole_batches(&mut reader)?;
    let mut file = reader.into_inner();
    let unread = match unused::end_of_use(&mut file, whole.length)? {
        Some(end) => Some(part(&mut file, whole.length, end)?),
        None => None,
    };
    Ok(Found { whole, unread })
}

fn part(file: &mut File, start: u64, end: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(start))?;
    file.take(end - start).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The whole batches at the beginning of a journal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct WholeBatches {
    pub(crate) length: u64,
    pub(crate) last_seqno: Option<u64>,
}

pub(crate) fn whole_batches(reader: &mut impl Read) -> io::Result<WholeBatches> {
    let mut scratch = Vec::new();
    let mut whole = WholeBatches::default();
    while let Some(batch) = read_batch(reader, &mut scratch)? {
        // The checksum does not cover the sequence number, but it always increases.
        if whole.last_seqno >= Some(batch.seqno) {
            break;
        }
        whole.length += batch.length;
        whole.last_seqno = Some(batch.seqno);
    }
    Ok(whole)
}

pub(crate) struct Batch {
    length: u64,
    pub(crate) seqno: u64,
}

/// Reads one batch. Returns `None` if there is no whole one.
pub(crate) fn read_batch(
    reader: &mut impl Read,
    scratch: &mut Vec<u8>,
) -> io::Result<Option<Batch>> {
    match try_batch(reader, scratch) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        result => result,
    }
}

fn try_batch(reader: &mut impl Read, scratch: &mut Vec<u8>) -> io::Result<Option<Batch>> {
    let [START, start @ ..] = take::<13>(reader)? else {
        return Ok(None);
    };
    let (count, seqno) = (number(&start, 0, 4), number(&start, 4, 8));
    let mut length = 13;
    let mut hasher = Xxh3::default();
    for _ in 0..count {
        let [tag] = take::<1>(reader)?;
        hasher.update(&[tag]);
        let body = match tag {
            CLEAR => 8,
            ITEM => {
                let head = take::<20>(reader)?;
                hasher.update(&head);
                length += 20;
                number(&head, 10, 2) + number(&head, 16, 4)
            }
            _ => return Ok(None),
        };
        scratch.clear();
        if reader.by_ref().take(body).read_to_end(scratch)? as u64 != body {
            return Ok(None);
        }
        hasher.update(scratch);
        length += 1 + body;
    }
    let [END, end @ ..] = take::<13>(reader)? else {
        return Ok(None);
    };
    let is_whole = number(&end, 0, 8) == hasher.digest() && end.ends_with(&TRAILER);
    length += 13;
    Ok(is_whole.then_some(Batch { length, seqno }))
}

fn take<const N: usize>(reader: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    reader.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn number(bytes: &[u8], start: usize, length: usize) -> u64 {
    little_endian(bytes.get(start..start + length).unwrap_or_default())
}

pub(crate) fn little_endian(bytes: &[u8]) -> u64 {
    let bytes = bytes.iter().rev();
    bytes.fold(0, |number, byte| (number << 8) | u64::from(*byte))
}

/// Returns whether a whole batch begins anywhere in the bytes. Payloads cannot look like one,
/// because they are JSON.
pub(crate) fn holds_a_batch(rest: &[u8]) -> bool {
    let mut scratch = Vec::new();
    let mut starts = (0..rest.len()).filter_map(|at| rest.get(at..));
    starts.any(|mut from| {
        // The highest byte of the number of items is zero, which excludes nearly everything else.
        let plausible = matches!(from, [START, _, _, _, 0, ..]);
        plausible && matches!(read_batch(&mut from, &mut scratch), Ok(Some(_)))
    })
}

fn truncate(path: &Path, length: u64) -> io::Result<()> {
    let file = fs::OpenOptions::new().write(true).open(path)?;
    file.set_len(length)?;
    file.sync_all()
}

#[cfg(test)]
mod tests;
