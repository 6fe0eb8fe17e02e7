//! Reading while a batch is judged: what is staged comes before what is durable.

use std::cell::RefCell;
use std::collections::BTreeMap;

use bytes::Bytes;
use everstep_model::{Entry, Interner, NodeId, RecordNumber, StreamNumber, Timestamp};
use everstep_store::{JudgeContext, Row, RowKey, StoreError};

use super::batch::Stage;
use crate::encoding::holes::Holes;
use crate::encoding::keys;
use crate::encoding::stored_frame::StoredFrame;
use crate::encoding::values;
use crate::read::frames::begin;

impl Stage<'_> {
    /// The records from `from` on and before `end`, as of this moment of the batch.
    pub(super) fn entries(
        &self,
        stream: StreamNumber,
        from: RecordNumber,
        end: RecordNumber,
    ) -> Result<Vec<Entry>, StoreError> {
        let mut entries = Vec::new();
        if from >= end {
            return Ok(entries);
        }
        let mut interner = Interner::default();
        for frame in self.stored_frames(stream, from, end, end)? {
            frame
                .entries(from, end, &mut interner, &mut entries)
                .map_err(|error| self.view().bad_frame(stream, &error))?;
        }
        Ok(entries)
    }

    /// The frames that may hold records within `from..=to` and before `end`, staged ones included.
    pub(super) fn stored_frames(
        &self,
        stream: StreamNumber,
        from: RecordNumber,
        to: RecordNumber,
        end: RecordNumber,
    ) -> Result<Vec<StoredFrame>, StoreError> {
        let Some(last) = end
            .0
            .checked_sub(1)
            .map(|last| RecordNumber(last.min(to.0)))
        else {
            return Ok(Vec::new());
        };
        let mut frames = BTreeMap::new();
        let begin = begin(self.view(), stream, from)?;
        for frame in self.view().frames(stream, begin, last) {
            let frame = frame?;
            frames.insert(frame.first, frame.bytes);
        }
        let staged = self
            .frames
            .range((stream, RecordNumber(0))..=(stream, last));
        for ((_, first), bytes) in staged {
            match bytes {
                Some(bytes) => frames.insert(*first, Bytes::copy_from_slice(bytes)),
                None => frames.remove(first),
            };
        }
        let frames = frames.into_iter();
        Ok(frames
            .map(|(first, bytes)| StoredFrame { first, bytes })
            .collect())
    }

    pub(super) fn lookup(&self, key: &[u8]) -> Result<Option<Bytes>, StoreError> {
        if let Some(staged) = self.lookups.get(key) {
            return Ok(staged.as_deref().map(Bytes::copy_from_slice));
        }
        let value = self.view().lookup(key)?;
        Ok(value.map(|value| Bytes::copy_from_slice(&value)))
    }

    pub(super) fn holes(&self, stream: StreamNumber) -> Result<Holes, StoreError> {
        let Some(bytes) = self.lookup(&keys::holes(stream))? else {
            return Ok(Holes::default());
        };
        let holes = values::decode_holes(&bytes);
        holes.map_err(|error| self.view().unreadable("the gaps of a stream", error))
    }

    pub(super) fn row(&self, key: &RowKey) -> Result<Option<Row>, StoreError> {
        let staged = match key {
            RowKey::Timer(timer) => self.timers.get(&keys::timer(timer).0),
            _ => keys::lookup(key).and_then(|key| self.lookups.get(&key)),
        };
        match (staged, key) {
            (None, _) => self.view().row(key),
            (Some(None), _) => Ok(None),
            (Some(Some(_)), RowKey::Timer(timer)) => Ok(Some(Row::Timer(timer.clone()))),
            (Some(Some(bytes)), _) => values::decode_row(key, bytes)
                .map(Some)
                .map_err(|error| self.view().unreadable("a row", error)),
        }
    }

    pub(super) fn dedup(
        &self,
        stream: StreamNumber,
        id: &str,
    ) -> Result<Option<RecordNumber>, StoreError> {
        let Some(bytes) = self.lookup(&keys::dedup(stream, id))? else {
            return Ok(None);
        };
        let number = values::decode_number(&bytes);
        let number = number.map_err(|error| self.view().unreadable("a dedup id", error))?;
        Ok(Some(RecordNumber(number)))
    }
}

/// What a judgement may ask. A read that fails answers "no" and leaves the failure behind.
pub(super) struct Context<'s, 'a> {
    pub(super) stage: &'s Stage<'a>,
    pub(super) stream: StreamNumber,
    pub(super) failure: RefCell<Option<StoreError>>,
}

impl Context<'_, '_> {
    /// Returns the first failure of a read, if any.
    pub(super) fn check(self) -> Result<(), StoreError> {
        self.failure.into_inner().map_or(Ok(()), Err)
    }

    fn answer<T>(&self, found: Result<Option<T>, StoreError>) -> Option<T> {
        found.unwrap_or_else(|failure| {
            self.failure.replace(Some(failure));
            None
        })
    }
}

impl JudgeContext for Context<'_, '_> {
    fn now(&self) -> Timestamp {
        self.stage.now
    }

    fn is_alive(&self, node: NodeId) -> bool {
        self.stage.leases.is_alive(node, self.stage.now)
    }

    fn row(&self, key: &RowKey) -> Option<Row> {
        self.answer(self.stage.row(key))
    }

    fn dedup(&self, id: &str) -> Option<RecordNumber> {
        self.answer(self.stage.dedup(self.stream, id))
    }
}
