//! Frames as the journal stores them, and the records that were dropped from them.

use bytes::Bytes;
use everstep_model::{DecodeError, Entry, Frame, Interner, RecordNumber};
use everstep_store::encoding::{Damaged, In};

use crate::number::uncount;

/// Frames, each preceded by its length and the newest first. `first` is the first record of the
/// oldest.
#[derive(Debug)]
pub(crate) struct StoredFrames {
    pub(crate) first: RecordNumber,
    pub(crate) bytes: Bytes,
}

impl StoredFrames {
    /// Decodes the records from `from` on and before `end`.
    pub(crate) fn entries(
        &self,
        from: RecordNumber,
        end: RecordNumber,
        interner: &mut Interner,
        into: &mut Vec<Entry>,
    ) -> Result<(), DecodeError> {
        let mut first = self.first;
        for frame in self.oldest_first()? {
            for entry in Frame::decode_entries(&frame, first, interner)? {
                first = entry.number.plus(1);
                if entry.number >= from && entry.number < end {
                    into.push(entry);
                }
            }
        }
        Ok(())
    }

    fn oldest_first(&self) -> Result<impl Iterator<Item = Bytes>, DecodeError> {
        let mut frames = Vec::new();
        let mut input = In(&self.bytes);
        while !input.0.is_empty() {
            let frame = frame(&mut input).map_err(|Damaged(what)| DecodeError::Damaged(what))?;
            frames.push(self.bytes.slice_ref(frame));
        }
        Ok(frames.into_iter().rev())
    }
}

fn frame<'a>(input: &mut In<'a>) -> Result<&'a [u8], Damaged> {
    let length = input.varint()?;
    input.raw(usize::try_from(length).unwrap_or(usize::MAX))
}

/// Records that were dropped while others of their frame remain.
#[derive(Debug, Default)]
pub(crate) struct Gaps(Vec<std::ops::Range<u64>>);

impl Gaps {
    /// Bounds as the database returns them; the upper ones are excluded.
    pub(crate) fn of(lowers: Vec<i64>, uppers: Vec<i64>) -> Self {
        let bounds = lowers.into_iter().zip(uppers);
        let gaps = bounds.map(|(lower, upper)| uncount(lower)..uncount(upper));
        Self(gaps.collect())
    }

    pub(crate) fn push(&mut self, lower: i64, upper: i64) {
        self.0.push(uncount(lower)..uncount(upper));
    }

    /// Returns the end of the gap that contains a record.
    pub(crate) fn end_of(&self, record: RecordNumber) -> Option<RecordNumber> {
        let gap = self.0.iter().find(|gap| gap.contains(&record.0));
        gap.map(|gap| RecordNumber(gap.end))
    }

    pub(crate) fn leave_out(&self, entries: &mut Vec<Entry>) {
        if !self.0.is_empty() {
            entries.retain(|entry| !self.0.iter().any(|gap| gap.contains(&entry.number.0)));
        }
    }
}
