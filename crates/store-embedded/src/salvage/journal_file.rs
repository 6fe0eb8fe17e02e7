//! Reads the rows of a journal of the key-value store, also behind damaged batches.

use everstep_store::encoding::In;

use crate::directory::journal_check::{ITEM, START, little_endian, read_batch};
use crate::salvage::row::Row;
use crate::storage::tables;

/// The bytes of a batch before its first item.
const START_BYTES: usize = 13;
const VALUE: u8 = 0;

/// Bytes of a journal that cannot be read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Unread {
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// Whether whole batches follow. A torn write is the last one.
    pub(crate) is_followed: bool,
    /// The keys of rows that can still be recognised, with their tables.
    pub(crate) keys: Vec<(u64, Vec<u8>)>,
}

/// What a journal contains.
#[derive(Debug, Default)]
pub(crate) struct Scanned {
    pub(crate) unread: Vec<Unread>,
    pub(crate) last_seqno: Option<u64>,
}

/// Passes on the rows of all whole batches, with the numbers of their tables. Zeros at the end are
/// unused space.
pub(crate) fn scan(journal: &[u8], mut found: impl FnMut(u64, Row)) -> Scanned {
    let end = journal.iter().rposition(|byte| *byte != 0);
    let journal = journal.get(..end.map_or(0, |end| end + 1));
    let journal = journal.unwrap_or_default();
    let mut scanned = Scanned::default();
    let mut at = 0;
    while let Some(rest) = journal.get(at..).filter(|rest| !rest.is_empty()) {
        let is_next = |seqno| scanned.last_seqno < Some(seqno);
        let batch = whole_batch(rest).filter(|batch| is_next(batch.seqno));
        let Some(batch) = batch else {
            let mut starts = (1..rest.len()).filter(|at| {
                let batch = rest.get(*at..).and_then(whole_batch);
                batch.is_some_and(|batch| is_next(batch.seqno))
            });
            let next = starts.next();
            let length = next.unwrap_or(rest.len());
            scanned.unread.push(Unread {
                from: at,
                to: at + length,
                is_followed: next.is_some(),
                keys: items(rest.get(..length).unwrap_or_default())
                    .map(|item| (item.table, item.key.to_vec()))
                    .collect(),
            });
            at += length;
            continue;
        };
        let bytes = rest.get(..batch.length).unwrap_or_default();
        for Item { table, key, value } in items(bytes) {
            let row = Row {
                key: key.to_vec(),
                seqno: batch.seqno,
                value: value.map(<[u8]>::to_vec),
            };
            found(table, row);
        }
        scanned.last_seqno = Some(batch.seqno);
        at += batch.length;
    }
    scanned
}

struct Whole {
    length: usize,
    seqno: u64,
}

/// Reads the batch at the beginning of the bytes, if it is whole.
fn whole_batch(bytes: &[u8]) -> Option<Whole> {
    // The highest byte of the number of items is zero, which excludes nearly everything else.
    let plausible = matches!(bytes, [START, _, _, _, 0, ..]);
    let mut rest = bytes;
    let batch = plausible.then(|| read_batch(&mut rest, &mut Vec::new()));
    let batch = batch?.ok()??;
    Some(Whole {
        length: bytes.len() - rest.len(),
        seqno: batch.seqno,
    })
}

struct Item<'a> {
    table: u64,
    key: &'a [u8],
    /// `None` if the row is deleted.
    value: Option<&'a [u8]>,
}

/// Returns the items of a batch, up to the first that is not plausible.
fn items(batch: &[u8]) -> impl Iterator<Item = Item<'_>> {
    let mut input = In(batch.get(START_BYTES..).unwrap_or_default());
    std::iter::from_fn(move || item(&mut input))
}

fn item<'a>(input: &mut In<'a>) -> Option<Item<'a>> {
    let is_item = input.byte().ok()? == ITEM;
    let kind = input.byte().ok()?;
    let compression = input.byte().ok()?;
    let mut number = |length| Some(little_endian(input.raw(length).ok()?));
    let (table, key, _, value) = (number(8)?, number(2)?, number(4)?, number(4)?);
    let known = is_item && compression == 0 && table <= tables::NAMES.len() as u64;
    let key = input.raw(usize::try_from(key).ok()?).ok()?;
    let value = input.raw(usize::try_from(value).ok()?).ok()?;
    known.then_some(Item {
        table,
        key,
        value: (kind == VALUE).then_some(value),
    })
}
