//! A snapshot of the tables. Readers use it, and commits are judged against it.

use bytes::Bytes;
use everstep_model::{Frame, RecordNumber, StreamNumber};
use everstep_store::{Head, Row, RowKey, StoreError};
use fjall::{Readable, Snapshot, UserValue};

use crate::encoding::holes::Holes;
use crate::encoding::keys;
use crate::encoding::stored_frame::StoredFrame;
use crate::encoding::values::{self, Unreadable};
use crate::failure;
use crate::storage::tables::Tables;
use everstep_store::encoding::Damaged;

pub(crate) struct View<'a> {
    pub(crate) tables: &'a Tables,
    pub(crate) snapshot: Snapshot,
}

impl<'a> View<'a> {
    /// Everything that is durable now.
    pub(crate) fn new(tables: &'a Tables) -> Self {
        Self {
            tables,
            snapshot: tables.db.snapshot(),
        }
    }

    pub(crate) fn number(&self, name: &str) -> Result<Option<StreamNumber>, StoreError> {
        let value = self.lookup(&keys::name(name))?;
        let number = value.map(|bytes| values::decode_number(&bytes)).transpose();
        let number = number.map_err(|error| self.unreadable("a stream's name", error))?;
        Ok(number.map(StreamNumber))
    }

    /// A value of the table of lookups.
    pub(crate) fn lookup(&self, key: &[u8]) -> Result<Option<UserValue>, StoreError> {
        let value = self.snapshot.get(&self.tables.lookups, key);
        value.map_err(|error| self.tables.failed(&error))
    }

    /// Where records of a stream were dropped.
    pub(crate) fn holes(&self, stream: StreamNumber) -> Result<Holes, StoreError> {
        let value = self.lookup(&keys::holes(stream))?;
        let holes = value.map(|bytes| values::decode_holes(&bytes)).transpose();
        let holes = holes.map_err(|error| self.unreadable("the gaps of a stream", error))?;
        Ok(holes.unwrap_or_default())
    }

    /// The keys of the table of lookups that begin like this.
    pub(crate) fn lookup_keys(&self, prefix: &[u8]) -> Result<Vec<Vec<u8>>, StoreError> {
        let found = self.snapshot.prefix(&self.tables.lookups, prefix);
        let keys = found.map(|row| row.key().map(|key| key.to_vec()));
        let keys: Result<_, _> = keys.collect();
        keys.map_err(|error| self.tables.failed(&error))
    }

    pub(crate) fn row(&self, key: &RowKey) -> Result<Option<Row>, StoreError> {
        let value = match (key, keys::lookup(key)) {
            (RowKey::Timer(timer), _) => {
                let (key, _) = keys::timer(timer);
                let found = self.snapshot.contains_key(&self.tables.timers, key);
                let found = found.map_err(|error| self.tables.failed(&error))?;
                return Ok(found.then(|| Row::Timer(timer.clone())));
            }
            (_, Some(key)) => self.lookup(&key)?,
            (_, None) => None,
        };
        let row = value
            .map(|bytes| values::decode_row(key, &bytes))
            .transpose();
        row.map_err(|error| self.unreadable("a row", error))
    }

    /// The head as its row says, without looking at the journal: for lists, which need only the
    /// run.
    pub(crate) fn head_row(&self, number: StreamNumber) -> Result<Option<Head>, StoreError> {
        let value = self.snapshot.get(&self.tables.heads, keys::stream(number));
        let value = value.map_err(|error| self.tables.failed(&error))?;
        let head = value.map(|bytes| values::decode_head(number, &bytes));
        head.transpose()
            .map_err(|error| self.unreadable(&format!("the head of stream {number}"), error))
    }

    /// The head. A frame that begins where the row ends, or later, is newer than the row and knows
    /// the counts.
    pub(crate) fn head(&self, number: StreamNumber) -> Result<Option<Head>, StoreError> {
        let Some(mut head) = self.head_row(number)? else {
            return Ok(None);
        };
        if let Some(last) = self.last_frame(number, head.next)? {
            let summary = Frame::decode_summary(&last.bytes);
            let (header, count) = summary.map_err(|error| self.bad_frame(number, &error))?;
            head.frame = header;
            head.next = RecordNumber(last.first.0.saturating_add(count));
        }
        Ok(Some(head))
    }

    /// The last frame that begins at `from` or later.
    fn last_frame(
        &self,
        number: StreamNumber,
        from: RecordNumber,
    ) -> Result<Option<StoredFrame>, StoreError> {
        let range = keys::frame(number, from)..=keys::frame(number, RecordNumber(u64::MAX));
        let mut found = self.snapshot.range(&self.tables.journal, range);
        found.next_back().map(|row| self.frame(row)).transpose()
    }

    /// The frame that begins at `from` or last before it.
    pub(crate) fn frame_at(
        &self,
        number: StreamNumber,
        from: RecordNumber,
    ) -> Result<Option<StoredFrame>, StoreError> {
        let range = keys::frame(number, RecordNumber(0))..=keys::frame(number, from);
        let mut found = self.snapshot.range(&self.tables.journal, range);
        found.next_back().map(|row| self.frame(row)).transpose()
    }

    /// The frames that begin within `from..=to`, in order.
    pub(crate) fn frames(
        &self,
        number: StreamNumber,
        from: RecordNumber,
        to: RecordNumber,
    ) -> impl Iterator<Item = Result<StoredFrame, StoreError>> {
        let range = keys::frame(number, from)..=keys::frame(number, to);
        // The table below panics on a range that ends before it begins.
        let rows = (from <= to).then(|| self.snapshot.range(&self.tables.journal, range));
        rows.into_iter().flatten().map(|row| self.frame(row))
    }

    fn frame(&self, row: fjall::Guard) -> Result<StoredFrame, StoreError> {
        let (key, value) = row
            .into_inner()
            .map_err(|error| self.tables.failed(&error))?;
        let first =
            keys::first_of_frame(&key).map_err(|damage| self.damaged("a frame's key", damage))?;
        Ok(StoredFrame {
            first,
            bytes: Bytes::copy_from_slice(&value),
        })
    }

    pub(crate) fn unreadable(&self, what: &str, error: Unreadable) -> StoreError {
        failure::of_value(&self.tables.place, what, error)
    }

    pub(crate) fn damaged(&self, what: &str, damage: Damaged) -> StoreError {
        self.unreadable(what, Unreadable::Damaged(damage))
    }

    pub(crate) fn bad_frame(
        &self,
        number: StreamNumber,
        error: &everstep_model::DecodeError,
    ) -> StoreError {
        let what = format!("the journal of stream {number}");
        failure::of_frame(&self.tables.place, &what, error)
    }
}
