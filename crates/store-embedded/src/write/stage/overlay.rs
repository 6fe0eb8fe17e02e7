//! Reading while a batch is judged: staged data takes precedence over durable data.

use std::cell::RefCell;
use std::collections::BTreeMap;

use bytes::Bytes;
use everstep_model::{Entry, Interner, NodeId, RecordNumber, StreamNumber, Timestamp};
use everstep_store::{JudgeContext, Refusal, Row, RowKey, StoreError};

use super::batch::Stage;
use crate::encoding::keys;
use crate::encoding::stored_frame::StoredFrame;
use crate::encoding::values::{self, Unreadable};
use crate::read::frames::begin;

impl<'a> Stage<'a> {
    /// Returns the records in `from..end`, including those of earlier commits of the batch.
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
                .entries(from..end, &mut interner, &mut entries)
                .map_err(|error| self.view().bad_frame(stream, &error))?;
        }
        Ok(entries)
    }

    /// Returns the frames that may contain records within `from..=to` and before `end`, including
    /// staged ones.
    pub(super) fn stored_frames(
        &self,
        stream: StreamNumber,
        from: RecordNumber,
        to: RecordNumber,
        end: RecordNumber,
    ) -> Result<Vec<StoredFrame>, StoreError> {
        let Some(last) = end.0.checked_sub(1) else {
            return Ok(Vec::new());
        };
        let last = RecordNumber(last.min(to.0));
        let mut frames = BTreeMap::new();
        let begin = begin(self.view(), stream, from)?;
        for frame in self.view().frames(stream, begin..=last) {
            let frame = frame?;
            frames.insert(frame.first, frame.bytes);
        }
        let staged = (stream, RecordNumber(0))..=(stream, last);
        for ((_, first), bytes) in self.frames.range(staged) {
            match bytes {
                Some(bytes) => frames.insert(*first, Bytes::copy_from_slice(bytes)),
                None => frames.remove(first),
            };
        }
        let frames = frames.into_iter();
        let frames = frames.map(|(first, bytes)| StoredFrame { first, bytes });
        Ok(frames.collect())
    }

    /// Returns a decoded value of the table of lookups. Errors mention `what`.
    pub(super) fn lookup<T>(
        &self,
        key: &[u8],
        what: &str,
        decode: impl FnOnce(&[u8]) -> Result<T, Unreadable>,
    ) -> Result<Option<T>, StoreError> {
        match self.lookups.get(key) {
            Some(staged) => {
                let decoded = staged
                    .as_deref()
                    .map(|bytes| self.view().check(what, decode(bytes)));
                decoded.transpose()
            }
            None => self.view().lookup(key, what, decode),
        }
    }

    pub(super) fn row(&self, key: &RowKey) -> Result<Option<Row>, StoreError> {
        if let RowKey::Timer(timer) = key {
            return match self.timers.get(&keys::timer(timer).0) {
                Some(staged) => Ok(staged.as_ref().map(|_| Row::Timer(timer.clone()))),
                None => self.view().row(key),
            };
        }
        let lookup = keys::lookup(key).unwrap_or_default();
        self.lookup(&lookup, "a row", |bytes| values::decode_row(key, bytes))
    }

    /// Runs a judgement of a commit to `stream`. The failure of a read takes precedence over the
    /// result, which is then meaningless.
    pub(super) fn judge<T>(
        &self,
        stream: StreamNumber,
        judge: impl FnOnce(&Context<'_, 'a>) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        let context = Context {
            stage: self,
            stream,
            failure: RefCell::new(None),
        };
        let judged = judge(&context);
        match context.failure.into_inner() {
            Some(error) => Err(error.into()),
            None => judged,
        }
    }
}

/// The context of a judgement. A read that fails returns `None` and stores the failure.
pub(super) struct Context<'s, 'a> {
    stage: &'s Stage<'a>,
    stream: StreamNumber,
    failure: RefCell<Option<StoreError>>,
}

impl Context<'_, '_> {
    fn found<T>(&self, found: Result<Option<T>, StoreError>) -> Option<T> {
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
        self.found(self.stage.row(key))
    }

    fn dedup(&self, id: &str) -> Option<RecordNumber> {
        let key = keys::dedup(self.stream, id);
        let first = self.stage.lookup(&key, "a dedup id", values::decode_number);
        self.found(first).map(RecordNumber)
    }
}
