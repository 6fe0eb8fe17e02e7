//! A snapshot of the tables. Readers use it, and commits are judged against it.

use std::ops::RangeInclusive;

use bytes::Bytes;
use everstep_model::{DecodeError, Frame, RecordNumber, StreamNumber};
use everstep_store::{Head, Row, RowKey, StoreError};
use fjall::{Iter, Readable, Snapshot, UserValue};

use crate::encoding::holes::Holes;
use crate::encoding::keys;
use crate::encoding::stored_frame::StoredFrame;
use crate::encoding::values::{self, Unreadable};
use crate::failure;
use crate::storage::tables::Tables;

pub(crate) struct View<'a> {
    pub(crate) tables: &'a Tables,
    pub(crate) snapshot: Snapshot,
}

impl<'a> View<'a> {
    /// Takes a snapshot of everything that is durable now.
    pub(crate) fn new(tables: &'a Tables) -> Self {
        Self {
            tables,
            snapshot: tables.db.snapshot(),
        }
    }

    pub(crate) fn number(&self, name: &str) -> Result<Option<StreamNumber>, StoreError> {
        let number = self.lookup(&keys::name(name), "a stream's name", values::decode_number)?;
        Ok(number.map(StreamNumber))
    }

    /// Returns a decoded value of the table of lookups. Errors mention `what`.
    pub(crate) fn lookup<T>(
        &self,
        key: &[u8],
        what: &str,
        decode: impl FnOnce(&[u8]) -> Result<T, Unreadable>,
    ) -> Result<Option<T>, StoreError> {
        let value = self.snapshot.get(&self.tables.lookups, key);
        let value: Option<UserValue> = self.tables.check(value)?;
        let decoded = value.map(|bytes| self.check(what, decode(&bytes)));
        decoded.transpose()
    }

    pub(crate) fn holes(&self, stream: StreamNumber) -> Result<Holes, StoreError> {
        let holes = self.lookup(
            &keys::holes(stream),
            "the gaps of a stream",
            values::decode_holes,
        );
        holes.map(Option::unwrap_or_default)
    }

    /// Returns the keys of the table of lookups with this prefix.
    pub(crate) fn lookup_keys(&self, prefix: &[u8]) -> Result<Vec<Vec<u8>>, StoreError> {
        let found = self.snapshot.prefix(&self.tables.lookups, prefix);
        let keys = found.map(|row| row.key().map(|key| key.to_vec()));
        self.tables.check(keys.collect())
    }

    pub(crate) fn row(&self, key: &RowKey) -> Result<Option<Row>, StoreError> {
        if let RowKey::Timer(timer) = key {
            let (key, _) = keys::timer(timer);
            let found = self.snapshot.contains_key(&self.tables.timers, key);
            let found = self.tables.check(found)?;
            return Ok(found.then(|| Row::Timer(timer.clone())));
        }
        let lookup = keys::lookup(key).unwrap_or_default();
        self.lookup(&lookup, "a row", |bytes| values::decode_row(key, bytes))
    }

    /// Returns the stored head without reading the journal. Its counts may be out of date, which
    /// does not matter to lists.
    pub(crate) fn head_row(&self, number: StreamNumber) -> Result<Option<Head>, StoreError> {
        let value = self.snapshot.get(&self.tables.heads, keys::stream(number));
        let Some(bytes) = self.tables.check(value)? else {
            return Ok(None);
        };
        let head = values::decode_head(number, &bytes);
        let head =
            head.map_err(|error| self.unreadable(&format!("the head of stream {number}"), error));
        head.map(Some)
    }

    /// Returns the head. A frame that begins where the stored head ends, or later, is newer and has
    /// the current counts.
    pub(crate) fn head(&self, number: StreamNumber) -> Result<Option<Head>, StoreError> {
        let Some(mut head) = self.head_row(number)? else {
            return Ok(None);
        };
        if let Some(last) = self.last_frame(number, head.next..=RecordNumber(u64::MAX))? {
            let summary = Frame::decode_summary(&last.bytes);
            let (header, count) = summary.map_err(|error| self.bad_frame(number, &error))?;
            head.frame = header;
            head.next = RecordNumber(last.first.0.saturating_add(count));
        }
        Ok(Some(head))
    }

    /// Returns the last frame that begins within the range.
    pub(crate) fn last_frame(
        &self,
        number: StreamNumber,
        range: RangeInclusive<RecordNumber>,
    ) -> Result<Option<StoredFrame>, StoreError> {
        let last = self.frame_rows(number, range).next_back();
        last.map(|row| self.frame(row)).transpose()
    }

    /// Returns the frames that begin within the range, in order.
    pub(crate) fn frames(
        &self,
        number: StreamNumber,
        range: RangeInclusive<RecordNumber>,
    ) -> impl Iterator<Item = Result<StoredFrame, StoreError>> {
        // The key-value store panics on a range that ends before it begins.
        let rows = (!range.is_empty()).then(|| self.frame_rows(number, range));
        rows.into_iter().flatten().map(|row| self.frame(row))
    }

    /// Returns the first records of all frames of a stream, without reading the frames.
    pub(crate) fn frame_numbers(
        &self,
        number: StreamNumber,
    ) -> Result<Vec<RecordNumber>, StoreError> {
        let rows = self.frame_rows(number, RecordNumber(0)..=RecordNumber(u64::MAX));
        let numbers = rows.map(|row| {
            let key = self.tables.check(row.key())?;
            self.check("a frame's key", keys::first_of_frame(&key))
        });
        numbers.collect()
    }

    fn frame_rows(&self, number: StreamNumber, range: RangeInclusive<RecordNumber>) -> Iter {
        let keys = keys::frame(number, *range.start())..=keys::frame(number, *range.end());
        self.snapshot.range(&self.tables.journal, keys)
    }

    fn frame(&self, row: fjall::Guard) -> Result<StoredFrame, StoreError> {
        let (key, value) = self.tables.check(row.into_inner())?;
        Ok(StoredFrame {
            first: self.check("a frame's key", keys::first_of_frame(&key))?,
            bytes: Bytes::copy_from_slice(&value),
        })
    }

    /// Converts the error of a decoder.
    pub(crate) fn check<T>(
        &self,
        what: &str,
        decoded: Result<T, impl Into<Unreadable>>,
    ) -> Result<T, StoreError> {
        decoded.map_err(|error| self.unreadable(what, error))
    }

    pub(crate) fn unreadable(&self, what: &str, error: impl Into<Unreadable>) -> StoreError {
        let place = format!("{} ({what})", self.tables.place);
        error.into().in_place(place)
    }

    pub(crate) fn bad_frame(&self, number: StreamNumber, error: &DecodeError) -> StoreError {
        let what = format!("the journal of stream {number}");
        failure::of_frame(&self.tables.place, &what, error)
    }
}
