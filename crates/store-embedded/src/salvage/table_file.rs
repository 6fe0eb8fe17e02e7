//! Reads the rows of a file of a table without the key-value store, which refuses a file as a
//! whole.
//!
//! ```text
//!   file  = blocks of rows, other blocks, list of sections, end      (see `manifest_check`)
//!   block = "LSM" 3, kind u8, checksum u128, stored length u32, length u32, checksum of this head u32, bytes
//!   bytes of rows = rows, index, restart interval u8, 26 bytes, number of rows u32      numbers little-endian
//!   row   = kind u8, seqno varint, key, value?         key = length, bytes; or shared length, length, bytes
//! ```
//!
//! The key of a row at a restart is complete. The others share a prefix with the last one that is.

use everstep_store::encoding::{Damaged, In};
use xxhash_rust::xxh3::xxh3_128;

use crate::directory::journal_check::little_endian;
use crate::salvage::row::Row;

const MAGIC: [u8; 4] = [b'L', b'S', b'M', 3];
const HEAD_BYTES: usize = 33;
/// The head without its own checksum.
const HEAD_CHECKED: usize = 29;
const TRAILER_BYTES: usize = 31;
const ROWS: u8 = 0;
const VALUE: u8 = 0;
const TOMBSTONES: std::ops::RangeInclusive<u8> = 1..=2;

/// Bytes of a file that cannot be read, and the keys around them.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Gap {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) after: Option<Vec<u8>>,
    pub(crate) before: Option<Vec<u8>>,
}

/// Reads the blocks of a section, or of a whole file whose list of sections is damaged. Passes on
/// the rows, and returns the parts that cannot be read.
pub(crate) fn scan(section: &[u8], mut found: impl FnMut(Row)) -> Vec<Gap> {
    let mut gaps: Vec<Gap> = Vec::new();
    let (mut at, mut last_key) = (0, None);
    while let Some(rest) = section.get(at..).filter(|rest| !rest.is_empty()) {
        let head = Head::of(rest);
        let length = head.as_ref().map_or_else(|| to_next(rest), Head::length);
        let rows = head.and_then(|head| head.rows(rest));
        let Some(rows) = rows else {
            gaps.push(Gap {
                from: at,
                to: (at + length).min(section.len()),
                after: last_key.clone(),
                before: None,
            });
            at += length;
            continue;
        };
        for row in rows {
            for gap in gaps.iter_mut().rev().take_while(|gap| gap.before.is_none()) {
                gap.before = Some(row.key.clone());
            }
            last_key = Some(row.key.clone());
            found(row);
        }
        at += length;
    }
    gaps
}

/// Returns the distance to the next block, or to the end.
fn to_next(rest: &[u8]) -> usize {
    let mut starts = (1..rest.len()).filter(|at| rest.get(*at..).is_some_and(is_head));
    starts.next().unwrap_or(rest.len())
}

fn is_head(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC) && Head::of(bytes).is_some()
}

struct Head {
    kind: u8,
    checksum: u128,
    stored: usize,
    length: usize,
}

impl Head {
    fn of(block: &[u8]) -> Option<Self> {
        let checked = block.get(..HEAD_CHECKED)?;
        let (magic, fields) = checked.split_first_chunk::<4>()?;
        let (kind, fields) = fields.split_first()?;
        let (checksum, lengths) = fields.split_first_chunk::<16>()?;
        let (stored, length) = lengths.split_at_checked(4)?;
        let own = little_endian(block.get(HEAD_CHECKED..HEAD_BYTES)?);
        let is_whole = *magic == MAGIC && xxh3_128(checked) & 0xffff_ffff == u128::from(own);
        is_whole.then_some(Self {
            kind: *kind,
            checksum: u128::from_le_bytes(*checksum),
            stored: usize::try_from(little_endian(stored)).ok()?,
            length: usize::try_from(little_endian(length)).ok()?,
        })
    }

    fn length(&self) -> usize {
        HEAD_BYTES.saturating_add(self.stored)
    }

    /// Returns the rows of the block; none if it has another kind. `None` if it is damaged.
    fn rows(&self, block: &[u8]) -> Option<Vec<Row>> {
        let stored = block.get(HEAD_BYTES..self.length())?;
        if xxh3_128(stored) != self.checksum {
            return None;
        }
        if self.kind != ROWS {
            return Some(Vec::new());
        }
        // The list of sections says how a file is compressed, but it may be damaged.
        let plain = (self.stored == self.length).then(|| rows_of(stored).ok());
        plain.flatten().or_else(|| {
            let bytes = lz4_flex::block::decompress(stored, self.length).ok()?;
            rows_of(&bytes).ok()
        })
    }
}

fn rows_of(bytes: &[u8]) -> Result<Vec<Row>, Damaged> {
    let short = Damaged("a block ends too early");
    let end = bytes.len().checked_sub(TRAILER_BYTES);
    let (mut input, trailer) = end
        .and_then(|end| bytes.split_at_checked(end))
        .map(|(rows, trailer)| (In(rows), trailer))
        .ok_or(short)?;
    let (interval, count) = trailer
        .split_first()
        .zip(trailer.last_chunk::<4>())
        .map(|((interval, _), count)| (u32::from(*interval).max(1), u32::from_le_bytes(*count)))
        .ok_or(Damaged("a block ends too early"))?;
    let mut rows = Vec::new();
    let mut restart = Vec::new();
    for index in 0..count {
        let kind = input.byte()?;
        let seqno = input.varint()?;
        let is_restart = index % interval == 0;
        let mut key = match is_restart {
            true => Vec::new(),
            false => {
                let shared = restart.get(..length(&mut input)?);
                let shared: &[u8] = shared.ok_or(Damaged("a prefix is longer than its key"))?;
                shared.to_vec()
            }
        };
        let own = length(&mut input)?;
        key.extend_from_slice(input.raw(own)?);
        if is_restart {
            restart.clone_from(&key);
        }
        let value = match kind {
            VALUE => {
                let length = length(&mut input)?;
                Some(input.raw(length)?.to_vec())
            }
            kind if TOMBSTONES.contains(&kind) => None,
            _ => return Err(Damaged("a row has an unknown kind")),
        };
        rows.push(Row { key, seqno, value });
    }
    Ok(rows)
}

fn length(input: &mut In<'_>) -> Result<usize, Damaged> {
    usize::try_from(input.varint()?).map_err(|_| Damaged("a length is too large"))
}
